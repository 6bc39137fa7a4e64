"""What the page's tests share: a scripted assistant, the page served on a free port, a Chromium that watches itself."""

from __future__ import annotations

import os
import re
import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from rag.errors import BackendError
from rag.retrieve import NO_FILTER
from rag.types import Answer, Claim, Paper, Quote, Reference, Scope, Turn
from ui.page import build_page, launch_options
from vectorstore.filter import Filter

CHROMIUM = os.environ.get("FOOTNOTE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
# No flag that keeps it from the network: that nothing but the page's own server is asked is what the tests prove.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()

HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=2</script>[a](javascript:window.pwned=3)'
REMOTE = "![pixel](https://evil.example/p.png) <a href='https://evil.example'>x</a> {{7*7}} ${7*7}"

PAPERS = (
    Paper(
        "wisp",
        "Wisp: pruning by differences",
        "Pruning makes models small. We prune by $\\ell_2$ differences and keep 97% of accuracy."
        " It costs $5 a day, or 9$.",
        ("Emmy Noether", "Ada Lovelace", "Alan Turing", "Kurt Gödel"),
        2026,
        "NeurIPS",
        "https://papers.example/wisp?a=1&b=2",
    ),
    Paper(
        "mono",
        "Is monoculture real?",
        "Models often agree. Monoculture disappears when difficulty is included.",
        year=2025,
    ),
    Paper("sign", "the sign code of neurons", "Every neuron has a sign. The sign code decides.", untitled=True),
    Paper(
        "evil",
        f"Title {HOSTILE}",
        f"First {HOSTILE} here. Then {REMOTE} end.",
        (HOSTILE,),
        url="javascript:window.pwned=4",
    ),
)

UNSUPPORTED = "the number 7 does not stand in what it cites"


def sentence(paper: Paper, index: int) -> Quote:
    """One sentence of an abstract as a quote."""
    spans = [match.span() for match in re.finditer(r"\S.*?[.](?= |$)", paper.abstract)]
    start, end = spans[index]
    return Quote(paper.id, paper.abstract[start:end], start, end)


class Scripted:
    """An Answerer whose answers are written down: it quotes the papers whose ids stand in the question."""

    llm, embedder, index = "quote", "scripted", "nowhere"
    stated: frozenset[str] = frozenset()
    limits = (NO_FILTER, True)

    def __init__(self, papers: Sequence[Paper] = PAPERS) -> None:
        self._papers = tuple(papers)
        self.asked: list[tuple[str, tuple[Turn, ...]]] = []
        self.go_on = threading.Event()
        self.closed = threading.Event()

    def paper_count(self) -> int:
        return len(self._papers)

    def papers(self, limit: int = 50, offset: int = 0) -> tuple[Paper, ...]:
        return self._papers[offset : offset + limit]

    def scope(self, only: Filter) -> Scope | None:
        return Scope(only, 2) if only else None

    def stream(
        self, question: str, history: Sequence[Turn] = (), only: Filter = NO_FILTER, *, constraints: bool = True
    ) -> Iterator[Answer]:
        self.limits = (only, constraints)
        self.asked.append((question, tuple(history)))
        if "fails" in question:
            raise BackendError("the model at http://localhost:1 does not answer; start it or use --llm quote")
        if "breaks" in question:
            raise RuntimeError("a bug")
        cited = [paper for paper in self._papers if paper.id in question]
        if not cited:
            reason = f"No paper speaks of {question}"
            yield Answer(
                question, "The abstracts do not say.", abstained=True, abstain_reason=reason, nearest=self._papers[:2]
            )
            return
        yield from self._written(question, history, cited)

    def _written(self, question: str, history: Sequence[Turn], cited: Sequence[Paper]) -> Iterator[Answer]:
        known = list(dict.fromkeys(i for turn in history for i in turn.paper_ids))
        claims: list[Claim] = []
        references: dict[int, Reference] = {}
        try:
            for paper in cited:
                known += [paper.id] if paper.id not in known else []
                number, quote = known.index(paper.id) + 1, sentence(paper, 1)
                wrong = UNSUPPORTED if paper.id == "sign" else ""
                claims.append(Claim(f"{quote.text} [{number}]", (number,), (quote,), not wrong, wrong))
                references[number] = Reference(number, paper, (quote,))
                text = " ".join(claim.text for claim in claims)
                growing = Answer(
                    question, text, tuple(claims), tuple(references[n] for n in sorted(references)), done=False
                )
                yield growing
                if "slowly" in question:
                    self.go_on.wait(20)
        finally:
            self.closed.set()
        notices = ("A calm remark.",) if "remark" in question else ()
        yield replace(growing, done=True, llm=self.llm, notices=notices, timings_ms={"total": 1234.0})


def free_port() -> int:
    """A port that nothing listens on; another process may still be quicker."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(assistant: Scripted) -> Iterator[str]:
    """The page's URL."""
    page = build_page(assistant)
    for attempt in range(5):
        try:
            _, url, _ = page.launch(server_name="127.0.0.1", server_port=free_port(), **launch_options())
            break
        except OSError:
            if attempt == 4:
                raise
    try:
        yield url
    finally:
        page.close(verbose=False)


def need_chromium() -> None:
    """Where tests must not be missed (CI), a missing Chromium fails them; elsewhere it skips them."""
    if CHROMIUM:
        return
    if os.environ.get("CI"):
        pytest.fail("no Chromium for the page's tests: apt-get install chromium, or set FOOTNOTE_CHROMIUM")
    pytest.skip("no Chromium here; set FOOTNOTE_CHROMIUM to one")


class Visitor:
    """One browser window; it notes whatever it asks of the network, and all that no page may do."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self._context = browser.new_context(**context)
        self.page = self._context.new_page()
        self.asked: list[str] = []
        self.wrong: list[str] = []
        self._context.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("popup", lambda popup: self.wrong.append(f"popup {popup.url}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"script error {error}"))
        self.page.on("console", self._console)

    def _console(self, message: Any) -> None:
        # The policy speaks up when it stops something; Gradio's errors speak of our bugs.
        if message.type == "error":
            self.wrong.append(f"console {message.text}")

    def check(self) -> None:
        """Every request went to this machine, and nothing that came from a text has run."""
        outside = [url for url in self.asked if not re.match(r"(http://127\.0\.0\.1:\d+/|data:|blob:)", url)]
        pwned = self.page.evaluate("window.pwned")
        self._context.close()
        assert (outside, self.wrong, pwned) == ([], [], None)


Visit = Callable[..., Any]
