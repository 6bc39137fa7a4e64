"""Turns plain text (of papers, models, people) into inert HTML: escaped, formulas fenced, quoted words marked.

    text ─ formulas ─▶ spans ─ inline ─▶ HTML          text + quote spans ─ marked ─▶ HTML with <mark>

Nothing in a text is ever live: no tag, no Markdown, no link. It must not know what a paper or an answer is.
A formula stays readable as its source inside <span class="math">; the page's script sets it when it can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import escape
from typing import NamedTuple

# Pandoc's rule for a dollar that opens or closes: no space inside, and no digit after the closing one. The
# bound keeps a stray dollar from swallowing a paragraph.
_FORMULA = re.compile(
    r"(?<![\\$])(?:\$\$(?P<display>(?:\\.|[^$\\]){1,600}?)\$\$"
    r"|\$(?=[^\s$])(?P<inline>(?:\\.|[^$\\\n]){1,400}?)(?<!\s)\$(?![\d$]))"
)
_WORDS = re.compile(r"\s[^\W\d_]{2,}")
_OPENING = "([{“‘«"
# Characters of source: a longer formula must be free to break where it can, or it leaves a phone's screen.
_LONGEST_GLUED = 30
_CLOSING = ")]}”’»,.;:!?–—"
_TEX = re.compile(r"[\\^_={}]")


class Span(NamedTuple):
    """A run of characters: start, end are offsets into the text, end exclusive."""

    start: int
    end: int


class Run(NamedTuple):
    """Spans that touch, as one: where it reaches, and the spans it came from, in order."""

    start: int
    end: int
    parts: tuple[Span, ...]


def formulas(text: str) -> tuple[Span, ...]:
    """The spans of text that are LaTeX, dollars included, in order; prices in prose are none."""
    found: list[Span] = []
    at = 0
    while match := _FORMULA.search(text, at):
        if _is_prose(match["display"] or match["inline"]):
            at = match.start() + 1
            continue
        found.append(Span(*match.span()))
        at = match.end()
    return tuple(found)


def _is_prose(body: str) -> bool:
    """Whether what stands between two dollars reads as words: "5 a day, or 30 US" of "$5 a day, or 30 US$"."""
    return _WORDS.search(body) is not None and _TEX.search(body) is None


def inline(text: str, plain: Callable[[str], str] = escape) -> str:
    """The HTML of a text; `plain` turns what lies between the formulas into HTML and must escape it."""
    return _between(text, Span(0, len(text)), formulas(text), plain)


def marked(text: str, quotes: Iterable[tuple[int, int]]) -> str:
    """The HTML of a text with <mark> around the quoted spans.

    Spans that overlap or touch share one mark, which names them all in data-q ("3-17 10-40"); a span that
    reaches beyond the text is cut. A formula that a quote cuts in two stays source, so that no word moves.
    """
    math = formulas(text)
    html: list[str] = []
    at = 0
    for run in merged(quotes, len(text)):
        html.append(_between(text, Span(at, run.start), math))
        words = _between(text, Span(run.start, run.end), math)
        html.append(f'<mark data-q="{keys(run.parts)}">{words}</mark>')
        at = run.end
    html.append(_between(text, Span(at, len(text)), math))
    return "".join(html)


def merged(spans: Iterable[tuple[int, int]], length: int) -> Iterator[Run]:
    """Spans in order, cut to 0..length, those that overlap or touch joined; empty ones are gone."""
    inside = sorted({Span(max(0, start), min(end, length)) for start, end in spans})
    runs: list[Run] = []
    for span in inside:
        if span.start >= span.end:
            continue
        if runs and span.start <= runs[-1].end:
            last = runs.pop()
            runs.append(Run(last.start, max(last.end, span.end), (*last.parts, span)))
        else:
            runs.append(Run(span.start, span.end, (span,)))
    return iter(runs)


def keys(spans: Iterable[tuple[int, int]]) -> str:
    """What joins a marker to the words it rests on, for an HTML attribute: "3-17 10-40"."""
    return " ".join(f"{start}-{end}" for start, end in spans)


def _between(text: str, span: Span, math: Iterable[Span], plain: Callable[[str], str] = escape) -> str:
    """The HTML of text[span]; only the formulas that lie wholly inside it are fenced."""
    html: list[str] = []
    at = span.start
    for formula in math:
        if formula.start < at or formula.end > span.end:
            continue
        before, after = text[at : formula.start], text[formula.end : span.end]
        opening = before[len(before.rstrip(_OPENING)) :]
        closing = after[: len(after) - len(after.lstrip(_CLOSING))]
        html.append(plain(before.removesuffix(opening)))
        html.append(_fenced(opening, text[formula.start : formula.end], closing))
        at = formula.end + len(closing)
    html.append(plain(text[at : span.end]))
    return "".join(html)


def _fenced(opening: str, source: str, closing: str) -> str:
    """A formula for the page's script to set: "$x$" shown inline, "$$x$$" on its own line.

    opening, closing: what touches it, from which no line break may part a short one.
    """
    kind = "math display" if source.startswith("$$") else "math"
    html = f'{escape(opening)}<span class="{kind}">{escape(source)}</span>{escape(closing)}'
    touched = (opening or closing) and len(source) <= _LONGEST_GLUED
    return f'<span class="glued">{html}</span>' if touched else html
