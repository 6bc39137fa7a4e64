"""Opens an index for writing: an existing one, a new one, or a new one that takes an old one's place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

from rag.embed import DEFAULT_EMBEDDER, Embedder
from rag.errors import UsageError
from rag.split import CHUNKING
from rag.text import search_words
from vectorstore.errors import StoreError, StoreMissing, StoreUnusable
from vectorstore.lock import writing
from vectorstore.manifest import Manifest
from vectorstore.place import Place
from vectorstore.store import FILES, VectorStore


@contextmanager
def opened_for_writing(
    where: str | Path, spec: str | None, make: Callable[[str], Embedder], *, rebuild: bool = False
) -> Iterator[tuple[VectorStore, Embedder]]:
    """The index at a place and its embedder; a new index when there is none.

    spec: the embedder that was asked for, or None for the index's own. An index that another embedder or chunking
    made is a StoreMismatch. rebuild: a new index is made beside the old one, and takes its place when all went well.
    """
    if Place.of(where).host:
        if rebuild:
            raise UsageError(f"an index on a server is not rebuilt in place: index into another name than {where}")
        store, embedder = _opened(where, spec, make)
        with store:
            yield store, embedder
        return
    folder = Path(where).resolve()  # so that "." has a name, and a link is not replaced by a folder
    if (aside := _beside(folder, "old")).exists() and not folder.exists():
        aside.rename(folder)  # a rebuild was killed between its two last steps
    rebuild = rebuild and folder.exists()
    spec = spec or (_embedder_of(folder) if rebuild else None)
    with _rebuilt(folder) if rebuild else nullcontext(folder) as place:
        store, embedder = _opened(place, spec, make)
        with store:
            yield store, embedder


def _opened(where: str | Path, spec: str | None, make: Callable[[str], Embedder]) -> tuple[VectorStore, Embedder]:
    try:
        store = VectorStore.open(where, search_words)
    except StoreMissing:
        embedder = make(spec or DEFAULT_EMBEDDER)
        return VectorStore.create(where, search_words, _manifest(embedder)), embedder
    with ExitStack() as undo:
        undo.enter_context(store)
        embedder = make(spec or store.manifest.embedder)
        store.manifest.check(_manifest(embedder), str(where))
        undo.pop_all()
    return store, embedder


def _embedder_of(folder: Path) -> str | None:
    try:
        return VectorStore.manifest_at(folder).embedder
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
    with writing(folder):  # nobody adds to the old index what would be lost with it
        shutil.rmtree(new, ignore_errors=True)
        try:
            yield new
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            new.rename(folder)
        finally:
            shutil.rmtree(new, ignore_errors=True)
            if folder.exists():  # not when it was stopped between the two renames
                shutil.rmtree(old, ignore_errors=True)


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
