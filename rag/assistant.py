"""The one path from a question to an answer, that the page, the command line, `ask()` and the harness all run.

question ─ standalone ─▶ retrieve ─▶ rank ─▶ (abstain) ─▶ prompt ─▶ LLM.stream ─▶ cite ─▶ Answer
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from rag.abstain import why_unanswerable
from rag.cite import Citer, Numbering
from rag.embed import Embedder, make_embedder
from rag.errors import UsageError
from rag.followup import standalone
from rag.llm import LLM, make_llm
from rag.prompt import build_prompt
from rag.relevance import Ranker
from rag.retrieve import retrieve
from rag.settings import Settings
from rag.spelling import Speller
from rag.types import Answer, Paper, Prompt, Turn
from rag.write import Clock, abstained, written
from vectorstore.passage import Bibliography
from vectorstore.store import VectorStore


class Assistant:
    """Answers questions over one index. A context manager; safe to use from several threads."""

    def __init__(self, store: VectorStore, embedder: Embedder, llm: LLM, k: int = 6) -> None:
        """k: papers read for an answer, 1 and up."""
        self._store = store
        self._embedder = embedder
        self._llm = llm
        self._k = k
        self._ranker = Ranker(embedder, store.document_frequency, store.counts()[1])
        self._speller = Speller(embedder, store.document_frequency, store.vocabulary)
        self.llm, self.embedder, self.index = llm.spec, embedder.spec, store.where

    @classmethod
    def open(
        cls,
        index: str | Path | None = None,
        llm: str | LLM | None = None,
        embedder: str | None = None,
        k: int | None = None,
    ) -> Assistant:
        """Over an index that exists; what is not given comes from the settings, the embedder from the index itself.

        Raises StoreMissing, StoreMismatch, or a FootnoteError that says what is wrong with a spec.
        """
        spec = llm if isinstance(llm, str) else None
        settings = Settings.read(index=index, llm=spec, embedder=embedder, k=k)
        writer = make_llm(settings.llm) if llm is None or isinstance(llm, str) else llm
        store = VectorStore.open(Path(settings.index))
        with ExitStack() as undo:
            undo.callback(store.close)
            # An index is only ever searched with the embedder that made it; whoever insists on another is told.
            maker = make_embedder(settings.embedder if settings.is_set("embedder") else store.manifest.embedder)
            store.manifest.check(replace(store.manifest, embedder=maker.spec), store.where)
            undo.pop_all()
        return cls(store, maker, writer, settings.k)

    def __enter__(self) -> Assistant:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._store.close()

    def ask(self, question: str, history: Sequence[Turn] = ()) -> Answer:
        """The whole answer. history: earlier turns, oldest first. UsageError when nothing is asked."""
        *_, answer = self.stream(question, history)
        return answer

    def stream(self, question: str, history: Sequence[Turn] = ()) -> Iterator[Answer]:
        """The answer as it grows, sentence by sentence; the last has done=True. Like `ask` otherwise."""
        question = question.strip()
        if not question:
            raise UsageError("the question is empty; ask something about the papers")
        clock = Clock()
        prompt, reason, notices = self._look_up(question, history, clock)
        base = Answer(question, hits=prompt.hits, llm=self.llm, embedder=self.embedder, notices=notices, done=False)
        if reason:
            yield abstained(base, reason, prompt, clock)
            return
        numbering = Numbering(paper_id for turn in history for paper_id in turn.paper_ids)
        yield from written(base, self._llm, Citer(prompt, numbering), clock)

    def paper_count(self) -> int:
        """How many papers the index holds."""
        return self._store.counts()[0]

    def papers(self, limit: int = 50, offset: int = 0) -> tuple[Paper, ...]:
        """The index's papers in the order in which they first came in; limit −1: all."""
        return tuple(_paper(b, abstract) for b, abstract in self._store.listing(limit, offset))

    def paper(self, paper_id: str) -> Paper | None:
        """One paper, or None when the index has none by that id."""
        found = self._store.papers([paper_id]).get(paper_id)
        return _paper(*found) if found else None

    def search(self, question: str, k: int = 10) -> Prompt:
        """Retrieval alone: a prompt without evidence whose hits and papers are the k nearest, best first."""
        hits = retrieve(self._store, self._embedder, question, k)
        found = self._store.papers([hit.passage.paper_id for hit in hits])
        kept = tuple(hit for hit in hits if hit.passage.paper_id in found)
        return Prompt(question, tuple(_paper(*found[hit.passage.paper_id]) for hit in kept), (), (), kept)

    def _look_up(self, question: str, history: Sequence[Turn], clock: Clock) -> tuple[Prompt, str, tuple[str, ...]]:
        """The prompt, why what was found cannot answer ("" when it can), and notices."""
        spelt, notices = self._speller.corrected(question)
        asked = standalone(spelt, history)
        hits = retrieve(self._store, self._embedder, asked.whole, self._k, asked.papers)
        found = self._store.papers([hit.passage.paper_id for hit in hits])
        # A paper that an indexing run is just replacing has vectors but no text yet.
        hits = tuple(hit for hit in hits if hit.passage.paper_id in found)
        papers = tuple(_paper(*found[hit.passage.paper_id]) for hit in hits)
        clock.lap("retrieve")
        relevance = self._ranker.rank(asked, [(p, h.dense) for p, h in zip(papers, hits, strict=True)])
        clock.lap("rank")
        reason = why_unanswerable(asked, papers, relevance, self.embedder)
        return build_prompt(asked, hits, papers, relevance, history), reason, notices


def _paper(source: Bibliography, abstract: str) -> Paper:
    s = source
    return Paper(s.paper_id, s.title, abstract, s.authors, s.year, s.venue, s.url, s.doi, s.untitled)


def papers_in(folder: Path) -> tuple[Paper, ...]:
    """All papers of an index, in the order in which they first came in; needs no embedder."""
    with VectorStore.open(folder) as store:
        return tuple(_paper(*record) for record in store.listing())
