"""The words of an index, and its list of papers, in one SQLite file beside Chroma's.

SQLite's FTS5 is as durable as Chroma's own SQLite file: transactions, incremental updates, BM25. The file also
says which papers are wholly in the index (`settled`), so that an indexing run that was killed can be taken up.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from vectorstore.errors import StoreUnusable
from vectorstore.passage import Bibliography, Entry, Passage

# Weight of a title's words against the text's: 2 gave nDCG@10 0.687 alone on SciFact dev.
_TITLE_WEIGHT = 2.0
_TABLES = """
create table if not exists papers (
    n integer primary key, id text not null unique, hash text not null, settled integer not null,
    title text not null, untitled integer not null, authors text not null, year integer, venue text not null,
    url text not null, doi text not null, abstract text not null);
create table if not exists passages (
    n integer primary key, id text not null unique, paper integer not null references papers (n),
    start integer not null, end integer not null, title_words text not null, text_words text not null);
create index if not exists passages_of_paper on passages (paper);
create table if not exists vocabulary (word text primary key) without rowid;
create virtual table if not exists words using fts5 (
    title_words, text_words, content = 'passages', content_rowid = 'n', tokenize = 'porter unicode61');
create trigger if not exists words_added after insert on passages begin
    insert into words (rowid, title_words, text_words) values (new.n, new.title_words, new.text_words);
end;
create trigger if not exists words_removed after delete on passages begin
    insert into words (words, rowid, title_words, text_words)
    values ('delete', old.n, old.title_words, old.text_words);
