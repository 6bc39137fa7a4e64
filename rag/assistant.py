"""The one path from a question to an answer, that the page, the command line, `ask()` and the harness all run.

question ─ Asker ─▶ retrieve ─▶ (rerank) ─▶ rank ─▶ (abstain) ─▶ prompt ─▶ LLM.stream ─▶ cite ─▶ Answer
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import Path

from rag.abstain import UNTELLABLE, thresholds, why_unanswerable
from rag.asking import Asked, Asker, reads_english_alone
from rag.cite import Citer, Numbering
from rag.constraints import narrowed
from rag.embed import Embedder, is_known, make_embedder
from rag.errors import UsageError
from rag.filters import described
from rag.followup import Standalone
from rag.llm import LLM, as_llm
from rag.prompt import build_prompt
from rag.question import kind_of
from rag.relevance import Ranker, Relevance
from rag.rerank import DEPTH, Reranker, make_reranker, reranked
from rag.retrieve import NO_FILTER, retrieve
from rag.settings import Settings
from rag.survey import DEPTH as SURVEYED
from rag.survey import all_of, has_topic, lead_of, nearest_of, survey
from rag.text import search_words
from rag.types import Answer, Paper, Prompt, Scope, Turn
from rag.verifier import Verifier, make_verifier
from rag.write import Clock, Unsupported, abstained, written
from vectorstore.filter import Filter
from vectorstore.passage import Hit
from vectorstore.store import VectorStore


class Assistant:
    """Answers questions over one index. A context manager; safe to use from several threads."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        llm: LLM,
        k: int = 6,
        reranker: Reranker | None = None,
        rerank_ms: int = 1500,
        unsupported: Unsupported = "mark",
        verifier: Verifier | None = None,
    ) -> None:
        """k: papers read for an answer, 1 and up. rerank_ms: how long the reranker may take, as in `reranked`.

        unsupported: what becomes of a sentence that its quotes do not support: "mark" or "drop".
        verifier: what is asked of a model's sentences besides rag.support.
        """
        self._store = store
        self._embedder = embedder
        self._llm = llm
        self._k = k
        self._reranker = reranker
        self._rerank_ms = rerank_ms
        self._unsupported = unsupported
        self._verifier = verifier
        self._ranker = Ranker(_reader_for(embedder), store.document_frequency, store.counts()[0])
        # The reader knows English alone; an embedder that may know more reads what cannot be put into English.
        untold = None if reads_english_alone(embedder.spec) else embedder
        self._untold = Ranker(untold, store.document_frequency, store.counts()[0]) if untold else None
        self.stated = store.stated()
        self._asker = Asker(store, embedder, llm)
        self.llm, self.embedder, self.index = llm.spec, embedder.spec, store.where

    @classmethod
    def open(
        cls,
        index: str | Path | None = None,
        llm: object = None,
        embedder: str | None = None,
        k: int | None = None,
        reranker: str | Reranker | None = None,
        unsupported: Unsupported | None = None,
        verifier: str | Verifier | None = None,
    ) -> Assistant:
        """Over an index that exists; what is not given comes from the settings, the embedder from the index itself.

        llm: a spec, an LLM, or any chat model of LangChain's. unsupported: "mark" or "drop" what quotes do not support.
        Raises StoreMissing, StoreMismatch, or a FootnoteError that says what is wrong with a spec.
        """
        specs = {"llm": llm, "reranker": _chosen(reranker), "verifier": _chosen(verifier)}
        given = {name: spec for name, spec in specs.items() if isinstance(spec, str)}
        settings = Settings.read(index=index, embedder=embedder, k=k, unsupported=unsupported, **given)
        writer = as_llm(settings.llm if llm is None else llm, settings.limits)
        sorter = make_reranker(settings.reranker) if reranker is None or isinstance(reranker, str) else reranker
        checker = make_verifier(settings.verifier) if verifier is None or isinstance(verifier, str) else verifier
        store = VectorStore.open(settings.index, search_words)
        with ExitStack() as undo:
            undo.callback(store.close)
            # An index is only ever searched with the embedder that made it; whoever insists on another is told.
            maker = make_embedder(settings.embedder if settings.is_set("embedder") else store.manifest.embedder)
            store.manifest.check(replace(store.manifest, embedder=maker.spec), store.where)
            undo.pop_all()
        return cls(store, maker, writer, settings.k, sorter, settings.rerank_ms, settings.unsupported, checker)

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._store.close()

    def ask(
        self, question: str, history: Sequence[Turn] = (), only: Filter = NO_FILTER, *, constraints: bool = True
    ) -> Answer:
        """The whole answer. history: earlier turns, oldest first. only: the papers it may rest on.

        constraints: whether years, venues and authors that the question names choose papers too, where `only` does not
        choose them. Raises UsageError when nothing is asked.
        """
        *_, answer = self.stream(question, history, only, constraints=constraints)
        return answer

    def stream(
        self, question: str, history: Sequence[Turn] = (), only: Filter = NO_FILTER, *, constraints: bool = True
    ) -> Iterator[Answer]:
        """The answer as it grows, sentence by sentence; the last has done=True. Like `ask` otherwise."""
        question = question.strip()
        if not question:
            raise UsageError("the question is empty; ask something about the papers")
        clock = Clock()
        asked = self._asker.understood(question, history, constraints=constraints)
        clock.lap("understand")
        scope = self.scope(narrowed(only, asked.only), asked=bool(asked.only))
        base = Answer(question, llm=self.llm, embedder=self.embedder, notices=asked.notices, done=False, filter=scope)
        base = replace(base, searched=asked.searched)
        if reason := _met_by_none(scope, asked.unmet):
            yield abstained(base, reason, asked.told(Prompt(question, (), (), ())), clock)
            return
        look = self._survey if kind_of(asked.standalone.question) == "papers" else self._look_up
        prompt, reason, lead = look(asked, history, scope.only if scope else NO_FILTER, clock)
        prompt = asked.told(prompt)
        base = replace(base, hits=prompt.hits, text="" if reason else lead)
        if reason:
            yield abstained(base, reason, prompt, clock)
            return
        numbering = Numbering(paper_id for turn in history for paper_id in turn.paper_ids)
        yield from written(base, self._llm, Citer(prompt, numbering, self._verifier), clock, self._unsupported)

    def scope(self, only: Filter, *, asked: bool = False) -> Scope | None:
        """The papers that a filter leaves; None when it filters nothing. asked: whether a question said part of it."""
        return Scope(only, self._store.matching(only), asked) if only else None

    def document_frequency(self, word: str) -> int:
        """In how many of the papers a word (its stem) stands."""
        return self._store.document_frequency(word)

    def paper_count(self) -> int:
        """How many papers the index holds."""
        return self._store.counts()[0]

    def papers(self, limit: int = 50, offset: int = 0) -> tuple[Paper, ...]:
        """The index's papers in the order in which they first came in; limit −1: all."""
        return tuple(map(Paper.of, self._store.listing(limit, offset)))

    def paper(self, paper_id: str) -> Paper | None:
        """One paper, or None when the index has none by that id."""
        found = self._store.papers([paper_id]).get(paper_id)
        return Paper.of(found) if found else None

    def search(self, question: str, k: int = 10, only: Filter = NO_FILTER) -> Prompt:
        """Retrieval alone: a prompt without evidence whose hits and papers are the k nearest, best first."""
        return build_prompt(Standalone(question), self._find(question, k, only, (), Clock()), Relevance((), ()), ())

    def relevance(self, question: str, without: Collection[str] = ()) -> tuple[Prompt, Relevance]:
        """What a question finds and how well it answers, before anything is decided; for measuring.

        without: ids of papers to pass over, as if the index did not hold them.
        """
        found = self._find(question, self._k + len(without), NO_FILTER, (), Clock())
        kept = [pair for pair in found if pair[0].id not in without][: self._k]
        relevance = self._ranker.rank(Standalone(question), kept)
        return build_prompt(Standalone(question), kept, relevance, ()), relevance

    def _find(
        self, question: str, k: int, only: Filter, also: Collection[str], clock: Clock
    ) -> tuple[tuple[Paper, Hit], ...]:
        """The k best papers with their hits, then those of `also` that came up."""
        found = retrieve(self._store, self._embedder, question, max(k, DEPTH) if self._reranker else k, only, also)
        clock.lap("retrieve")
        if self._reranker:
            found = reranked(found, question, self._reranker, self._rerank_ms)
            found = found[:k] + tuple(hit for hit in found[k:] if hit.passage.paper_id in also)
            clock.lap("rerank")
        return self._with_papers(found)

    def _with_papers(self, hits: Sequence[Hit]) -> tuple[tuple[Paper, Hit], ...]:
        found = self._store.papers([hit.passage.paper_id for hit in hits])
        # A paper may have been removed since the search.
        return tuple((Paper.of(found[i]), hit) for hit in hits if (i := hit.passage.paper_id) in found)

    def _look_up(self, asked: Asked, history: Sequence[Turn], only: Filter, clock: Clock) -> tuple[Prompt, str, str]:
        """The prompt, why what was found cannot answer ("" when it can), and how the answer begins."""
        whole = asked.standalone
        found = self._find(whole.whole, self._k, only, whole.papers, clock)
        if asked.sides:
            sides = [self._find(side, self._k, only, (), Clock()) for side in asked.sides]
            found = _interleaved([found[: self._k], *sides], self._k, found[self._k :])
            clock.lap("sides")
        relevance = self._ranker_for(asked).rank(whole, found)
        clock.lap("rank")
        reason = self._why_unanswerable(asked, found, relevance)
        return build_prompt(whole, found, relevance, history), reason, ""

    def _survey(self, asked: Asked, history: Sequence[Turn], only: Filter, clock: Clock) -> tuple[Prompt, str, str]:
        """The same for a question that asks for all papers of a kind."""
        whole = asked.standalone
        found = self._find(whole.whole, SURVEYED, only, whole.papers, clock)
        rank = partial(self._ranker_for(asked).rank, whole)
        if has_topic(whole.whole):
            surveyed = survey(found, rank, self.embedder)
        else:
            surveyed = all_of(found, rank, self._store.matching(only) if only else self.paper_count())
        clock.lap("rank")
        if not surveyed.papers:
            read = found[: self._k]
            relevance = rank(read)
            if not surveyed.conceivable or self._why_unanswerable(asked, read, relevance):
                reason = "No paper in this collection fits, going by the abstracts."
                return build_prompt(whole, read, Relevance((), ()), history), reason, ""
            surveyed = nearest_of(read, relevance)
        prompt = build_prompt(whole, surveyed.papers, Relevance((), surveyed.sentences), history)
        return prompt, "", lead_of(surveyed)

    def _ranker_for(self, asked: Asked) -> Ranker:
        return self._untold if asked.is_lost and self._untold else self._ranker

    def _why_unanswerable(self, asked: Asked, found: Sequence[tuple[Paper, Hit]], relevance: Relevance) -> str:
        limits = UNTELLABLE if asked.is_lost and self._untold else thresholds(self.embedder)
        return why_unanswerable(asked.standalone, [paper for paper, _ in found], relevance, limits)


