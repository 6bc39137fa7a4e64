"""Turns a paper into a card that opens: title, authors, year, venue, link; inside, the abstract with the quoted words.

It must not know of answers, conversations or Gradio.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from urllib.parse import quote, urlsplit

from rag.types import Paper, Quote
from ui.render_text import inline, marked

NAMED_AUTHORS = 3
_UNTITLED = '<span class="untitled">untitled: label from the abstract</span>'


def card(paper: Paper, card_id: str, number: int | None = None, quotes: Iterable[Quote] = ()) -> str:
    """One <li>; card_id: unique on the page; number: the [n] it answers to, None when nothing cites it."""
    sign = "" if number is None else f'<span class="number">{number}</span>'
    spans = [(q.start, q.end) for q in quotes if q.paper_id == paper.id]
    return (
        f'<li class="card" id="{escape(card_id)}"><details><summary>{sign}<span class="head">'
        f'<span class="title">{inline(paper.title)}</span>{_small(paper)}</span></summary>'
        f'<div class="abstract" tabindex="-1">{marked(paper.abstract, spans)}</div></details>{link(paper)}</li>'
    )


def _small(paper: Paper) -> str:
    """The line below the title; nothing when nothing is known."""
    known = [escape(byline(paper))] if byline(paper) else []
    known += [_UNTITLED] if paper.untitled else []
    return f'<span class="by">{" · ".join(known)}</span>' if known else ""


def byline(paper: Paper) -> str:
    """ "Ada Lovelace, Alan Turing, Grace Hopper et al. · 2025 · NeurIPS", without what is not known."""
    names = ", ".join(paper.authors[:NAMED_AUTHORS])
    names += " et al." if len(paper.authors) > NAMED_AUTHORS else ""
    year = "" if paper.year is None else str(paper.year)
    return " · ".join(part for part in (names, year, paper.venue) if part)


def link(paper: Paper) -> str:
    """A link out to the paper, or nothing; it opens beside the conversation and tells the host nothing of it."""
    url = address(paper)
    if not url:
        return ""
    host = escape((urlsplit(url).hostname or "").removeprefix("www."))
    return (
        f'<a class="out" href="{escape(url)}" target="_blank" rel="noopener noreferrer"'
        f' aria-label="Open the paper at {host}">{host}</a>'
    )


def address(paper: Paper) -> str:
    """The paper's address on the web when it is http or https, else its DOI's, else ""."""
    try:
        parts = urlsplit(paper.url.strip())
        if parts.scheme.lower() in {"http", "https"} and parts.hostname:
            return paper.url.strip()
    except ValueError:
        pass
    return f"https://doi.org/{quote(paper.doi.strip())}" if paper.doi.strip() else ""
