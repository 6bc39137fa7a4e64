"""The words of an index: BM25 as SQLite counts it, candidates by the rarer words, counts that follow the writes."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import vectorstore.lexical
from vectorstore.bm25 import BM25
from vectorstore.filter import Filter
from vectorstore.lexical import LexicalIndex
from vectorstore.manifest import Manifest
from vectorstore.passage import Bibliography, Entry, Passage, Record
from vectorstore.stem import stem
from vectorstore.store import VectorStore

ALL = Filter()
WORDS = [f"w{i}" for i in range(60)]


def words(text: str) -> list[str]:
    return text.lower().replace(".", "").split()


def record(paper_id: str, abstract: str, title: str = "", year: int | None = None) -> Record:
    return Record(Bibliography(paper_id, title, year=year), abstract, f"{title} {abstract}")


def put(index: LexicalIndex, *records: Record) -> None:
    index.settle(records, [Passage(f"{r.paper_id}#0", r.abstract, 0, len(r.abstract), r.source) for r in records])


def random_records(count: int, seed: int = 1) -> list[Record]:
    """Papers of words that are the rarer the higher their number; every second one is of 2020."""
    choose = random.Random(seed)  # noqa: S311
    weights = [1 / (i + 1) for i in range(len(WORDS))]

    def text(length: int) -> str:
        return " ".join(choose.choices(WORDS, weights, k=length))

    return [record(f"p{n}", text(choose.randint(5, 40)), text(3), 2020 + n % 2) for n in range(count)]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[LexicalIndex]:
    made = LexicalIndex(tmp_path, words)
    yield made
    made.close()


@pytest.fixture
def full(index: LexicalIndex, monkeypatch: pytest.MonkeyPatch) -> LexicalIndex:
    monkeypatch.setattr(vectorstore.lexical, "_POSTINGS", 10_000)
    put(index, *random_records(200))
    return index


# --- BM25 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", [["w3"], ["w40", "w3", "w40"], ["w59", "w0"], WORDS, ["w7", "absent"]])
def test_scores_are_those_of_sqlite_itself(question: list[str], full: LexicalIndex) -> None:
    match = " OR ".join(dict.fromkeys(question))
    query = "select p.id, -f.rank from words f join papers p on p.n = f.rowid where words match ?"
    theirs = dict(full._db().execute(query, (match,)))
    ours = full.scores([f"p{n}" for n in range(200)], question)
    assert len(ours) == 200
    assert {paper: score for paper, score in ours.items() if score > 0} == pytest.approx(theirs, rel=1e-6)


def test_a_score_worked_out_by_hand() -> None:
    # idf ln((10 − 2 + 0.5) / (2 + 0.5)) = 1.2238; two in the text and one, times 3, in the title: 5; of mean length.
    assert BM25(10, 8.0, {"filter": 2}).score("filter here", "filter a filter b c d", 8) == pytest.approx(
        1.2238 * 5 * 2.2 / (5 + 1.2), rel=1e-3
    )


def test_no_words_and_no_papers_score_nothing(index: LexicalIndex) -> None:
    assert index.scores(["p"], ["word"]) == {}
    put(index, record("p", "Some text."))
    assert index.scores(["p", "none"], []) == index.scores(["p"], ["absent"]) == {"p": 0.0}
    put(index, record("p", "..."))
    assert index.scores(["p"], ["some"]) == {"p": 0.0}


@pytest.mark.parametrize(
    ("word", "cut"),
    [("models", "model"), ("generalises", "generalis"), ("gpt4o", "gpt4o"), ("57240", "57240"), ("模型", "模型")],
)
def test_stems(word: str, cut: str) -> None:
    assert stem(word) == cut


def test_spelling_sees_words_and_not_stems(index: LexicalIndex) -> None:
    put(index, record("p", "Generalising models."))
    assert index.vocabulary() == ("generalising", "models")


# --- candidates ---------------------------------------------------------------------------------------------------


def test_candidates_are_the_best_by_all_words_while_these_are_rare(full: LexicalIndex) -> None:
    question = ["w40", "w50", "w12"]
    scores = full.scores([f"p{n}" for n in range(200)], question)
    best = sorted((paper for paper in scores if scores[paper] > 0), key=lambda paper: -scores[paper])
    assert [scores[paper] for paper in full.search(question, 7, ALL)] == [scores[paper] for paper in best[:7]]
    assert set(full.search(question, 500, ALL)) == set(best)


def test_frequent_words_find_nothing_by_themselves_once_the_rare_are_enough(
    full: LexicalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    rare, frequent = (full.document_frequency(word) for word in ("w50", "w0"))
    monkeypatch.setattr(vectorstore.lexical, "_POSTINGS", rare)
    assert len(full.search(["w0", "w50"], 500, ALL)) == rare < frequent
    assert len(full.search(["w0"], 500, ALL)) == frequent  # but the rarest is always asked for


def test_under_a_filter_frequent_words_step_in_where_the_rare_find_too_little(
    index: LexicalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(index, record("old", "rare frequent", year=2001), record("new", "frequent", year=2024))
    monkeypatch.setattr(vectorstore.lexical, "_POSTINGS", 1)
    assert index.search(["rare", "frequent"], 5, ALL) == ("old",)
    assert index.search(["rare", "frequent"], 5, Filter(first_year=2020)) == ("new",)
    assert index.search(["rare", "frequent"], 5, Filter(last_year=2020)) == ("old",)


def test_a_filter_leaves_what_meets_it(full: LexicalIndex) -> None:
    found = full.search(WORDS, 500, Filter(first_year=2021))
    assert found
    assert {int(paper[1:]) % 2 for paper in found} == {1}
    assert set(found) < set(full.search(WORDS, 500, ALL))


# --- counts -------------------------------------------------------------------------------------------------------


def test_counts_follow_what_this_and_other_processes_write(index: LexicalIndex, tmp_path: Path) -> None:
    put(index, record("a", "apple"))
    assert index.document_frequency("apples") == 1
    put(index, record("b", "apple pear"))
    assert index.document_frequency("apples") == 2
    other = LexicalIndex(tmp_path, words)
    put(other, record("c", "apple"))
    other.close()
    assert index.document_frequency("apples") == 3
    index.remove(["a", "b"])
    assert (index.document_frequency("apples"), index.document_frequency("pear")) == (1, 0)


def test_counts_are_remembered_in_between(full: LexicalIndex) -> None:
    full.document_frequency("w1")
    asked: list[str] = []
    full._db().set_trace_callback(asked.append)
    full.document_frequency("w1")
    full._db().set_trace_callback(None)
    assert [query for query in asked if "count" in query] == []


def test_mean_length_is_read_from_an_index_alone(full: LexicalIndex) -> None:
    db: sqlite3.Connection = full._db()
    plan = " ".join(row[3] for row in db.execute("explain query plan select count(*), avg(length) from papers"))
    assert "COVERING INDEX papers_by_length" in plan  # not all abstracts


# --- both halves --------------------------------------------------------------------------------------------------


def test_leaving_out_what_cannot_win_changes_no_hit(tmp_path: Path) -> None:
    """The first k of a search for k are those of a search for all, scores included."""
    draw = np.random.default_rng(3)
    records = random_records(300, seed=2)
    vectors = draw.normal(size=(300, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    entries = [
        Entry(Passage(f"{r.paper_id}#0", r.abstract, 0, len(r.abstract), r.source), vector)
        for r, vector in zip(records, vectors, strict=True)
    ]
    with VectorStore.create(tmp_path, words, Manifest("hand", 8, "none")) as store:
        store.add(records, entries)
        for number in range(20):
            question = [WORDS[i] for i in draw.integers(0, 60, size=4)]
            whole = store.search(vectors[number], question, 300, depth=10)
            assert len(whole) > 10
            for k in (1, 3, 8):
                assert store.search(vectors[number], question, k, depth=10) == whole[:k]