def _reader_for(embedder: Embedder) -> Embedder:
    """What reads the papers that an embedder found: the reader; an embedder of somebody's own reads for itself."""
    if not is_known(embedder.spec):
        return embedder
    from rag.reader import reader  # noqa: PLC0415 - onnxruntime is paid for by those who use it

    return reader()


def _chosen(spec: object) -> object:
    """A spec, where an empty one is a choice too: of none."""
    return "none" if spec == "" else spec


def _interleaved(
    searches: Sequence[Sequence[tuple[Paper, Hit]]], k: int, also: Sequence[tuple[Paper, Hit]]
) -> tuple[tuple[Paper, Hit], ...]:
    """At most k papers of several searches, the best of each first, none twice; then those of `also`."""
    found: dict[str, tuple[Paper, Hit]] = {}
    for pair in (pair for row in zip_longest(*searches) for pair in row if pair):
        if len(found) < k:
            found.setdefault(pair[0].id, pair)
    return tuple((found | {pair[0].id: pair for pair in also if pair[0].id not in found}).values())


def _met_by_none(scope: Scope | None, unmet: Sequence[str]) -> str:
    """Why there is no paper to look at; "" when there is."""
    if unmet:
        return f"No paper in this collection is {' and '.join(f'“{phrase}”' for phrase in unmet)}."
    if scope and not scope.papers_left:
        return f"No paper in this collection meets the filter: {described(scope.only)}."
    return ""


def papers_in(index: str) -> tuple[Paper, ...]:
    """All papers of an index, in the order in which they first came in; needs no embedder."""
    with VectorStore.open(index, search_words) as store:
        return tuple(map(Paper.of, store.listing()))
