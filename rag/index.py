"""Turns papers into an index: what is new or changed is split, embedded and stored, the rest is left alone.

    papers ─ batches ─▶ fresh ones ─ split, embed ─▶ entries ─▶ store (in a thread of its own, one batch behind)

Papers stream through; the corpus is never held in memory. It does not know where papers come from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple, dataclass, field
from itertools import islice
from time import perf_counter

from rag.embed import Embedder
from rag.load import Reject
from rag.split import split
from rag.text import searched
from rag.types import Paper
from vectorstore.passage import Entry, Passage, Record
from vectorstore.store import VectorStore

_BATCH = 128  # papers; few enough that little is embedded again after a kill, enough to cost little each to store


@dataclass(slots=True)
class Report:
    """What an indexing run did, in papers; it grows while the run goes on. seconds: since it began."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    rejects: list[Reject] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def seen(self) -> int:
        """Papers read so far, without the rejected ones."""
        return self.new + self.changed + self.unchanged


def index_papers(
    store: VectorStore,
    embedder: Embedder,
    papers: Iterable[Paper | Reject],
    *,
    prune: bool = False,
    progress: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Bring the index up to the papers; `prune` removes those that are no longer among them.

    progress: called after each batch with the report so far. StoreLocked when another process is writing.
    """
    began, report = perf_counter(), Report()
    with store.writing():
        known, seen = store.hashes(), set[str]()
        with ThreadPoolExecutor(1, "store") as writer:
            stored: Future[None] | None = None
            for batch in _batches(_accepted(papers, report)):
                seen.update(paper.id for paper in batch)
                fresh = _fresh(batch, known, report)
                entries = _entries(embedder, [paper for paper, _ in fresh])
                if stored:
                    stored.result()
                records = [Record(paper.bibliography, paper.abstract, digest) for paper, digest in fresh]
                stored = writer.submit(store.add, records, entries) if fresh else None
                report.seconds = perf_counter() - began
                progress(report)
            if stored:
                stored.result()
        if prune:
            gone = sorted((known.keys() | store.pending()) - seen)
            store.remove(gone)
            report.removed = len(gone)
    report.seconds = perf_counter() - began
    return report


@dataclass(frozen=True, slots=True)
class Repair:
    """What a repair did. restored: papers whose words were made again from their vectors' rows. embedded: papers
    embedded again from their words. removed: vectors of no paper. lost: ids of papers that were begun and of which
    neither side has the whole; the next run of `index` brings them.
    """

    restored: int = 0
    embedded: int = 0
    removed: int = 0
    lost: tuple[str, ...] = ()


def repair(store: VectorStore, make: Callable[[str], Embedder]) -> Repair:
    """Make vectors and words agree again, from what either has; Repair() when all is well.

    make: the embedder of a spec, asked for only when something has to be embedded. StoreLocked as of `index_papers`.
    """
    with store.writing():
        _, without_words = store.check()
        pending = store.pending()
        restored = store.restore_words(sorted(pending | _papers_of(without_words)))
        without_vectors, without_words = store.check()
        broken = _papers_of(without_vectors) | store.pending()
        records = tuple(store.papers(sorted(broken)).values())
        if records:
            _embed_again(store, make(store.manifest.embedder), records)
        lost = sorted(broken - {record.paper_id for record in records})
        store.remove(lost)
        strays = store.check()[1]
        store.remove_vectors(sorted(strays))
    return Repair(len(restored), len(records), len(without_words), tuple(lost))


def _papers_of(passage_ids: Iterable[str]) -> set[str]:
    return {passage_id.rsplit("#", 1)[0] for passage_id in passage_ids}


def _embed_again(store: VectorStore, embedder: Embedder, records: Sequence[Record]) -> None:
    for first in range(0, len(records), _BATCH):
        part = records[first : first + _BATCH]
        store.add(part, _entries(embedder, [Paper.of(record) for record in part]))


def content_hash(paper: Paper) -> str:
    """Changes whenever anything of the paper changes."""
    return hashlib.sha256(json.dumps(astuple(paper)).encode()).hexdigest()[:32]


def _accepted(papers: Iterable[Paper | Reject], report: Report) -> Iterator[Paper]:
    for paper in papers:
        if isinstance(paper, Reject):
            report.rejects.append(paper)
        else:
            yield paper


def _batches(papers: Iterator[Paper]) -> Iterator[tuple[Paper, ...]]:
    while batch := tuple(islice(papers, _BATCH)):
        yield batch


def _fresh(batch: Sequence[Paper], known: dict[str, str], report: Report) -> list[tuple[Paper, str]]:
    """The papers that are not in the index as they are, with their hashes."""
    hashes = [(paper, content_hash(paper)) for paper in batch]
    fresh = [(paper, digest) for paper, digest in hashes if known.get(paper.id) != digest]
    changed = sum(paper.id in known for paper, _ in fresh)
    report.changed += changed
    report.new += len(fresh) - changed
    report.unchanged += len(batch) - len(fresh)
    return fresh


def _entries(embedder: Embedder, papers: Sequence[Paper]) -> tuple[Entry, ...]:
    passages = [passage for paper in papers for passage in split(paper)]
    vectors = embedder.embed_documents([_embedded_text(passage) for passage in passages])
    return tuple(Entry(passage, vector) for passage, vector in zip(passages, vectors, strict=True))


def _embedded_text(passage: Passage) -> str:
    # A title that was taken from the abstract itself would only say twice what the passage says.
    text = searched(passage.text)
    return text if passage.source.untitled else f"{searched(passage.source.title)}. {text}"
