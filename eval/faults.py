"""Plays every way in which a chat model's server can fail to the real client, and looks at what is answered.

FAULTS × SCHEDULES ─▶ served over HTTP ─▶ Assistant.ask ─▶ Outcome: usable? who answered? how long did it take?
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter

from eval.llm_server import Behaviour, always, cut, echo, endless, events, hang_up, say, served, silent, status, then
from rag.assistant import Assistant
from rag.limits import Limits
from rag.llm import make_llm
from rag.types import Answer

_HTML = "<html><body>It works!</body></html>"
_PIECE = '{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, '

# name → how it fails; "refused" alone is no server's doing, but that none is there.
FAULTS: Mapping[str, Behaviour] = {
    "refused connection": hang_up,
    "connection lost before a word": hang_up,
    "wrong key (401)": status(401),
    "key may not (403)": status(403),
    "no such model (404)": status(404),
    "question too long (400)": status(400),
    "too many questions (429)": status(429, retry_after="0.2"),
    "server error (500)": status(500),
    "overloaded (503)": status(503),
    "slow first word": silent(3600),
    "slow words": endless(pause=0.3),
    "connection lost in mid-answer": cut(),
    "stream ends in mid-sentence": cut(cleanly=True),
    "malformed stream": events("{not json", "[DONE]"),
    "stream of something else": events('{"hello": ["world"]}', "[DONE]"),
    "error in mid-stream": events(
        _PIECE + '"delta": {"content": "It is "}}]}', '{"error": {"message": "out of memory", "type": "server_error"}}'
    ),
    "a web page": status(200, _HTML, content_type="text/html"),
    "empty answer": say(),
    "endless answer": endless(),
    "cut off at its limit": say("The papers say that", ending="length"),
    "refusal": say("I'm sorry, but I can't help with that request."),
    "content filter": say("The ", ending="content_filter"),
    "no markers": say("Bananas are grown in many warm countries. They are yellow."),
    "markers only": say("[1][2] [3]"),
    "invented markers": say("Bananas are yellow [77]. They are sweet [0]."),
    "another language": say("Die Banane ist eine gelbe Frucht [1]."),
    "thoughts only": say("<think>Let me see what the user may want"),
}
SCHEDULES = ("permanent", "transient", "intermittent")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question. seconds: until the answer was whole. problem: why it is not usable, "" when it is."""

    fault: str
    schedule: str
    answer: Answer | None
    seconds: float
    problem: str

    @property
    def by(self) -> str:
        """Who answered."""
        if self.answer is None or self.problem:
            return "nobody"
        if self.answer.abstained:
            return "abstained"
        return "quote" if any("own sentences" in notice for notice in self.answer.notices) else "model"


def play(
    index: str | Path,
    questions: Sequence[str],
    names: Sequence[str],
    schedules: Sequence[str],
    seconds: float,
    seed: int,
) -> Iterator[Outcome]:
    """The outcome of each question under each fault and schedule. seconds: that the LLM may take for an answer.

    transient: the first two requests fail. intermittent: each fails with a chance of one half, by the seed.
    """
    for name in names:
        for schedule in schedules:
            with _server(name, schedule, seed) as url:
                llm = make_llm(f"openai:any@{url}", Limits(seconds, tokens=120))
                with Assistant.open(index, llm) as bot:
                    for question in questions:
                        yield _outcome(name, schedule, lambda asked=question: bot.ask(asked))  # type: ignore[misc]


def answered(index: str | Path, questions: Iterable[str]) -> Iterator[str]:
    """Those of the questions for whose answer a model would be called at all."""
    with Assistant.open(index, "quote") as bot:
        yield from (question for question in questions if not bot.ask(question).abstained)


def problem_with(answer: Answer) -> str:
    """Why an answer is not usable, "" when it is: whole, saying something, each quote and reference real."""
    papers = {paper.id: paper for paper in (*(ref.paper for ref in answer.references), *answer.nearest)}
    quotes = [quote for claim in answer.claims for quote in claim.quotes]
    if not answer.done or not answer.text.strip():
        return "it says nothing"
    if not answer.abstained and not any(claim.supported for claim in answer.claims):
        return "nothing in it is supported"
    if any(papers[q.paper_id].abstract[q.start : q.end] != q.text for q in quotes):
        return "a quote is not in its abstract"
    shown = {hit.passage.paper_id for hit in answer.hits}
    return "" if {ref.paper.id for ref in answer.references} <= shown else "a reference is no paper that was found"


def _outcome(name: str, schedule: str, ask: Callable[[], Answer]) -> Outcome:
    began = perf_counter()
    try:
        answer = ask()
    except Exception as error:  # noqa: BLE001 - an answer always comes; whatever else does is what is looked for
        return Outcome(name, schedule, None, perf_counter() - began, f"{type(error).__name__}: {error}")
    return Outcome(name, schedule, answer, perf_counter() - began, problem_with(answer))


@contextmanager
def _server(name: str, schedule: str, seed: int) -> Iterator[str]:
    """Its address."""
    if name == "refused connection" and schedule == "permanent":
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # nobody listens there, and nobody else can
            yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        return
    with served(_plan(FAULTS[name], schedule, seed)) as (url, _):
        yield url


def _plan(fault: Behaviour, schedule: str, seed: int) -> Iterator[Behaviour]:
    if schedule == "permanent":
        return always(fault)
    if schedule == "transient":
        return then([fault, fault], echo())
    chance = Random(seed)  # noqa: S311 - a plan, no secret
    return (fault if chance.random() < 0.5 else echo() for _ in iter(int, 1))
