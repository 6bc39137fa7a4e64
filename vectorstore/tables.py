"""The SQLite file of an index's words and papers: its name, its tables, and how it is opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from vectorstore.bm25 import TITLE_WEIGHT
from vectorstore.errors import StoreUnusable

NAME = "words.sqlite"
_PATIENCE = 30  # seconds that a connection waits for another's transaction
_TABLES = """
create table if not exists papers (
    n integer primary key, id text not null unique, hash text not null,
    title text not null, untitled integer not null, authors text not null, year integer, venue text not null,
    url text not null, doi text not null, abstract text not null,
    author_words text not null, venue_words text not null, title_words text not null, text_words text not null,
    length integer not null);
create index if not exists papers_by_source on papers (year, venue_words, author_words);
create index if not exists papers_by_length on papers (length);
create table if not exists pending (id text primary key) without rowid;
create table if not exists state (name text primary key, value text not null) without rowid;
create table if not exists passages (
    n integer primary key, id text not null unique, paper integer not null references papers (n),
    start integer not null, end integer not null);
create index if not exists passages_of_paper on passages (paper);
create table if not exists vocabulary (word text primary key) without rowid;
create virtual table if not exists words using fts5 (
    title_words, text_words, content = 'papers', content_rowid = 'n', tokenize = 'unicode61');
create trigger if not exists words_added after insert on papers begin
    insert into words (rowid, title_words, text_words) values (new.n, new.title_words, new.text_words);
end;
create trigger if not exists words_removed after delete on papers begin
    insert into words (words, rowid, title_words, text_words)
    values ('delete', old.n, old.title_words, old.text_words);
end;
create trigger if not exists words_changed after update on papers begin
    insert into words (words, rowid, title_words, text_words)
    values ('delete', old.n, old.title_words, old.text_words);
    insert into words (rowid, title_words, text_words) values (new.n, new.title_words, new.text_words);
end;
"""
_RANK = f"insert into words (words, rank) values ('rank', 'bm25({TITLE_WEIGHT}, 1.0)')"  # noqa: S608


def connect(path: Path) -> sqlite3.Connection:
    """A connection to the file, which is made when it is not there; StoreUnusable when it cannot be."""
    try:
        db = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
    except sqlite3.Error as error:
        raise StoreUnusable.at(path.parent, error, path.parent) from error
    try:
        if not db.execute("select 1 from sqlite_master where name = 'words'").fetchone():
            db.execute("pragma journal_mode = wal")
            db.executescript(f"begin immediate; {_TABLES} {_RANK}; commit;")  # another may be doing the same
        db.execute("pragma synchronous = full")  # what is pending must be on the disk before Chroma's rows are
    except sqlite3.Error as error:
        db.close()
        raise StoreUnusable.at(path.parent, error, path.parent) from error
    return db
