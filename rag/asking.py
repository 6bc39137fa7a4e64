"""Turns what somebody typed into what is looked for: language, spelling, rewriting and constraints in one value.

question ─ (corrected) ─▶ rewritten ─ constrained ─▶ Asked
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag.constraints import Constrained, constrained, narrowed
from rag.embed import Embedder
from rag.followup import Standalone
from rag.language import corpus_language, language_of, name_of
from rag.retrieve import NO_FILTER
from rag.rewrite import Completes, Rewritten, is_foreign, rewritten
from rag.spelling import Speller
from rag.types import Prompt, Turn
from vectorstore.filter import Filter
from vectorstore.store import VectorStore

_SAMPLE = 40  # abstracts that the papers' language is told from
_ENGLISH_ALONE = re.compile(r"^minilm(?::|$)|all-(?:MiniLM|mpnet|distilroberta)|[-_/]en(?:$|[-_.])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """typed: as it was typed. standalone: to search, read and abstain with, without constraints. sides: a question
    about each of the two things that it compares. only: the papers that it speaks of. unmet: its constraints that no
    paper meets. notices: for the reader. language: its own, when that is not the papers', else "". is_new: whether an
    LLM rewrote it. is_lost: whether it could not be put into the papers' language.
    """

    typed: str
    standalone: Standalone
    sides: tuple[str, ...] = ()
    only: Filter = NO_FILTER
    unmet: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    language: str = ""
    is_new: bool = False
    is_lost: bool = False

    @property
    def searched(self) -> str:
        """What is looked for, "" when that is the question as it was typed."""
        return "" if self.standalone.whole == self.typed else self.standalone.whole

    def told(self, prompt: Prompt) -> Prompt:
        """The prompt with the question's language; if it was rewritten, in the asker's own words, and as its context
        what was made of them.
        """
        prompt = replace(prompt, language=self.language)
        return replace(prompt, question=self.typed, context=self.standalone.whole) if self.is_new else prompt


class Asker:
    """Understands questions about the papers of one index. llm: anything; it is asked when it `Completes`."""

    def __init__(self, store: VectorStore, embedder: Embedder, llm: object) -> None:
        self._store = store
        self._embedder = embedder.spec
        self._llm = llm
        self._stated = store.stated()
        self._speller = Speller(embedder, store.document_frequency, store.vocabulary)
        self._corpus = ""

    @property
    def corpus(self) -> str:
        """The language of most of the papers, "" when there are none; found out once."""
        if not self._corpus:
            self._corpus = corpus_language(record.abstract for record in self._store.listing(_SAMPLE, 0))
        return self._corpus

    def understood(self, question: str, history: Sequence[Turn], *, constraints: bool) -> Asked:
        """The question as it is looked for. constraints: whether years, venues and authors in it choose papers."""
        spoken, spelt, notices = language_of(question), question, tuple[str, ...]()
        if not is_foreign(spoken, self.corpus):
            spelt, notices = self._speller.corrected(question)
        made = rewritten(spelt, history, self._llm, spoken, self.corpus)
        if made.is_lost:
            notices += (self._lost(made),)
        whole, found = made.standalone, Constrained(question)
        if constraints:
            whole, found = self._constrained(made)
            notices += (_set_aside(found.aside),) if found.aside else ()
        only = narrowed(found.only, Filter(papers=whole.papers)) if constraints and whole.chosen else found.only
        foreign = spoken if made.is_foreign else ""
        return Asked(question, whole, made.sides, only, found.unmet, notices, foreign, made.is_new, made.is_lost)

    def _constrained(self, made: Rewritten) -> tuple[Standalone, Constrained]:
        """The question without its constraints, and these: its own, those that rewriting may have dropped, and of
        what it leans on those that it does not replace.
        """
        whole = self._taken(made.standalone.question)
        own, unsaid = whole, Constrained(made.ruled.context)
        if not made.is_foreign:
            own = self._taken(made.ruled.question) if made.is_new else whole
            unsaid = self._taken(made.ruled.context)
        found = Constrained(
            whole.question,
            narrowed(own.only, narrowed(whole.only, unsaid.only)),
            tuple(dict.fromkeys(own.unmet + whole.unmet)),
            tuple(dict.fromkeys(own.aside + whole.aside)),
        )
        context = "" if made.is_new else unsaid.question
        return replace(made.standalone, question=whole.question, context=context), found

    def _taken(self, text: str) -> Constrained:
        return constrained(text, self._store.matching, self._stated)

    def _lost(self, made: Rewritten) -> str:
        spoken, corpus = name_of(made.spoken), name_of(made.corpus)
        if isinstance(self._llm, Completes):
            return f"The question is in {spoken}, and the LLM could not put it into {corpus}; it was searched as it is."
        if not reads_english_alone(self._embedder):
            return f"The question is in {spoken}, the abstracts in {corpus}: whether they answer it was not checked."
        which = "the default embedder" if self._embedder == "minilm" else f"the embedder {self._embedder}"
        return (
            f"The question is in {spoken}, the abstracts in {corpus}; {which} reads English alone. Set an LLM (--llm), "
            "or a multilingual embedder such as st:intfloat/multilingual-e5-small."
        )


def reads_english_alone(embedder: str) -> bool:
    """Whether an embedder is known, by its spec, to have been trained on English alone."""
    return bool(_ENGLISH_ALONE.search(embedder))


def _set_aside(aside: Sequence[str]) -> str:
    said = " and ".join(f"“{phrase}”" for phrase in aside)
    return f"Left aside {said}: this collection does not say so much of its papers."
