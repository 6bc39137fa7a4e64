"""Finds what a sentence should have cited: more words of the papers it cites, or the words of others that say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rag.polarity import line, meant, overlap
from rag.support import Support, check
from rag.text import searched
from rag.types import Prompt, Quote

_LEAST = 3  # meaningful words of a sentence that is looked for where it does not cite
_TRIED = 5  # sentences
# Shares of its content that words must hold which it does not cite: with their paper's title, by themselves, and beside
# the nearest sentence.
_SURE, _BARE, _LEVEL = 0.6, 0.5, 0.8


@dataclass(frozen=True, slots=True)
class Backed:
    """What a sentence rests on. corrected: whether that is not what it cites."""

    quotes: tuple[Quote, ...]
    support: Support
    corrected: bool = False


def backed(sentence: str, cited: tuple[Quote, ...], prompt: Prompt) -> Backed:
    """The sentence's quotes: those cited when they say so, else with others of their papers, else others that do.

    When nothing on offer says so, those cited, with what they do not say.
    """
    foreign = bool(prompt.language)
    titles = {paper.id: paper.title for paper in prompt.papers}

    def checked(quotes: Sequence[Quote]) -> Support:
        of = dict.fromkeys(titles[quote.paper_id] for quote in quotes)
        return check(sentence, quotes, tuple(of), foreign=foreign)

    first = checked(cited)
    if first.ok:
        return Backed(cited, first)
    said = line(searched(sentence))
    near = sorted(((overlap(said, line(searched(q.text))), -i, q) for i, q in enumerate(prompt.evidence)), reverse=True)
    for more in _more(cited, [quote for _, _, quote in near]):
        if (support := checked(cited + more)).ok:
            return Backed(cited + more, support)
    if foreign or first.contradicts or len(meant(said)) < _LEAST:
        return Backed(cited, first)
    # A sentence that is nearer by far, and does not say so, is not passed over for one that may be read so.
    nearest = [quote for share, _, quote in near if share >= max(_BARE, _LEVEL * near[0][0])][:_TRIED]
    for quotes in _others(nearest):
        support = checked(quotes)
        if support.ok and support.score >= _SURE:
            return Backed(quotes, support, corrected=True)
    return Backed(cited, first)


def _more(cited: tuple[Quote, ...], near: Sequence[Quote]) -> Iterator[tuple[Quote, ...]]:
    """One or two sentences more of the papers cited."""
    papers = {quote.paper_id for quote in cited}
    same = [quote for quote in near if quote.paper_id in papers and quote not in cited][:_TRIED]
    yield from ((quote,) for quote in same)
    yield from combinations(same[:3], 2)


def _others(near: Sequence[Quote]) -> Iterator[tuple[Quote, ...]]:
    """Single sentences, then pairs of one paper."""
    yield from ((quote,) for quote in near)
    for pair in combinations(near, 2):
        if pair[0].paper_id == pair[1].paper_id:
            yield tuple(sorted(pair, key=lambda quote: quote.start))
