"""The words of an index, and its list of papers, in one SQLite file beside Chroma's.

SQLite's FTS5 is as durable as Chroma's own SQLite file: transactions, incremental updates, BM25. It finds candidates by
the rarer words of a question, at a cost that does not grow with the index; the BM25 of all words is then counted for
the candidates alone. The file also knows which papers are being written (`pending`), so that an indexing run that was
killed can be taken up. All that stands here can be made again from Chroma's rows.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path

from vectorstore.bm25 import BM25
from vectorstore.counts import Counts, quoted
from vectorstore.filter import Filter, author_keys, name_words
from vectorstore.passage import Bibliography, Passage, Record
from vectorstore.stem import stem
from vectorstore.tables import NAME, connect

_PART = 500  # papers written at a time
Words = Callable[[str], Iterable[str]]
_POSTINGS = 1500  # (word, paper) pairs that candidates are looked for among; FTS5 ranks about 500 a millisecond
_COLUMNS = (
    "id", "hash", "title", "untitled", "authors", "year", "venue", "url", "doi", "abstract",
    "author_words", "venue_words", "title_words", "text_words", "length",
)  # fmt: skip
_PUT = (
    f"insert into papers ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
    f" on conflict (id) do update set {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])}"
)
_SOURCE = "p.id, p.title, p.untitled, p.authors, p.year, p.venue, p.url, p.doi"
_RECORD = f"{_SOURCE}, p.abstract, p.hash"


class LexicalIndex:
    """Papers by their words, and what they consist of. words: turns text into the words that are indexed for it."""

    def __init__(self, folder: Path, words: Words) -> None:
        self._path = folder / NAME
        self._words = words
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._db()

    def _db(self) -> sqlite3.Connection:
        # One connection a thread: the chat page answers several people at once.
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = connect(self._path)
            self._opened.append(db)
        return db

    def _counts(self) -> Counts:
        db = self._db()
        counts: Counts | None = getattr(self._local, "counts", None)
        if counts is None:
            counts = self._local.counts = Counts(db)
        return counts

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._opened:
            self._opened.pop().close()
        self._local = threading.local()

    def begin(self, paper_ids: Iterable[str]) -> None:
        """Note papers whose passages are about to be written or removed; readers go on seeing them as they were."""
        with self._db() as db:
            db.executemany("insert or ignore into pending values (?)", [(paper_id,) for paper_id in paper_ids])

    def settle(self, records: Sequence[Record], passages: Sequence[Passage]) -> None:
        """Write papers with all their passages, in place of what they were, and end their pending."""
        with self._db() as db:
            self._write(db, records, passages)

    def _write(self, db: sqlite3.Connection, records: Sequence[Record], passages: Sequence[Passage]) -> None:
        words = [(tuple(self._words(r.source.title)), tuple(self._words(r.abstract))) for r in records]
        rows = [self._row(record, *both) for record, both in zip(records, words, strict=True)]
        ids = [(record.paper_id,) for record in records]
        db.executemany(_PUT, rows)
        db.executemany("delete from passages where paper = (select n from papers where id = ?)", ids)
        db.executemany(
            "insert into passages (id, paper, start, end) values (?, (select n from papers where id = ?), ?, ?)",
            [(p.id, p.paper_id, p.start, p.end) for p in passages],
        )
        seen = {word for both in words for part in both for word in part}
        db.executemany("insert or ignore into vocabulary values (?)", [(word,) for word in seen])
        db.executemany("delete from pending where id = ?", ids)

    def _row(self, record: Record, title: Sequence[str], text: Sequence[str]) -> tuple[object, ...]:
        b = record.source
        return (
            *(b.paper_id, record.hash, b.title, b.untitled, json.dumps(b.authors, ensure_ascii=False)),
            *(b.year, b.venue, b.url, b.doi, record.abstract),
            *(f" {' '.join(names)} " for names in (author_keys(b.authors), name_words(b.venue))),
            *(" ".join(map(stem, words)) for words in (title, text)),
            len(title) + len(text),
        )

    def remove(self, paper_ids: Sequence[str]) -> None:
        """Take papers and their passages out, and end their pending; ids that are not there are passed over."""
        ids = [(paper_id,) for paper_id in paper_ids]
        with self._db() as db:
            db.executemany("delete from passages where paper = (select n from papers where id = ?)", ids)
            db.executemany("delete from papers where id = ?", ids)
            db.executemany("delete from pending where id = ?", ids)

    def replace(self, papers: Iterable[tuple[Record | str, Sequence[Passage]]], revision: str) -> None:
        """Put these papers in place of all there are, those that are only an id as pending, in one transaction."""
        rows = iter(papers)
        with self._db() as db:
            for table in ("passages", "papers", "pending", "vocabulary"):
                db.execute(f"delete from {table}")  # noqa: S608
            while part := tuple(islice(rows, _PART)):
                whole = [(record, passages) for record, passages in part if isinstance(record, Record)]
                self._write(db, [record for record, _ in whole], [p for _, passages in whole for p in passages])
                torn = [(record,) for record, _ in part if isinstance(record, str)]
                db.executemany("insert or ignore into pending values (?)", torn)
            db.execute("insert or replace into state values ('revision', ?)", (revision,))

    def hashes(self) -> dict[str, str]:
        """Paper id → hash, for the papers that are wholly in the index."""
        return dict(self._db().execute("select id, hash from papers where id not in (select id from pending)"))

    def pending(self) -> frozenset[str]:
        """The papers that were begun and not settled, because the run was killed or is still going on."""
        return frozenset(paper_id for (paper_id,) in self._db().execute("select id from pending"))

    def search(self, words: Sequence[str], k: int, only: Filter) -> tuple[str, ...]:
        """The ids of the k papers that share most with the words, by the rarer of them, best first."""
        frequencies = self._counts().frequencies([stem(word) for word in words])
        if not frequencies:
            return ()
        running = accumulate(frequencies.values())
        rare = [word for word, postings in zip(frequencies, running, strict=True) if postings <= _POSTINGS]
        found = self._found(rare or list(frequencies)[:1], k, only)
        if only and len(found) < k and len(rare) < len(frequencies):
            found = self._found(list(frequencies), k, only)  # all that the rarer words stand in may be filtered out
        return found

    def _found(self, stems: Sequence[str], k: int, only: Filter) -> tuple[str, ...]:
        match = " OR ".join(map(quoted, stems))
        if only:
            condition, values = only.sql()
            found = f"select p.id from words f join papers p on p.n = f.rowid where words match ? and {condition}"  # noqa: S608
            rows = self._db().execute(f"{found} order by f.rank limit ?", (match, *values, k))
        else:
            found = "select rowid, rank as r from words where words match ? order by rank limit ?"
            join = f"select p.id from ({found}) f join papers p on p.n = f.rowid order by f.r"  # noqa: S608
            rows = self._db().execute(join, (match, k))
        return tuple(paper_id for (paper_id,) in rows)

    def scores(self, paper_ids: Collection[str], words: Sequence[str]) -> dict[str, float]:
        """The BM25 of papers with all the words, for those ids that are there; 0 when they share none."""
        frequencies = self._counts().frequencies([stem(word) for word in words])
        bm25 = BM25(*self._counts().size(), frequencies)
        query = "select id, title_words, text_words, length from papers where id in (select value from json_each(?))"
        rows = self._db().execute(query, (json.dumps(list(paper_ids)),))
        return {paper_id: bm25.score(title, text, length) for paper_id, title, text, length in rows}

    def matching(self, only: Filter) -> int:
        """How many papers a filter leaves."""
        condition, values = only.sql()
        return int(self._db().execute(f"select count(*) from papers p where {condition}", values).fetchone()[0])  # noqa: S608

    def stated(self) -> frozenset[str]:
        """What is known of some of the papers, out of "year", "venue" and "author"."""
        highest = "select max(year), trim(max(venue_words)), trim(max(author_words)) from papers"
        told = zip(("year", "venue", "author"), self._db().execute(highest).fetchone(), strict=True)
        return frozenset(what for what, found in told if found)

    def document_frequency(self, word: str) -> int:
        """In how many papers a word (its stem) stands."""
        return self._counts().frequencies([stem(word)]).get(stem(word), 0)

    def vocabulary(self) -> tuple[str, ...]:
        """Every word that the index has met, in alphabetical order."""
        return tuple(word for (word,) in self._db().execute("select word from vocabulary order by word"))

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Passage id → passage, for those ids that are there."""
        return {p.id: p for p in self._passages("s.id", ids)}

    def paper_ids(self, passage_ids: Sequence[str]) -> dict[str, str]:
        """Passage id → paper id, for those passages that are there."""
        return self._owners("s.id", passage_ids)

    def passage_ids_of(self, paper_ids: Sequence[str]) -> dict[str, str]:
        """Passage id → paper id, for all passages of papers."""
        return self._owners("p.id", paper_ids)

    def _owners(self, column: str, values: Sequence[str]) -> dict[str, str]:
        query = (
            "select s.id, p.id from passages s join papers p on p.n = s.paper"  # noqa: S608
            f" where {column} in (select value from json_each(?))"
        )
        return dict(self._db().execute(query, (json.dumps(list(values)),)))

    def passages_of(self, paper_ids: Sequence[str]) -> tuple[Passage, ...]:
        """The passages of papers."""
        return tuple(self._passages("p.id", paper_ids))

    def _passages(self, column: str, values: Sequence[str]) -> Iterator[Passage]:
        query = (
            f"select s.id, substr(p.abstract, s.start + 1, s.end - s.start), s.start, s.end, {_SOURCE}"  # noqa: S608
            f" from passages s join papers p on p.n = s.paper where {column} in (select value from json_each(?))"
        )
        for row in self._db().execute(query, (json.dumps(list(values)),)):
            yield Passage(row[0], row[1], row[2], row[3], _bibliography(row[4:12]))

    def passage_ids(self) -> Iterator[str]:
        """The ids of all passages."""
        return (passage_id for (passage_id,) in self._db().execute("select id from passages"))

    def papers(self, paper_ids: Sequence[str]) -> dict[str, Record]:
        """Paper id → record, for those ids that are there."""
        query = f"select {_RECORD} from papers p where p.id in (select value from json_each(?))"  # noqa: S608
        return {row[0]: _record(row) for row in self._db().execute(query, (json.dumps(list(paper_ids)),))}

    def listing(self, limit: int, offset: int) -> tuple[Record, ...]:
        """Papers in the order in which they first came in; limit −1: all."""
        query = f"select {_RECORD} from papers p order by p.n limit ? offset ?"  # noqa: S608
        return tuple(_record(row) for row in self._db().execute(query, (limit, offset)))

    def counts(self) -> tuple[int, int]:
        """(papers, passages)."""
        count = "select (select count(*) from papers), (select count(*) from passages)"
        papers, passages = self._db().execute(count).fetchone()
        return int(papers), int(passages)

    @property
    def revision(self) -> str:
        """The revision of Chroma's rows that this file is level with; "" when none was noted."""
        row = self._db().execute("select value from state where name = 'revision'").fetchone()
        return str(row[0]) if row else ""

    def mark(self, revision: str) -> None:
        """Note the revision."""
        with self._db() as db:
            db.execute("insert or replace into state values ('revision', ?)", (revision,))


def _record(row: Sequence[object]) -> Record:
    return Record(_bibliography(row[:8]), str(row[8]), str(row[9]))


def _bibliography(row: Sequence[object]) -> Bibliography:
    paper_id, title, untitled, authors, year, venue, url, doi = row
    people = tuple(json.loads(str(authors)))
    when = int(str(year)) if year is not None else None
    return Bibliography(str(paper_id), str(title), bool(untitled), people, when, str(venue), str(url), str(doi))
