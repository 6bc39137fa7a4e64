"""Tells how well each sentence of the papers found answers to the question, and what in the question finds no match.

Late interaction (Khattab & Zaharia 2020, arXiv:2004.12832) over the embedder's own tokens: each word of the question
that carries meaning looks for its nearest token in a sentence read in its context, weighted by how rare the word is.
An embedder that shows no tokens is asked for whole sentences instead. Nothing is known here of answers or LLMs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import Protocol, runtime_checkable

import numpy as np

from rag.embed import Embedder, TokenEmbedder, TokenVectors, cores
from rag.followup import Standalone
from rag.question import asks_for_number, content_words, holds_number
from rag.sentences import Span, sentence_spans
from rag.split import split
from rag.text import searched, words
from rag.types import Paper, Quote
from vectorstore.passage import Hit, Vector

# Found on questions about 400 abstracts of machine learning, five-fold by paper (eval/LOG.md).
_PAPER, _NUMBER, _OPENING = 0.5, 0.1, 0.06
_UNKNOWN = 0.5  # of the weight of a word that stands nowhere
_CONTEXT = 0.3  # of the weight of a word that a follow-up leaves unsaid
_CARRIED = 0.4  # of a retrieval score that a paper of the last answer gains when the question leans on it


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of the question. weight: inverse document frequency in the index, 0 and up."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a paper that was found.

    score: relevance to the question, comparable within one question. matches: for each word of the question, the
    cosine of its nearest token here (−1..1). matched: their mean, by the words' weights; comparable between questions.
    """

    quote: Quote
    score: float
    matches: tuple[float, ...]
    matched: float


@dataclass(frozen=True, slots=True)
class Relevance:
    """The question's words, and the sentences of the papers found: papers best first, sentences in reading order.

    odds: the log-odds that any of the sentences answers; None from an embedder that was not trained to tell.
    nearest: the cosine (−1..1) of the question with the nearest passage. passages: how many there are in the index.
    """

    words: tuple[Word, ...]
    sentences: tuple[Sentence, ...]
    odds: float | None = None
    nearest: float = 0.0
    passages: int = 0


@dataclass(frozen=True, slots=True)
class _Question:
    words: tuple[Word, ...]
    vectors: tuple[Vector, ...]  # of each word: (tokens, dim)
    wants_number: bool

    def matches(self, sentence: Vector) -> tuple[float, ...]:
        """For each word, the mean over its tokens of the cosine of the nearest of the sentence's: (tokens, dim)."""
        if not self.words or not len(sentence):
            return (0.0,) * len(self.words)
        nearest = (np.concatenate(self.vectors) @ sentence.T).max(axis=1)
        lengths = np.array([len(vectors) for vectors in self.vectors])
        starts = np.cumsum(lengths) - lengths
        return tuple((np.add.reduceat(nearest, starts) / lengths).tolist())


@dataclass(frozen=True, slots=True)
class _Passage:
    sentences: tuple[Span, ...]  # in the abstract
    vectors: tuple[Vector, ...]  # of each sentence: (tokens, dim)


@runtime_checkable
class Odds(Protocol):
    """What can tell how likely it is that a question is answered."""

    def odds(self, matched: Sequence[float]) -> float:
        """The log-odds that any of the sentences answers; matched: of each, as a Sentence has it."""


