"""The values that go into and come out of an index: Bibliography, Record, Passage, Entry, Hit.

They know nothing of files, models or Chroma.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Bibliography:
    """What a passage needs to be citable on its own.

    title: never empty; `untitled` says that it was derived from the abstract because the source had none.
    authors: "Given Family", in the source's order. year: of publication. venue, url, doi: "" when unknown.
    """

    paper_id: str
    title: str
    untitled: bool = False
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    doi: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """A whole paper as the index keeps it. hash: changes whenever anything of the paper does."""

    source: Bibliography
    abstract: str
    hash: str

    @property
    def paper_id(self) -> str:
        """The paper's id."""
        return self.source.paper_id


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole sentences of one abstract.

    text == abstract[start:end]; start, end: character offsets into the abstract. The passages of a paper
    cover its abstract but for single spaces between them; they may overlap.
    """

    id: str
    text: str
    start: int
    end: int
    source: Bibliography

    @property
    def paper_id(self) -> str:
        """The paper that the passage is from."""
        return self.source.paper_id


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A passage on its way into the index. vector: (dim,), unit length."""

    passage: Passage
    vector: Vector


@dataclass(frozen=True, slots=True)
class Hit:
    """The passage by which a search found a paper.

    score: the fused score that hits are ordered by, higher is nearer, comparable within one search. dense: cosine of
    question and passage, −1..1. lexical: BM25 of question and paper, 0 and up; 0 when they share no word that counts.
    """

    passage: Passage
    score: float
    dense: float
    lexical: float
