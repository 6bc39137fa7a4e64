"""Turns papers into an index: what is new or changed is split, embedded and stored, the rest is left alone.

Papers stream through in batches; the corpus is never held in memory. It does not know where papers come from.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import astuple, dataclass, field
from itertools import islice
from pathlib import Path
from time import perf_counter

from rag.embed import DEFAULT_EMBEDDER, Embedder
from rag.load import Reject
from rag.split import CHUNKING, split
from rag.text import search_words, searched
from rag.types import Paper
from vectorstore.errors import StoreError, StoreMissing, StoreUnusable
from vectorstore.manifest import Manifest
from vectorstore.passage import Entry, Passage
from vectorstore.store import FILES, VectorStore

_BATCH = 64  # papers; small enough that little is embedded again after a kill, large enough for full batches


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


@contextmanager
def opened_for_writing(
    folder: Path, spec: str | None, make: Callable[[str], Embedder], *, rebuild: bool = False
) -> Iterator[tuple[VectorStore, Embedder]]:
    """The index in `folder` and its embedder; a new index when there is none.

    spec: the embedder that was asked for, or None for the index's own. An index that another embedder or chunking
    made is a StoreMismatch. rebuild: a new index is made beside the old one, and takes its place when all went well.
    """
    folder = folder.resolve()  # so that "." has a name, and a link is not replaced by a folder
    if (aside := _beside(folder, "old")).exists() and not folder.exists():
        aside.rename(folder)  # a rebuild was killed between its two last steps
    with _rebuilt(folder) if rebuild else nullcontext(folder) as place:
        store, embedder = _opened(place, spec or (_embedder_of(folder) if rebuild else None), make)
        with store:
            yield store, embedder


def _opened(folder: Path, spec: str | None, make: Callable[[str], Embedder]) -> tuple[VectorStore, Embedder]:
    try:
        store = VectorStore.open(folder)
    except StoreMissing:
        embedder = make(spec or DEFAULT_EMBEDDER)
        return VectorStore.create(folder, _manifest(embedder)), embedder
    with ExitStack() as undo:
        undo.enter_context(store)
        embedder = make(spec or store.manifest.embedder)
        store.manifest.check(_manifest(embedder), str(folder))
        undo.pop_all()
    return store, embedder


def _embedder_of(folder: Path) -> str | None:
    try:
        with VectorStore.open(folder) as store:
            return store.manifest.embedder
    except StoreError:
        return None  # a rebuild is also the way out of an index that cannot be read


def _manifest(embedder: Embedder) -> Manifest:
    return Manifest(embedder.spec, len(embedder.embed_query("dimension")), CHUNKING)


@contextmanager
def _rebuilt(folder: Path) -> Iterator[Path]:
    """An empty place for a new index; when the body went well, what stands there takes the folder's place."""
    new, old = _beside(folder, "new"), _beside(folder, "old")
    for place in (folder, new, old):
        _check_replaceable(place)
    shutil.rmtree(new, ignore_errors=True)
    try:
        yield new
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    finally:
        for place in (new, old):
            shutil.rmtree(place, ignore_errors=True)


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name}.{what}")


def _check_replaceable(place: Path) -> None:
    """StoreUnusable when there is anything at the place that is not an index's: it would be deleted."""
    if not place.exists():
        return
    others = sorted({path.name for path in place.iterdir()} - FILES) if place.is_dir() else [place.name]
    if others:
        raise StoreUnusable(
            f"a rebuild would delete {others[0]!r} at {place}; move it away, or name another folder with --index"
        )


def index_papers(
    store: VectorStore,
    embedder: Embedder,
    papers: Iterable[Paper | Reject],
    *,
    prune: bool = False,
    progress: Callable[[Report], None] = lambda _: None,
) -> Report:
    """Bring the index up to the papers; `prune` removes those that are no longer among them.

    progress: called after each batch with the report so far.
    """
    began, report, known = perf_counter(), Report(), store.settled_hashes()
    seen: set[str] = set()
    for batch in _batches(_accepted(papers, report)):
        seen.update(paper.id for paper in batch)
        _index_batch(store, embedder, batch, known, report)
        report.seconds = perf_counter() - began
        progress(report)
    if prune:
        gone = sorted((known.keys() | store.unsettled()) - seen)
        store.remove(gone)
        report.removed = len(gone)
    report.seconds = perf_counter() - began
    return report


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


def _index_batch(
    store: VectorStore, embedder: Embedder, batch: Sequence[Paper], known: dict[str, str], report: Report
) -> None:
    hashes = {paper.id: content_hash(paper) for paper in batch}
    fresh = [paper for paper in batch if known.get(paper.id) != hashes[paper.id]]
    changed = sum(paper.id in known for paper in fresh)
    if fresh:
        records = [(paper.bibliography, paper.abstract, hashes[paper.id]) for paper in fresh]
        store.add(records, _entries(embedder, fresh))
    report.changed += changed
    report.new += len(fresh) - changed
    report.unchanged += len(batch) - len(fresh)


def _entries(embedder: Embedder, papers: Sequence[Paper]) -> tuple[Entry, ...]:
    passages = [passage for paper in papers for passage in split(paper)]
    texts = [_embedded_text(passage) for passage in passages]
    vectors = embedder.embed_documents(texts)
    return tuple(
        Entry(passage, " ".join(search_words(passage.source.title)), " ".join(search_words(passage.text)), vector)
        for passage, vector in zip(passages, vectors, strict=True)
    )


def _embedded_text(passage: Passage) -> str:
    # A title that was taken from the abstract itself would only say twice what the passage says.
    text = searched(passage.text)
    return text if passage.source.untitled else f"{searched(passage.source.title)}. {text}"