@dataclass(slots=True)
class Ranker:
    """Scores sentences. document_frequency: word → in how many passages it stands; passages: how many there are."""

    embedder: Embedder
    document_frequency: Callable[[str], int]
    passages: int
    _cached: Callable[[str, str], tuple[_Passage, ...]] = field(init=False)
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        # The papers of one conversation come up again and again; a paper's tokens take about 0.4 MB.
        self._cached = lru_cache(maxsize=256)(self._read)
        # One paper a core; an embedder that shows no tokens may not bear being asked by several threads.
        self._threads = ThreadPoolExecutor(cores() if isinstance(self.embedder, TokenEmbedder) else 1, "rank")

    def rank(self, asked: Standalone, papers: Sequence[tuple[Paper, Hit]]) -> Relevance:
        """Relevance of every sentence of the papers, each given with the hit that found it."""
        question = self._question(asked)
        sentences = tuple(
            sentence
            for (paper, hit), passages in zip(papers, self._passages([paper for paper, _ in papers]), strict=True)
            for sentence in _sentences(question, paper, passages, hit, _CARRIED * (paper.id in asked.papers))
        )
        odds = self.embedder.odds([s.matched for s in sentences]) if isinstance(self.embedder, Odds) else None
        nearest = max((hit.dense for _, hit in papers), default=0.0)
        return Relevance(question.words, sentences, odds, nearest, self.passages)

    def _passages(self, papers: Sequence[Paper]) -> Iterable[tuple[_Passage, ...]]:
        # A title that was taken from the abstract itself is no context.
        return self._threads.map(lambda p: self._cached("" if p.untitled else p.title, p.abstract), papers)

    def _question(self, asked: Standalone) -> _Question:
        own = {w: Word(w, self._weight(w)) for w in dict.fromkeys(content_words(asked.question))}
        unsaid = [w for w in dict.fromkeys(content_words(asked.context)) if w not in own] if asked.context else []
        found = own | {w: Word(w, _CONTEXT * self._weight(w)) for w in unsaid}
        text = searched(asked.whole)
        if isinstance(self.embedder, TokenEmbedder):
            tokens = self.embedder.embed_tokens([text])[0]
            vectors = {word: tokens.vectors[rows] for word, rows in word_rows(text, found, tokens.spans).items()}
        else:
            vectors = dict.fromkeys(found, self.embedder.embed_query(text)[None, :])
        words_kept = tuple(found[w] for w in found if w in vectors)
        return _Question(words_kept, tuple(vectors[word.text] for word in words_kept), asks_for_number(asked.question))

    def _weight(self, word: str) -> float:
        return idf(self.document_frequency(word), self.passages)

    def _read(self, title: str, abstract: str) -> tuple[_Passage, ...]:
        parts = [_spans_of(p.start, p.text) for p in split(Paper("", "", abstract, untitled=True))]
        return tuple(self._read_part(title, abstract, spans) for spans in parts)

    def _read_part(self, title: str, abstract: str, spans: tuple[Span, ...]) -> _Passage:
        texts = [searched(abstract[start:end]) for start, end in spans]
        if not isinstance(self.embedder, TokenEmbedder):
            return _Passage(spans, tuple(v[None, :] for v in self.embedder.embed_documents(texts)))
        text, places = joined(searched(title), texts)
        tokens = self.embedder.embed_tokens([text])[0]
        return _Passage(spans, tuple(_inside(tokens, place) for place in places))


def _sentences(
    question: _Question, paper: Paper, passages: Sequence[_Passage], hit: Hit, carried: float
) -> Iterator[Sentence]:
    weights = [word.weight for word in question.words]
    for passage in passages:
        for (start, end), vectors in zip(passage.sentences, passage.vectors, strict=True):
            quote = Quote(paper.id, paper.abstract[start:end], start, end)
            matches = question.matches(vectors)
            matched = _mean(matches, weights)
            numbered = question.wants_number and holds_number(quote.text)
            opening = start == 0  # mostly background
            score = matched + _PAPER * (hit.score + carried) + _NUMBER * numbered - _OPENING * opening
            yield Sentence(quote, score, matches, matched)


def _spans_of(start: int, text: str) -> tuple[Span, ...]:
    """The sentences of a passage that begins at `start`, as offsets into its abstract."""
    return tuple((start + a, start + b) for a, b in sentence_spans(text))


def joined(title: str, texts: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """A passage as it is read: its title and sentences, and where each sentence lies in that."""
    text, places = f"{title}. " if title else "", []
    for sentence in texts:
        places.append((len(text), len(text) + len(sentence)))
        text += sentence + " "
    return text, tuple(places)


def _inside(tokens: TokenVectors, place: Span) -> Vector:
    return tokens.vectors[_rows(tokens.spans, place)]


def _rows(spans: Sequence[Span], place: Span) -> list[int]:
    return [i for i, (start, end) in enumerate(spans) if end > start and place[0] <= start < place[1]]


def word_rows(text: str, wanted: Collection[str], spans: Sequence[Span]) -> dict[str, list[int]]:
    """Of each wanted word that stands in searched text, the tokens (by their spans) that it consists of there."""
    found: dict[str, list[int]] = {}
    for chunk in re.finditer(r"\S+", text):
        for word in words(chunk.group()):
            if word in wanted and word not in found:
                at = chunk.group().lower().find(word)
                place = (chunk.start() + at, chunk.start() + at + len(word)) if at >= 0 else chunk.span()
                if rows := _rows(spans, place):
                    found[word] = rows
    return found


def idf(frequency: int, passages: int) -> float:
    """The weight of a word that stands in so many of the passages."""
    # A word that stands nowhere is an asker's own word for something: it counts, but less than a term that does.
    weight = log(1 + (max(passages - frequency, 0) + 0.5) / (frequency + 0.5))
    return weight if frequency else _UNKNOWN * weight


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    total = sum(weights)
    return float(np.dot(values, weights)) / total if total > 0 else 0.0
