"""An index as the rest of Footnote sees it: vectors (Chroma) and words (SQLite) kept as one.

It turns entries into a stored index, and a question's vector and words into hits. Which of the two found a
passage shows only in a hit's scores.

A batch is written so that a kill at any moment loses nothing: the papers are noted as begun, their vectors go to
Chroma, then one transaction writes their words and settles them. What is not settled is simply indexed again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from vectorstore.errors import StoreMissing, StoreUnusable
from vectorstore.fusion import fuse
from vectorstore.lexical import LexicalIndex
from vectorstore.manifest import Manifest
from vectorstore.passage import Bibliography, Entry, Hit, Vector

if TYPE_CHECKING:
    from vectorstore.dense import DenseIndex

Record = tuple[Bibliography, str]
FILES = frozenset({"chroma", "words.sqlite", "words.sqlite-wal", "words.sqlite-shm", ".writable"})  # all of an index
P = ParamSpec("P")
R = TypeVar("R")


def _plainly(method: Callable[Concatenate[VectorStore, P], R]) -> Callable[Concatenate[VectorStore, P], R]:
    """The method, with the engines' own errors said as StoreUnusable."""

    @wraps(method)
    def said(self: VectorStore, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, *self._dense.failures) as error:
            raise StoreUnusable.at(self.where, error) from error

    return said


class VectorStore:
    """An index in a folder: add, remove, search, list. A context manager."""

    def __init__(self, dense: DenseIndex, lexical: LexicalIndex) -> None:
        self._dense = dense
        self._lexical = lexical
        self.where = dense.where
        self.manifest = dense.manifest

    @classmethod
    def open(cls, folder: Path) -> VectorStore:
        """The index in `folder`; StoreMissing when there is none, StoreUnusable when it cannot be read."""
        if not (folder / "chroma" / "chroma.sqlite3").is_file():
            raise StoreMissing(f"there is no index at {folder}; make one: footnote index PAPERS")
        from vectorstore.dense import DenseIndex  # noqa: PLC0415 - Chroma takes two seconds to import

        return cls._of(DenseIndex.open(folder), folder)

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> VectorStore:
        """A new, empty index in `folder`, which may exist; StoreUnusable when nothing can be written there."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise StoreUnusable(
                f"cannot write an index to {folder}: {error.strerror}; name another folder with --index"
            ) from error
        from vectorstore.dense import DenseIndex  # noqa: PLC0415

        return cls._of(DenseIndex.create(folder, manifest), folder)

    @classmethod
    def _of(cls, dense: DenseIndex, folder: Path) -> VectorStore:
        try:
            return cls(dense, LexicalIndex(folder))
        except StoreUnusable:
            dense.close()
            raise

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._lexical.close()
        self._dense.close()

    @_plainly
    def add(self, papers: Sequence[tuple[Bibliography, str, str]], entries: Sequence[Entry]) -> None:
        """Write papers, as (bibliography, abstract, hash), with all their entries, in place of any of the same id."""
        self._lexical.begin(papers)
        stale = [i for b, _, _ in papers for i in self._dense.ids_of(b.paper_id)]
        self._dense.add(entries)
        self._dense.remove(sorted(set(stale) - {e.passage.id for e in entries}))
        self._lexical.settle(entries)

    @_plainly
    def remove(self, paper_ids: Sequence[str]) -> None:
        """Take papers out; ids that are not there are passed over."""
        self._dense.remove([i for paper_id in paper_ids for i in self._dense.ids_of(paper_id)])
        self._lexical.remove(paper_ids)

    @_plainly
    def search(self, vector: Vector, words: Sequence[str], k: int, depth: int = 100) -> tuple[Hit, ...]:
        """The k best passages for a question's unit vector and words, best first, out of `depth` of either kind."""
        dense = {p.id: (p, cosine) for p, cosine in self._dense.search(vector, depth)}
        lexical = {p.id: (p, score) for p, score in self._lexical.search(words, depth)}
        cosines = self._dense.cosines([i for i in lexical if i not in dense], vector)
        passages = {i: p for i, (p, _) in (dense | lexical).items()}
        pairs = {
            i: (dense[i][1] if i in dense else cosines.get(i, 0.0), lexical[i][1] if i in lexical else 0.0)
            for i in passages
        }
        ranked = sorted(fuse(pairs).items(), key=lambda item: (-item[1], item[0]))[:k]
        return tuple(Hit(passages[i], score, *pairs[i]) for i, score in ranked)

    @_plainly
    def document_frequency(self, word: str) -> int:
        """In how many passages a word (its stem) stands."""
        return self._lexical.document_frequency(word)

    @_plainly
    def vocabulary(self) -> tuple[str, ...]:
        """Every word that the index has met, in alphabetical order."""
        return self._lexical.vocabulary()

    @_plainly
    def unsettled(self) -> frozenset[str]:
        """The papers that were begun and not settled, because the run was killed or is still going on."""
        return self._lexical.unsettled()

    @_plainly
    def settled_hashes(self) -> dict[str, str]:
        """Paper id → content hash, for the papers that are wholly in the index."""
        return self._lexical.settled_hashes()

    @_plainly
    def papers(self, paper_ids: Sequence[str]) -> dict[str, Record]:
        """Paper id → (bibliography, abstract), for those ids that are there."""
        return self._lexical.papers(paper_ids)

    @_plainly
    def listing(self, limit: int = -1, offset: int = 0) -> tuple[Record, ...]:
        """Papers in the order in which they first came in; limit −1: all."""
        return self._lexical.listing(limit, offset)

    @_plainly
    def counts(self) -> tuple[int, int]:
        """(papers, passages)."""
        return self._lexical.counts()