end;
"""
_RANK = f"insert into words (words, rank) values ('rank', 'bm25({_TITLE_WEIGHT}, 1.0)')"  # noqa: S608
_PAPER = "p.id, p.title, p.untitled, p.authors, p.year, p.venue, p.url, p.doi"


class LexicalIndex:
    """Passages by their words, and the papers they are from."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "words.sqlite"
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._db()

    def _db(self) -> sqlite3.Connection:
        # One connection a thread: the chat page answers several people at once.
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = _connect(self._path)
            self._opened.append(db)
        return db

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._opened:
            self._opened.pop().close()
        self._local = threading.local()

    def begin(self, papers: Sequence[tuple[Bibliography, str, str]]) -> None:
        """Note papers, as (bibliography, abstract, hash), whose passages are about to be written: not settled yet."""
        rows = [
            (b.paper_id, digest, b.title, b.untitled, json.dumps(b.authors, ensure_ascii=False))
            + (b.year, b.venue, b.url, b.doi, abstract)
            for b, abstract, digest in papers
        ]
        with self._db() as db:
            db.executemany(
                "insert into papers (id, hash, settled, title, untitled, authors, year, venue, url, doi, abstract)"
                " values (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?)"
                " on conflict (id) do update set hash = excluded.hash, settled = 0, title = excluded.title,"
                " untitled = excluded.untitled, authors = excluded.authors, year = excluded.year,"
                " venue = excluded.venue, url = excluded.url, doi = excluded.doi, abstract = excluded.abstract",
                rows,
            )

    def settle(self, entries: Sequence[Entry]) -> None:
        """Write the passages of papers that were begun, in place of their old ones, and settle the papers."""
        ids = {e.passage.paper_id for e in entries}
        with self._db() as db:
            numbers = {i: db.execute("select n from papers where id = ?", (i,)).fetchone()[0] for i in ids}
            db.executemany("delete from passages where paper = ?", [(n,) for n in numbers.values()])
            db.executemany(
                "insert into passages (id, paper, start, end, title_words, text_words) values (?, ?, ?, ?, ?, ?)",
                [
                    (e.passage.id, numbers[e.passage.paper_id], e.passage.start, e.passage.end)
                    + (e.title_words, e.text_words)
                    for e in entries
                ],
            )
            seen = {word for e in entries for word in f"{e.title_words} {e.text_words}".split()}
            db.executemany("insert or ignore into vocabulary values (?)", [(word,) for word in seen])
            db.executemany("update papers set settled = 1 where n = ?", [(n,) for n in numbers.values()])

    def remove(self, paper_ids: Sequence[str]) -> None:
        """Take papers and their passages out; ids that are not there are passed over."""
        with self._db() as db:
            for paper_id in paper_ids:
                db.execute("delete from passages where paper = (select n from papers where id = ?)", (paper_id,))
                db.execute("delete from papers where id = ?", (paper_id,))

    def settled_hashes(self) -> dict[str, str]:
        """Paper id → hash, for the papers that are wholly in the index."""
        return dict(self._db().execute("select id, hash from papers where settled = 1"))

    def unsettled(self) -> frozenset[str]:
        """The papers that were begun and not settled, because the run was killed or is still going on."""
        return frozenset(paper_id for (paper_id,) in self._db().execute("select id from papers where settled = 0"))

    def search(self, words: Sequence[str], k: int) -> Iterator[tuple[Passage, float]]:
        """The k passages that share most with the words, best first, each with its BM25 score (above 0)."""
        if not words:
            return
        match = " OR ".join(_quoted(word) for word in dict.fromkeys(words))
        query = (
            f"select s.id, substr(p.abstract, s.start + 1, s.end - s.start), s.start, s.end, {_PAPER}, f.score"  # noqa: S608
            " from (select rowid, -rank as score from words where words match ? order by rank limit ?) f"
            " join passages s on s.n = f.rowid join papers p on p.n = s.paper"
            # The abstract of a paper that is not settled is the new one already, the offsets are the old.
            " where p.settled = 1 order by f.score desc"
        )
        for row in self._db().execute(query, (match, k)):
            yield Passage(row[0], row[1], row[2], row[3], _bibliography(row[4:12])), float(row[12])

    def document_frequency(self, word: str) -> int:
        """In how many passages a word (its stem) stands."""
        query = "select count(*) from words where words match ?"
        return int(self._db().execute(query, (_quoted(word),)).fetchone()[0])

    def vocabulary(self) -> tuple[str, ...]:
        """Every word that the index has met, in alphabetical order."""
        return tuple(word for (word,) in self._db().execute("select word from vocabulary order by word"))

    def papers(self, paper_ids: Sequence[str]) -> dict[str, tuple[Bibliography, str]]:
        """Paper id → (bibliography, abstract), for those ids that are there."""
        marks = ", ".join("?" * len(paper_ids))
        rows = self._db().execute(
            f"select {_PAPER}, p.abstract from papers p where p.settled = 1 and p.id in ({marks})",  # noqa: S608
            list(paper_ids),
        )
        return {row[0]: (_bibliography(row[:8]), row[8]) for row in rows}

    def listing(self, limit: int, offset: int) -> tuple[tuple[Bibliography, str], ...]:
        """Papers with their abstracts, in the order in which they first came in; limit −1: all."""
        rows = self._db().execute(
            f"select {_PAPER}, p.abstract from papers p where p.settled = 1 order by p.n limit ? offset ?",  # noqa: S608
            (limit, offset),
        )
        return tuple((_bibliography(row[:8]), row[8]) for row in rows)

    def counts(self) -> tuple[int, int]:
        """(settled papers, passages)."""
        papers = self._db().execute("select count(*) from papers where settled = 1").fetchone()[0]
        return int(papers), int(self._db().execute("select count(*) from passages").fetchone()[0])


def _connect(path: Path) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(path, timeout=30, check_same_thread=False)
        db.executescript("pragma journal_mode = wal; pragma synchronous = normal;")
        if not db.execute("select 1 from sqlite_master where name = 'words'").fetchone():
            db.executescript(_TABLES + _RANK)
    except sqlite3.Error as error:
        raise StoreUnusable.at(path.parent, error) from error
    return db


def _quoted(word: str) -> str:
    return '"' + word.replace('"', "") + '"'


def _bibliography(row: Sequence[object]) -> Bibliography:
    paper_id, title, untitled, authors, year, venue, url, doi = row
    people = tuple(json.loads(str(authors)))
    when = int(str(year)) if year is not None else None
    return Bibliography(str(paper_id), str(title), bool(untitled), people, when, str(venue), str(url), str(doi))
