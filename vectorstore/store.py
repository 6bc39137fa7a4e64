"""An index as the rest of Footnote sees it: vectors (Chroma) and words (SQLite) kept as one.

It turns records and entries into a stored index, and a question's vector and words into hits.

A batch is written so that a kill at any moment loses nothing: its papers are noted as pending, their vectors go to
Chroma, then one transaction writes their words and ends the pending. Until then readers see the papers as they were.
What is still pending when a run begins is simply indexed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from vectorstore import hybrid, lock, tables
from vectorstore.errors import StoreError, StoreMissing, StoreUnusable
from vectorstore.filter import Filter
from vectorstore.lexical import LexicalIndex, Words
from vectorstore.manifest import Manifest
from vectorstore.passage import Entry, Hit, Record, Vector
from vectorstore.place import Place
from vectorstore.upkeep import Upkeep

if TYPE_CHECKING:
    from vectorstore.dense import DenseIndex

_SQLITE = (tables.NAME, f"{tables.NAME}-wal", f"{tables.NAME}-shm")
FILES = frozenset({"chroma", *_SQLITE, lock.NAME, lock.HOLDER, ".writable"})  # all that an index's folder holds
P = ParamSpec("P")
R = TypeVar("R")


def _plainly(method: Callable[Concatenate[VectorStore, P], R]) -> Callable[Concatenate[VectorStore, P], R]:
    """The method, with the engines' own errors said as StoreUnusable."""

    @wraps(method)
    def said(self: VectorStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, *self._dense.failures) as error:
            raise StoreUnusable.at(self.where, error, self._place.folder) from error

    return said


