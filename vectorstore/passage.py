"""The values that go into and come out of an index: Bibliography, Passage, Entry, Hit.

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
class Passage:
    """A run of whole sentences of one abstract.

    text == abstract[start:end]; start, end: character offsets into the abstract. The passages of a paper
    cover its abstract but for white space between them; they may overlap.
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
    """A passage on its way into the index.

    title_words, text_words: what the lexical index reads, words parted by spaces. vector: (dim,), unit length.
    """

    passage: Passage
    title_words: str
    text_words: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search found.

    score: the fused score that hits are ordered by, higher is nearer. dense: cosine of question and passage,
    −1..1. lexical: BM25, 0 and up; 0 when no word of the question stands in the passage.
    """

    passage: Passage
    score: float
    dense: float
    lexical: float
