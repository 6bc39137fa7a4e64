"""Finds every paper that a question such as "which papers …?" asks for, instead of the best few.

Papers are read in parts, in the order in which retrieval found them, until a whole part holds next to none that fits.
Whether a paper fits is told from three signs: the cosine of its nearest passage, how much of what the question names
stands in it, and how well its best sentence matches the question's words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp

from rag.question import is_empty
from rag.relevance import Relevance, Sentence, Word
from rag.text import search_words
from rag.types import Paper
from vectorstore.passage import Hit
from vectorstore.stem import stem

DEPTH = 300  # papers that are looked at
LISTED = 30  # papers that an answer names at most
_PART = 60
_FEW = 3  # of a part; when fewer fit, the rest will not
_FITS, _NEAR, _CONCEIVABLE = 0.4, 0.2, 0.005
_EVIDENCE = 2  # sentences of a paper
_WITHIN, _SOME = 0.25, 5  # of the best sentence's score, and how many papers, where none fits by its words

# Words that say what a paper does with its topic, not what the topic is.
_ASIDE = frozenset(
    map(
        stem,
        "address apply ask concern consider deal focus handle introduce many make much present propose use".split(),
    )
)

# Words that speak of the collection itself.
_COLLECTION = frozenset(
    map(stem, "available collection corpus database dataset hold index library there total".split())
)

Found = Sequence[tuple[Paper, Hit]]
_Scored = tuple[float, tuple[Paper, Hit], tuple[Sentence, ...]]  # how likely the paper fits, 0..1


@dataclass(frozen=True, slots=True)
class Weights:
    """Of a logistic regression on 15 topics whose papers were looked up by hand (eval/LOG.md)."""

    constant: float
    cosine: float
    named: float
    matched: float


_WEIGHTS = {spec: Weights(-15.3, 8.5, 10.9, 6.4) for spec in ("minilm", "minilm:fp32")}
_WORDS_ONLY = Weights(-8.6, 0.0, 10.3, 0.0)  # cosines of other embedders lie elsewhere


@dataclass(frozen=True, slots=True)
class Survey:
    """papers: those to name, likeliest first, with the hits that found them: those that fit, or else those that come
    near. sentences: the best of each, in reading order. fit, near: how many do, 0 and up. whole: whether the reading
    came to an end by itself. topic: whether they were to be on something, and are not all that there are. conceivable:
    whether any paper that was read could fit at all.
    """

    papers: tuple[tuple[Paper, Hit], ...]
    sentences: tuple[Sentence, ...]
    fit: int
    near: int
    whole: bool
    topic: bool = True
    conceivable: bool = True


def has_topic(question: str) -> bool:
    """Whether a question asks for papers on something, and not for all there are."""
    aside = _ASIDE | _COLLECTION
    return any(not is_empty(word) and stem(word) not in aside for word in search_words(question))


def all_of(found: Found, rank: Callable[[Found], Relevance], count: int) -> Survey:
    """All `count` papers there are, by those found."""
    named = tuple(found[:LISTED])
    by_paper = groupby(rank(named).sentences, lambda s: s.quote.paper_id)
    return Survey(named, tuple(s for _, own in by_paper for s in _best(tuple(own))), count, 0, whole=True, topic=False)


def nearest_of(found: Found, relevance: Relevance) -> Survey:
    """Where none fits by its words: the papers whose best sentence answers about as well as the best of all."""
    best = {i: max(s.score for s in own) for i, own in groupby(relevance.sentences, lambda s: s.quote.paper_id)}
    least = max(best.values(), default=0.0) - _WITHIN
    named = tuple(pair for pair in found if best.get(pair[0].id, least - 1) >= least)[:_SOME]
    kept = {paper.id for paper, _ in named}
    by_paper = groupby((s for s in relevance.sentences if s.quote.paper_id in kept), lambda s: s.quote.paper_id)
    return Survey(named, tuple(s for _, own in by_paper for s in _best(tuple(own))), 0, len(named), whole=True)


def survey(found: Found, rank: Callable[[Found], Relevance], embedder: str) -> Survey:
    """What fits of the papers found, given best first. rank: relevance of papers' sentences, as Ranker tells it."""
    weights = _WEIGHTS.get(embedder, _WORDS_ONLY)
    read: list[_Scored] = []
    whole = len(found) < DEPTH
    for start in range(0, len(found), _PART):
        part = found[start : start + _PART]
        read += (scored := _scored(part, rank(part), weights))
        if sum(row[0] >= _FITS for row in scored) < _FEW:
            whole = True
            break
    likely = sorted((row for row in read if row[0] >= _NEAR), key=lambda row: -row[0])
    fitting = [row for row in likely if row[0] >= _FITS]
    named = (fitting or likely)[:LISTED]
    sentences = tuple(s for row in named for s in _best(row[2]))
    conceivable = any(row[0] >= _CONCEIVABLE for row in read)
    return Survey(
        tuple(row[1] for row in named),
        sentences,
        len(fitting),
        len(likely) - len(fitting),
        whole,
        conceivable=conceivable,
    )


def lead_of(found: Survey) -> str:
    """How many papers fit, as a sentence; it speaks of the collection, and so rests on no one paper."""
    near = f"{found.near} {'come' if found.near > 1 else 'comes'} near"
    cut = f"; {LISTED} are named here" if (found.fit or found.near) > LISTED else ""
    if not found.topic:
        return f"{found.fit} paper{'' if found.fit == 1 else 's'} in all{cut}."
    if not found.fit:
        return f"No paper fits for certain, going by the abstracts; {near}{cut}."
    least = "" if found.whole else "At least "
    fit = (
        f"{found.fit} papers fit, going by their abstracts" if found.fit > 1 else "1 paper fits, going by its abstract"
    )
    return f"{least}{fit}{'; ' + near.replace(' ', ' more ', 1) if found.near else ''}{cut}."


def _scored(part: Found, relevance: Relevance, weights: Weights) -> list[_Scored]:
    by_paper = {i: tuple(s) for i, s in groupby(relevance.sentences, lambda s: s.quote.paper_id)}
    places = [i for i, word in enumerate(relevance.words) if stem(word.text) not in _ASIDE]
    places = places or list(range(len(relevance.words)))
    return [
        (_fit(pair, by_paper[pair[0].id], relevance.words, places, weights), pair, by_paper[pair[0].id])
        for pair in part
        if pair[0].id in by_paper
    ]


def _fit(
    pair: tuple[Paper, Hit],
    sentences: Sequence[Sentence],
    words: Sequence[Word],
    places: Sequence[int],
    weights: Weights,
) -> float:
    """How likely it is that the paper fits, 0..1."""
    paper, hit = pair
    total = sum(words[i].weight for i in places)
    if total <= 0:
        return 0.0
    stems = set(map(stem, search_words(f"{paper.title} {paper.abstract}")))
    named = sum(words[i].weight for i in places if stem(words[i].text) in stems) / total
    matched = max(sum(words[i].weight * s.matches[i] for i in places) / total for s in sentences)
    return 1 / (
        1 + exp(-(weights.constant + weights.cosine * hit.dense + weights.named * named + weights.matched * matched))
    )


def _best(sentences: Sequence[Sentence]) -> list[Sentence]:
    best = sorted(sentences, key=lambda s: -s.score)[:_EVIDENCE]
    return sorted(best, key=lambda s: s.quote.start)
