"""The nouns of the path from a paper to an answer, all frozen.

    Paper ─▶ (Passage ─▶ Hit, in vectorstore) ─▶ Prompt ─▶ Claim, Quote, Reference ─▶ Answer

No model, file, store or framework is known here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from vectorstore.filter import Filter
from vectorstore.passage import Bibliography, Hit, Record


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper as a reader sees it.

    id: stays the same when other papers come or go. title: never empty; `untitled` says that it was derived
    from the abstract because the source had none. abstract: the text that is shown and quoted, on one line a
    paragraph; formulas stay between dollar signs. authors: "Given Family", in the source's order.
    """

    id: str
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    doi: str = ""
    untitled: bool = False

    @classmethod
    def of(cls, record: Record) -> Paper:
        """A record of the index as a reader sees it."""
        s = record.source
        return cls(s.paper_id, s.title, record.abstract, s.authors, s.year, s.venue, s.url, s.doi, s.untitled)

    @property
    def bibliography(self) -> Bibliography:
        """All but the abstract."""
        return Bibliography(self.id, self.title, self.untitled, self.authors, self.year, self.venue, self.url, self.doi)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question or one answer of a conversation; `paper_ids`: the papers an answer cited, in order of number."""

    role: Literal["user", "assistant"]
    text: str
    paper_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quote:
    """The exact words of an abstract: text == abstract[start:end] of the paper `paper_id`."""

    paper_id: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an LLM is given: the question, the papers that were found, and their sentences, numbered.

    papers: best first. evidence: sentences of those papers, in reading order; evidence[i] is offered under the
    key i + 1, and an LLM cites by writing [i + 1]. relevance: of each piece of evidence to the question, higher
    is better, comparable within one prompt only. hits: what the search found, one a paper, best first.
    history: earlier turns, oldest first. context: what a follow-up leaves unsaid, "" when the question stands alone.
    language: of the question (ISO 639-1), when it is not that of the abstracts, else "".
    """

    question: str
    papers: tuple[Paper, ...]
    evidence: tuple[Quote, ...]
    relevance: tuple[float, ...]
    hits: tuple[Hit, ...] = ()
    history: tuple[Turn, ...] = ()
    context: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The papers that an answer could rest on: those that `only` leaves. papers_left: how many they are, 0 and up.

    from_question: whether the question itself said a part of it.
    """

    only: Filter
    papers_left: int
    from_question: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer.

    text: with its [n] markers. references: the numbers cited, ascending. quotes: the words that support it.
    supported: whether they do. reason: what they do not say, "" when supported. corrected: whether the model cited
    other words or none, and these were found to say so.
    """

    text: str
    references: tuple[int, ...]
    quotes: tuple[Quote, ...]
    supported: bool = True
    reason: str = ""
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """A cited paper: its number in the conversation and the words used from it, in order of use."""

    number: int
    paper: Paper
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to a question, and what it rests on.

    text: the claims' texts, or the abstention; before them, where all papers of a kind were asked for, how many there
    are in this collection. references: by number, only papers that the text cites.
    nearest: on an abstention, the papers that came nearest, best first. notices: calm remarks for the reader.
    timings_ms: stage → milliseconds ("retrieve", "rerank", "first_word", "total"). done: False while it grows.
    filter: which papers it could rest on, None for all of the index. searched: what was looked for, when that is not
    the question itself: a follow-up made to stand alone, or a question without its constraints. dropped: sentences of
    the model that are left out of the text, for want of support.
    """

    question: str
    text: str = ""
    claims: tuple[Claim, ...] = ()
    references: tuple[Reference, ...] = ()
    hits: tuple[Hit, ...] = ()
    abstained: bool = False
    abstain_reason: str = ""
    nearest: tuple[Paper, ...] = ()
    llm: str = ""
    embedder: str = ""
    notices: tuple[str, ...] = ()
    timings_ms: dict[str, float] = field(default_factory=dict)
    done: bool = True
    filter: Scope | None = None
    searched: str = ""
    dropped: tuple[Claim, ...] = ()
