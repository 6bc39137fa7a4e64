"""How many papers the words of an index stand in, remembered for as long as nothing is written to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


class Counts:
    """What BM25 has to know of all papers, by one connection to the words of an index."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._state = (-1, -1)
        self._frequencies: dict[str, int] = {}
        self._size: tuple[int, float] | None = None

    def frequencies(self, stems: Iterable[str]) -> dict[str, int]:
        """Stem → the number of papers that it stands in, rarest first, without those that stand in none."""
        self._forget()
        for stem in stems:
            if stem not in self._frequencies:
                query = "select count(*) from words where words match ?"
                self._frequencies[stem] = int(self._db.execute(query, (quoted(stem),)).fetchone()[0])
        found = {stem: self._frequencies[stem] for stem in stems}
        return dict(sorted((item for item in found.items() if item[1]), key=lambda item: item[1]))

    def size(self) -> tuple[int, float]:
        """(papers, their words on average)."""
        self._forget()
        if self._size is None:
            papers, mean_length = self._db.execute("select count(*), avg(length) from papers").fetchone()
            self._size = int(papers), float(mean_length or 0)
        return self._size

    def _forget(self) -> None:
        # SQLite counts what other connections have committed, and what this one has changed.
        state = self._db.execute("pragma data_version").fetchone()[0], self._db.total_changes
        if state != self._state:
            self._state, self._size = state, None
            self._frequencies.clear()


def quoted(word: str) -> str:
    """The word as FTS5's query language takes it."""
    return '"' + word.replace('"', "") + '"'
