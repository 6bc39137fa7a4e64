"""Turns an Answer, grown or growing, into the three pieces of HTML that the page shows for a turn.

    Answer ─ shown ─▶ Shown(question, body, sources)

It must not know of Gradio, the index or the conversation; every text goes through ui.render_text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from html import escape

from rag.types import Answer, Claim
from ui.render_cards import card
from ui.render_text import inline, keys
from ui.scope_text import scope_text

# The spaces before a marker go, so that it hangs on the word before it.
_MARKER = re.compile(r"[ \t]*\[(\d{1,4})\]")
_PARAGRAPH = re.compile(r"\n\s*\n")
_GAP = '<span class="gap"></span>'


@dataclass(frozen=True, slots=True)
class Shown:
    """One turn as HTML; the page replaces a piece only when it changed. key: unique in the conversation."""

    key: str
    question: str
    body: str
    sources: str = ""
    busy: bool = False

    def payload(self) -> dict[str, str | bool]:
        """What goes to the page's script."""
        return asdict(self)


def shown(key: str, answer: Answer, stage: str = "") -> Shown:
    """A turn as HTML; stage: what is being done, shown until the first words come."""
    waiting = not answer.done and not answer.text
    body = _notices(answer) + (f'<p class="stage">{escape(stage)}</p>' if waiting else _said(key, answer))
    return Shown(key, question(answer.question), body, _sources(key, answer), busy=not answer.done)


def failed(key: str, asked: str, message: str) -> Shown:
    """A turn that brought no answer: one line that says why, and a button that asks again."""
    again = f'<button type="button" class="chip" data-question="{escape(asked)}">Ask again</button>'
    return Shown(key, question(asked), f'<p class="notice" role="status">{escape(message)}</p>{again}')


def question(text: str) -> str:
    """What was asked, as it was typed."""
    return f'<h2 class="question">{inline(text)}</h2>'


def _notices(answer: Answer) -> str:
    return "".join(f'<p class="notice" role="status">{escape(notice)}</p>' for notice in answer.notices)


def _said(key: str, answer: Answer) -> str:
    """The answer's sentences, or the abstention and its reason."""
    if not answer.abstained:
        words = "".join(_sentence(key, answer, text, claim) for text, claim in _sentences(answer))
        return f'<div class="said">{_PARAGRAPH.sub(_GAP, words)}</div>' if words else ""
    reason = f'<p class="reason">{inline(answer.abstain_reason)}</p>' if answer.abstain_reason else ""
    return f'<div class="said abstention"><p class="verdict">{inline(answer.text)}</p>{reason}</div>'


def _sentences(answer: Answer) -> Iterator[tuple[str, Claim | None]]:
    """The text in order, cut at its claims; what lies between claims (spaces, an unfinished sentence) has none."""
    at = 0
    for claim in answer.claims:
        start = answer.text.find(claim.text, at)
        if start < 0 or not claim.text:
            continue
        yield answer.text[at:start], None
        at = start + len(claim.text)
        yield claim.text, claim
    yield answer.text[at:], None


def _sentence(key: str, answer: Answer, text: str, claim: Claim | None) -> str:
    html = inline(text, _markers(key, answer, claim))
    if claim is None or claim.supported:
        return html
    why = f": {escape(claim.reason)}" if claim.reason else ""
    return f'<span class="unsupported">{html}</span> <span class="flag" role="note">not supported{why}</span>'


def _markers(key: str, answer: Answer, claim: Claim | None) -> Callable[[str], str]:
    """Makes the function that escapes plain text and turns each [n] that resolves into a link to its card."""

    def plain(text: str) -> str:
        html: list[str] = []
        at = 0
        for match in _MARKER.finditer(text):
            marker = _marker(key, answer, claim, int(match[1]))
            if marker:
                html += [escape(text[at : match.start()]), marker]
                at = match.end()
        return "".join([*html, escape(text[at:])])

    return plain


def _marker(key: str, answer: Answer, claim: Claim | None, number: int) -> str:
    """The link of [number]; "" when the sentence cites no such reference. data-q: the words that it rests on."""
    if claim is None or number not in claim.references:
        return ""
    reference = next((r for r in answer.references if r.number == number), None)
    if reference is None:
        return ""
    spans = [(quote.start, quote.end) for quote in claim.quotes if quote.paper_id == reference.paper.id]
    return (
        f'<sup><a class="cite" href="#{key}-r{number}" data-q="{keys(spans)}"'
        f' title="{escape(reference.paper.title)}" aria-label="Reference {number}">[{number}]</a></sup>'
    )


def _sources(key: str, answer: Answer) -> str:
    """The references by number; on an abstention the papers that came nearest; once done, who answered."""
    cited = [card(r.paper, f"{key}-r{r.number}", r.number, r.quotes) for r in answer.references]
    near = [card(paper, f"{key}-p{i}") for i, paper in enumerate(answer.nearest, 1)]
    lists = _list("References", cited) + _list("Nearest papers", near) + _scope(answer) + _searched(answer)
    return lists + (f'<p class="meta">{escape(_meta(answer))}</p>' if answer.done and answer.llm else "")


def _scope(answer: Answer) -> str:
    """Which papers it could rest on; where the question itself said so, a way to ask all of them instead."""
    # When the filter leaves none, the abstention's reason has said so.
    if not answer.done or not answer.filter or not answer.filter.papers_left:
        return ""
    again = f'<button type="button" data-question="{escape(answer.question)}" data-free>Ask all papers</button>'
    offered = again if answer.filter.from_question else ""
    return f'<p class="meta scope-line">{escape(scope_text(answer.filter))} {offered}</p>'


def _searched(answer: Answer) -> str:
    """What was looked for, when it is not what was asked: a follow-up made to stand alone."""
    return f'<p class="meta">Looked for: {inline(answer.searched)}</p>' if answer.done and answer.searched else ""


def _list(heading: str, cards: list[str]) -> str:
    return f'<h3>{heading}</h3><ul class="cards">{"".join(cards)}</ul>' if cards else ""


def _meta(answer: Answer) -> str:
    total = answer.timings_ms.get("total")
    if total is None:
        return f"Answered by {answer.llm}"
    return f"Answered by {answer.llm} in " + (f"{total:.0f} ms" if total < 1000 else f"{total / 1000:.1f} s")