class VectorStore:
    """An index in a folder or on a Chroma server: add, remove, search, list. A context manager."""

    def __init__(self, dense: DenseIndex, words: LexicalIndex, place: Place) -> None:
        self._dense = dense
        self._lexical = words
        self._place = place
        self._upkeep = Upkeep(dense, words, place)
        self.where = place.text
        self.manifest = dense.manifest

    @classmethod
    def open(cls, where: str | Path, words: Words, *, warn: bool = True) -> VectorStore:
        """The index at a place; StoreMissing when there is none, StoreUnusable when it cannot be read.

        words: turns text into the words that the lexical index has for it. warn: log a warning when vectors and words
        do not agree.
        """
        place = Place.of(where)
        store = cls._of(lambda: _dense(place), place, words)
        try:
            store._keep_up(warn=warn)
        except StoreError:
            store.close()
            raise
        return store

    @classmethod
    def create(cls, where: str | Path, words: Words, manifest: Manifest) -> VectorStore:
        """A new, empty index at a place, or what another process has just made there with the same manifest.

        StoreUnusable when nothing can be written there.
        """
        place = Place.of(where)
        _check_writable(place.folder)
        with lock.writing(place.folder):
            return cls._of(lambda: _created(place, manifest), place, words)

    @classmethod
    def manifest_at(cls, where: str | Path) -> Manifest:
        """What the index at a place remembers of how it was made; errors as of `open`."""
        place = Place.of(where)
        with closing(_dense(place)) as dense:
            return dense.manifest

    @classmethod
    def _of(cls, make: Callable[[], DenseIndex], place: Place, words: Words) -> VectorStore:
        with ExitStack() as undo:
            dense = make()
            undo.callback(dense.close)
            _check_writable(place.folder)
            store = cls(dense, LexicalIndex(place.folder, words), place)
            undo.pop_all()
        return store

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._lexical.close()
        self._dense.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer for the body, a run of writes; StoreLocked, naming the other, when there is one.

        On a server: the only one of this machine.
        """
        with lock.writing(self._place.folder):
            self._begin()
            yield
            self._end()

    @_plainly
    def add(self, records: Sequence[Record], entries: Sequence[Entry]) -> None:
        """Write papers with all their entries, in place of any of the same id."""
        self._upkeep.announce()
        ids = [record.paper_id for record in records]
        torn = self._lexical.pending() & set(ids)
        stale = {p.id for p in self._lexical.passages_of(ids)} | self._dense.ids_of(sorted(torn))
        self._lexical.begin(ids)
        self._dense.add(entries, {record.paper_id: record.hash for record in records})
        self._dense.remove(sorted(stale - {e.passage.id for e in entries}))
        self._lexical.settle(records, [e.passage for e in entries])

    @_plainly
    def remove(self, paper_ids: Sequence[str]) -> None:
        """Take papers out; ids that are not there are passed over."""
        if not paper_ids:
            return
        self._upkeep.announce()
        self._lexical.begin(paper_ids)
        self._dense.remove(sorted(self._dense.ids_of(paper_ids)))
        self._lexical.remove(paper_ids)

    @_plainly
    def remove_vectors(self, passage_ids: Sequence[str]) -> None:
        """Take vectors out that no words belong to."""
        if passage_ids:
            self._upkeep.announce()
            self._dense.remove(passage_ids)

    @_plainly
    def restore_words(self, paper_ids: Sequence[str]) -> frozenset[str]:
        """Make the words of those papers again whose rows are whole in Chroma; their ids."""
        if not paper_ids:
            return frozenset()
        self._upkeep.announce()
        return self._upkeep.restore_words(paper_ids)

    @_plainly
    def search(
        self,
        vector: Vector,
        words: Sequence[str],
        k: int,
        depth: int = 100,
        only: Filter = Filter(),  # noqa: B008
    ) -> tuple[Hit, ...]:
        """The k best papers for a question's unit vector and words, best first, out of `depth` of either kind."""
        return hybrid.search(self._dense, self._lexical, vector, words, k, depth, only)

    @_plainly
    def nearest(self, vector: Vector, k: int) -> tuple[str, ...]:
        """The ids of the k passages nearest to a unit vector, by Chroma's graph alone, nearest first."""
        return tuple(self._dense.search(vector, k, Filter()))

    def vectors(self) -> Iterator[tuple[list[str], Vector]]:
        """All vectors, some at a time: passage ids, and (n, dim)."""
        return self._dense.vectors()

    @_plainly
    def matching(self, only: Filter) -> int:
        """How many papers a filter leaves."""
        return self._lexical.matching(only)

    @_plainly
    def stated(self) -> frozenset[str]:
        """What is known of some of the papers, out of "year", "venue" and "author"."""
        return self._lexical.stated()

    @_plainly
    def document_frequency(self, word: str) -> int:
        """In how many papers a word (its stem) stands."""
        return self._lexical.document_frequency(word)

    @_plainly
    def vocabulary(self) -> tuple[str, ...]:
        """Every word that the index has met, in alphabetical order."""
        return self._lexical.vocabulary()

    @_plainly
    def pending(self) -> frozenset[str]:
        """The papers whose writing was begun and not ended, because the run was killed or is still going on."""
        return self._lexical.pending()

    @_plainly
    def hashes(self) -> dict[str, str]:
        """Paper id → content hash, for the papers that are wholly in the index."""
        return self._lexical.hashes()

    @_plainly
    def papers(self, paper_ids: Sequence[str]) -> dict[str, Record]:
        """Paper id → record, for those ids that are there."""
        return self._lexical.papers(paper_ids)

    @_plainly
    def listing(self, limit: int = -1, offset: int = 0) -> tuple[Record, ...]:
        """Papers in the order in which they first came in; limit −1: all."""
        return self._lexical.listing(limit, offset)

    @_plainly
    def counts(self) -> tuple[int, int]:
        """(papers, passages)."""
        return self._lexical.counts()

    @_plainly
    def check(self) -> tuple[frozenset[str], frozenset[str]]:
        """Passage ids that (only the words, only the vectors) have; both empty when all is well."""
        words, vectors = map(frozenset, self.passage_ids())
        return words - vectors, vectors - words

    @_plainly
    def passage_ids(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ids of all passages, as (the words, the vectors) have them."""
        return tuple(self._lexical.passage_ids()), tuple(self._dense.ids())

    @_plainly
    def _keep_up(self, *, warn: bool) -> None:
        self._upkeep.keep_up()
        if warn:
            self._upkeep.warn()

    @_plainly
    def _begin(self) -> None:
        self._upkeep.begin()

    @_plainly
    def _end(self) -> None:
        self._upkeep.end()


def _dense(place: Place) -> DenseIndex:
    if not place.host and not (place.folder / "chroma" / "chroma.sqlite3").is_file():
        raise StoreMissing(f"there is no index at {place.text}; make one: footnote index PAPERS")
    from vectorstore.dense import DenseIndex  # noqa: PLC0415 - Chroma takes two seconds to import

    try:
        return DenseIndex.open(place)
    except DenseIndex.failures as error:
        raise StoreUnusable.at(place.text, error, place.folder) from error


def _created(place: Place, manifest: Manifest) -> DenseIndex:
    from vectorstore.dense import DenseIndex  # noqa: PLC0415

    try:
        dense = DenseIndex.open(place)
    except StoreMissing:
        try:
            return DenseIndex.create(place, manifest)
        except DenseIndex.failures as error:
            raise StoreUnusable.at(place.text, error, place.folder) from error
    dense.manifest.check(manifest, place.text)
    return dense


def _check_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # another process may be probing too
    except OSError as error:
        what = "it is a file, not a folder" if folder.is_file() else error.strerror
        raise StoreUnusable(f"cannot write an index to {folder}: {what}; name another folder with --index") from error
