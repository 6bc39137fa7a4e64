"""Answers and hits as a terminal shows them: plain text, wrapped to its width."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable

from rag.types import Answer, Paper, Prompt, Reference, Scope
from ui.scope_text import scope_text

_WIDEST = 100  # characters; longer lines are hard to read


def answer_text(answer: Answer) -> str:
    """The whole answer: what is said, then references or nearest papers, then notices."""
    return "\n".join([*_wrapped(answer.text), *tail_text(answer)])


def tail_text(answer: Answer) -> list[str]:
    """What stands under an answer's text, as lines: references or nearest papers, where they could be from, notices."""
    lines: list[str] = []
    if answer.abstained:
        lines += [*_wrapped(answer.abstain_reason), *_nearest(answer.nearest)]
    else:
        lines += [
            line
            for claim in answer.claims
            if not claim.supported
            for line in _wrapped(f"Not supported: {claim.text} ({claim.reason})")
        ]
        lines += ["", *(line for reference in answer.references for line in _reference(reference))]
    # When the filter leaves none, the abstention's reason has said so.
    if answer.filter and answer.filter.papers_left:
        lines += ["", *_wrapped(scope_text(answer.filter))]
    if answer.searched:
        lines += [*([] if answer.filter else [""]), *_wrapped(f"Looked for: {answer.searched}")]
    notes = [line for notice in answer.notices for line in _wrapped(f"Note: {notice}")]
    return [*lines, "", *notes] if notes else lines


def hits_text(prompt: Prompt, scope: Scope | None = None) -> str:
    """One paper a paragraph: place, title, scores, and the passage that was found. scope: what a filter left."""
    lines = [*_wrapped(scope_text(scope)), *([""] if prompt.hits else [])] if scope else []
    for place, (hit, paper) in enumerate(zip(prompt.hits, prompt.papers, strict=True), 1):
        lines += _wrapped(f"{place}. {paper.title}", indent="   ")
        lines += _wrapped(f"   {_tail(paper)}", indent="   ")
        passage = textwrap.shorten(hit.passage.text, 200, placeholder=" …")
        scores = f"{hit.score:.2f} (cosine {hit.dense:.2f}, BM25 {hit.lexical:.1f})"
        lines += _wrapped(f"   {scores}  {passage}", indent="   ")
    return "\n".join(lines) or "no papers"


def _reference(reference: Reference) -> list[str]:
    number = f"[{reference.number}] "
    indent = " " * len(number)
    return [
        *_wrapped(f"{number}{reference.paper.title}", indent),
        *_wrapped(f"{indent}{_tail(reference.paper)}", indent),
    ]


def _nearest(papers: Iterable[Paper]) -> list[str]:
    lines = [
        line for paper in papers for line in [*_wrapped(f"- {paper.title}", "  "), *_wrapped(f"  {_tail(paper)}", "  ")]
    ]
    return ["", "Nearest papers:", *lines] if lines else []


def _tail(paper: Paper) -> str:
    people = ", ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
    when = " ".join(filter(None, (paper.venue, str(paper.year or ""))))
    label = "untitled: label from the abstract" if paper.untitled else ""
    return " · ".join(filter(None, (label, people, when, paper.url or paper.id)))


def _wrapped(text: str, indent: str = "") -> list[str]:
    width = min(_WIDEST, shutil.get_terminal_size().columns)
    lines: list[str] = []
    for part in text.split("\n"):
        wrapped = textwrap.wrap(part, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        lines += wrapped or [""]
    return lines
