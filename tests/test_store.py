"""The store on a real Chroma, in a folder and on a server, and a real SQLite: vectors and words as one.

And every way in which files, servers and other processes go wrong.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings
from fakes import KeywordEmbedder

from rag.index import index_papers
from rag.text import search_words
from rag.types import Paper
from vectorstore.dense import DenseIndex
from vectorstore.errors import StoreError, StoreMismatch, StoreMissing, StoreUnusable
from vectorstore.filter import Filter
from vectorstore.lexical import LexicalIndex
from vectorstore.manifest import SCHEMA, Manifest
from vectorstore.passage import Bibliography, Entry, Passage, Record, Vector
from vectorstore.place import Place
from vectorstore.store import FILES, VectorStore

MADE = Manifest("hand", 2, "none")
UP, RIGHT, SLANT = (0.0, 1.0), (1.0, 0.0), (0.6, 0.8)


def vector(*numbers: float) -> Vector:
    return np.array(numbers, dtype=np.float32)


def words(text: str) -> list[str]:
    return text.lower().replace(".", "").split()


def entry(passage_id: str, text: str, at: tuple[float, float] = UP, source: Bibliography | None = None) -> Entry:
    """A passage that is its paper's whole abstract; the paper's id is what stands before "#"."""
    source = source or Bibliography(passage_id.partition("#")[0], "Title")
    return Entry(Passage(passage_id, text, 0, len(text), source), vector(*at))


def record(one: Entry) -> Record:
    """The paper whose only passage it is."""
    return Record(one.passage.source, one.passage.text, f"hash of {one.passage.text}")


def put(store: VectorStore, *entries: Entry) -> None:
    """The entries, each as the one passage of its paper."""
    store.add([record(e) for e in entries], entries)


@pytest.fixture
def empty(place: str) -> Iterator[VectorStore]:
    with VectorStore.create(place, words, MADE) as created:
        yield created


def chroma_ids(store: VectorStore) -> set[str]:
    return set(store._dense._rows.get(include=[])["ids"])


def sqlite_ids(store: VectorStore) -> set[str]:
    return {i for (i,) in store._lexical._db().execute("select id from passages")}


# --- what is found ------------------------------------------------------------------------------------------------


def test_cosines_are_those_of_the_vectors(empty: VectorStore) -> None:
    put(empty, entry("a#0", "Up.", UP), entry("b#0", "Right.", RIGHT), entry("c#0", "Slant.", SLANT))
    hits = empty.search(vector(*UP), [], 3)
    assert [hit.passage.id for hit in hits] == ["a#0", "c#0", "b#0"]
    assert [hit.dense for hit in hits] == pytest.approx([1.0, 0.8, 0.0], abs=1e-6)
    opposite = empty.search(vector(0.0, -1.0), [], 3)
    assert [hit.dense for hit in opposite] == pytest.approx([0.0, -0.8, -1.0], abs=1e-6)


def test_a_passage_that_words_alone_found_has_its_exact_cosine(empty: VectorStore) -> None:
    put(empty, entry("a#0", "Up.", UP), entry("b#0", "Right.", RIGHT), entry("c#0", "Slant.", SLANT))
    hits = {hit.passage.id: hit for hit in empty.search(vector(*UP), ["slant"], 3, depth=1)}
    assert set(hits) == {"a#0", "c#0"}
    assert hits["c#0"].dense == pytest.approx(0.8, abs=1e-6)
    assert hits["c#0"].lexical > 0 == hits["a#0"].lexical


def test_space_and_telemetry_are_pinned(empty: VectorStore) -> None:
    client = empty._dense._client
    assert client.get_settings().anonymized_telemetry is False
    collection = client.get_collection(empty._place.collection, embedding_function=None)
    assert collection.configuration_json["hnsw"]["space"] == "cosine"


def test_words_are_found_by_their_stem_and_titles_count_more(empty: VectorStore) -> None:
    put(
        empty,
        entry("a#0", "Filters here really."),
        entry("b#0", "Nothing here really.", source=Bibliography("b", "Filters")),
        entry("c#0", "Nothing here either."),
    )
    lexical = {hit.passage.id: hit.lexical for hit in empty.search(vector(*UP), ["filtered"], 3)}
    assert lexical["b#0"] > lexical["a#0"] > 0
    assert lexical["c#0"] == 0
    assert [empty.document_frequency(word) for word in ("filter", "filters", "nothing", "absent")] == [2, 2, 2, 0]


def test_a_paper_is_scored_by_all_its_words_and_shown_by_its_nearest_passage(empty: VectorStore) -> None:
    source = Bibliography("a", "Title")
    first, second = (Passage("a#0", "Up here.", 0, 8, source), Passage("a#9", "Right there.", 9, 21, source))
    empty.add(
        [Record(source, "Up here. Right there.", "h")], [Entry(first, vector(*UP)), Entry(second, vector(*RIGHT))]
    )
    (hit,) = empty.search(vector(*RIGHT), ["up"], 5)
    assert hit.passage == second
    assert hit.lexical > 0
    assert empty.document_frequency("here") == 1


def test_vocabulary_is_every_word_once_in_order(empty: VectorStore) -> None:
    put(empty, entry("a#0", "Zebra and ape."), entry("b#0", "Ape and bee."))
    assert empty.vocabulary() == ("and", "ape", "bee", "title", "zebra")


ODD_WORDS = [
    '"',
    '""',
    "a*b",
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR(a b)",
    "(",
    "title_words:x",
    "-x",
    "^x",
    "a b",
    "'",
    "",
]


@pytest.mark.parametrize("word", ODD_WORDS)
def test_operators_of_the_word_index_are_words_like_others(store: VectorStore, word: str) -> None:
    query = KeywordEmbedder().embed_query("drug")
    assert len(store.search(query, [word], 5)) == 5
    assert store.search(query, [word, "cancer"], 5)[0].passage.paper_id == "cancer"
    assert store.document_frequency(word) in {0, 1}


def test_operators_are_found_where_they_stand(empty: VectorStore) -> None:
    put(empty, entry("a#0", "X and y."), entry("b#0", "Near or not."), entry("c#0", "It's a*b."))
    found = [(word, empty.document_frequency(word)) for word in ("AND", "NEAR", "NOT", "a*b", 'a"nd')]
    assert found == [("AND", 1), ("NEAR", 1), ("NOT", 1), ("a*b", 1), ('a"nd', 1)]


# --- what goes in comes out ---------------------------------------------------------------------------------------

SOURCES = [
    Bibliography("bare", "A title"),
    Bibliography("x", "Derived", untitled=True, year=0),
    Bibliography(
        "arXiv:1/2 'q\" %",
        "Quotes \"here\" and 'there'; Ünï 漢字 🙂\\ {} NULL",
        authors=("Paul Erdős", 'O\'Brien, "Bob"', "Đặng Thị 李"),
        year=1998,
        venue="Næture",
        url="https://example.org/?a=1&b=%20",
        doi="10.1000/(x)[y]<z>",
    ),
]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.paper_id)
def test_a_bibliography_comes_back_as_it_went_in(source: Bibliography, place: str) -> None:
    text = "Some “text” with ünïcödé 漢字 🙂 and 'quotes'."
    one = entry(f"{source.paper_id}#0", text, source=source)
    with VectorStore.create(place, words, MADE) as store:
        put(store, one)
    with VectorStore.open(place, words) as store:
        assert [hit.passage for hit in store.search(vector(*UP), [], 1)] == [one.passage]
        assert [hit.passage for hit in store.search(vector(*UP), ["“text”"], 1)] == [one.passage]
        assert list(store._dense.records()) == [(record(one), (one.passage,))]
        assert store.papers([source.paper_id, "no such"]) == {source.paper_id: record(one)}
        assert store.listing() == (record(one),)
        assert store.hashes() == {source.paper_id: f"hash of {text}"}


def test_listing_is_in_order_of_arrival_and_in_pages(store: VectorStore, papers: tuple[Paper, ...]) -> None:
    ids = [paper.id for paper in papers]
    assert [found.paper_id for found in store.listing()] == ids
    assert [found.paper_id for found in store.listing(2, 1)] == ids[1:3]
    assert store.listing(2, 9) == ()


# --- what replaces what -------------------------------------------------------------------------------------------


def test_a_paper_replaces_itself_in_both_indexes(empty: VectorStore) -> None:
    first = Bibliography("a", "First title", authors=("A",), year=1999)
    second = Bibliography("a", "Second title")
    whole = "Old one. Old two."
    old = [entry("a#0", "Old one.", source=first), entry("a#9", "Old two.", source=first)]
    empty.add([Record(first, whole, "old")], old)
    put(empty, entry("b#0", "Another."))
    assert empty.counts() == (2, 3)
    put(empty, entry("a#0", "New one.", RIGHT, second))
    assert chroma_ids(empty) == sqlite_ids(empty) == {"a#0", "b#0"}
    assert empty.counts() == (2, 2)
    (hit,) = empty.search(vector(*RIGHT), ["one"], 1)
    assert hit.dense == pytest.approx(1, abs=1e-6)
    assert hit.passage.text == "New one."
    assert hit.passage.source == second  # neither author nor year of the first is left
    assert (empty.document_frequency("old"), empty.document_frequency("new")) == (0, 1)


def test_remove_takes_a_paper_out_of_both_and_passes_over_others(store: VectorStore) -> None:
    before = chroma_ids(store)
    store.remove(["cancer", "no such", "bare"])
    assert chroma_ids(store) == sqlite_ids(store) == before - {"cancer#0", "bare#0"}
    assert store.counts() == (3, 3)
    assert store.document_frequency("cancer") == 0
    assert "cancer" not in store.papers(["cancer"]) | store.hashes()
    store.remove([])
    assert store.counts() == (3, 3)


def test_a_paper_that_is_being_replaced_is_seen_as_it_was(store: VectorStore, papers: tuple[Paper, ...]) -> None:
    before = store.papers(["cancer"])
    changed = entry("cancer#0", "Short.")
    store._lexical.begin(["cancer", "new"])
    assert store.pending() == {"cancer", "new"}
    assert list(store.hashes()) == ["filter", "graph", "language", "bare"]
    store._dense.add([replace(changed, vector=KeywordEmbedder().embed_query("drug"))], {"cancer": "new hash"})
    assert store.papers(["cancer"]) == before
    (hit, *_) = store.search(KeywordEmbedder().embed_query("drug"), ["cancer"], 5)
    assert hit.passage.text == papers[1].abstract
    assert store.counts()[0] == len(store.listing()) == 5


def test_vectors_without_words_are_passed_over(store: VectorStore) -> None:
    """As those of a paper that is being written for the first time."""
    store._dense.add([replace(entry("new#0", "Drug."), vector=KeywordEmbedder().embed_query("drug"))], {"new": "h"})
    hits = store.search(KeywordEmbedder().embed_query("drug"), ["drug"], 9)
    assert len(hits) == 5
    assert "new" not in {hit.passage.paper_id for hit in hits}


def test_many_search_while_one_writes(store: VectorStore, papers: tuple[Paper, ...]) -> None:
    query = KeywordEmbedder().embed_query("a drug against cancer")

    def search(_: int) -> set[str]:
        hits = store.search(query, ["drug", "cancer"], 5)
        assert all(hit.passage.text for hit in hits)
        assert len(store.papers([paper.id for paper in papers[1:]])) == 4
        return {hit.passage.paper_id for hit in hits}

    def write() -> None:
        for n in range(12):
            index_papers(store, KeywordEmbedder(), [replace(papers[0], abstract=f"The filter needs {n} particles.")])

    with ThreadPoolExecutor(8) as pool:
        writing = pool.submit(write)
        found = list(pool.map(search, range(200)))
        writing.result()
    assert all("cancer" in ids for ids in found)
    assert store.papers(["filter"])["filter"].abstract == "The filter needs 11 particles."
    assert chroma_ids(store) == sqlite_ids(store)


def test_an_index_opened_twice_is_one(stored: str) -> None:
    with VectorStore.open(stored, search_words) as one, VectorStore.open(stored, search_words) as other:
        one.remove(["cancer"])
        assert other.counts() == (4, 4)
        one.close()
        one.close()
        assert len(other.search(KeywordEmbedder().embed_query("drug"), ["drug"], 5)) == 4


# --- what goes wrong ----------------------------------------------------------------------------------------------


def one_line(error: pytest.ExceptionInfo[StoreError]) -> str:
    said = str(error.value)
    assert "\n" not in said
    return said


@pytest.mark.parametrize("make", [lambda _: None, Path.mkdir, Path.touch], ids=["nothing", "empty folder", "file"])
def test_where_no_index_is_the_command_that_makes_one_is_named(make: Callable[[Path], None], tmp_path: Path) -> None:
    folder = tmp_path / "none"
    make(folder)
    with pytest.raises(StoreMissing, match=r"there is no index at .*none; make one: footnote index PAPERS"):
        VectorStore.open(folder, words)
    assert not folder.exists() or folder.is_file() or not list(folder.iterdir())  # nothing was made on the way


def test_a_kill_before_the_first_collection_leaves_no_index(tmp_path: Path) -> None:
    chroma_at(tmp_path / "hand").close()
    with pytest.raises(StoreMissing):
        VectorStore.open(tmp_path / "hand", words)
    with VectorStore.create(tmp_path / "hand", words, MADE) as store:
        assert store.counts() == (0, 0)


def chroma_at(folder: Path) -> Any:
    return chromadb.PersistentClient(str(folder / "chroma"), Settings(anonymized_telemetry=False))


def foreign(folder: Path, metadata: dict[str, str | int] | None) -> None:
    client = chroma_at(folder)
    client.create_collection("passages", metadata=metadata, embedding_function=None)
    client.close()


def test_a_collection_of_another_program_is_refused(tmp_path: Path) -> None:
    foreign(tmp_path / "theirs", None)
    with pytest.raises(StoreMismatch, match=r"theirs holds a Chroma collection that Footnote did not make"):
        VectorStore.open(tmp_path / "theirs", words)


def test_an_index_of_another_schema_is_refused(tmp_path: Path) -> None:
    foreign(tmp_path / "later", MADE.as_metadata() | {"footnote_schema": SCHEMA + 1})
    with pytest.raises(StoreMismatch, match=r"rebuild it: footnote index --rebuild PAPERS"):
        VectorStore.open(tmp_path / "later", words)


def overwrite(path: Path, start: int) -> None:
    """Garbage from `start` on, as long as the file was."""
    raw = path.read_bytes()
    path.write_bytes(raw[:start] + bytes(i * 37 % 256 for i in range(start, len(raw))))


@pytest.mark.parametrize("start", [0, 8192], ids=["all", "all but the head"])
@pytest.mark.parametrize("name", ["chroma/chroma.sqlite3", "words.sqlite"])
def test_a_damaged_file_is_said_in_one_line(name: str, start: int, store_folder: Path) -> None:
    overwrite(store_folder / name, start)
    with pytest.raises(StoreUnusable) as caught, VectorStore.open(store_folder, search_words) as store:
        store.search(KeywordEmbedder().embed_query("drug"), ["drug"], 5)
    said = one_line(caught)
    assert said.startswith(f"the index at {store_folder} cannot be used: ")
    assert said.endswith("if it is damaged, rebuild it: footnote index --rebuild PAPERS")


def test_damage_that_shows_only_later_is_said_too(store_folder: Path) -> None:
    with VectorStore.open(store_folder, search_words) as store:
        db = store._lexical._db()
        db.execute("drop table words_data")
        db.commit()
        calls: list[Callable[[], object]] = [
            lambda: store.search(KeywordEmbedder().embed_query("drug"), ["drug"], 5),
            lambda: store.document_frequency("drug"),
            lambda: store.remove(["cancer"]),
        ]
        for call in calls:
            with pytest.raises(StoreUnusable, match=r"cannot be used: .*footnote index --rebuild PAPERS"):
                call()


def test_a_collection_that_was_deleted_is_said_too(store: VectorStore) -> None:
    store._dense._client.delete_collection(store._place.collection)
    for call in (lambda: store.search(vector(*[0.0] * 9), ["drug"], 5), lambda: store.remove(["cancer"])):
        with pytest.raises(StoreUnusable, match="cannot be used"):
            call()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        with pytest.raises(StoreUnusable, match=f"cannot write an index to {folder}: .*--index") as caught:
            VectorStore.create(folder, words, MADE)
        one_line(caught)


def test_a_busy_word_index_is_said_in_one_line(store: VectorStore) -> None:
    store._lexical._db().execute("pragma busy_timeout = 50")
    other = sqlite3.connect(store._place.folder / "words.sqlite")
    try:
        other.execute("begin exclusive")
        with pytest.raises(StoreUnusable, match="database is locked"):
            store.remove(["cancer"])
    finally:
        other.close()


def test_an_index_consists_of_the_files_it_says(store_folder: Path) -> None:
    with VectorStore.open(store_folder, search_words):
        assert {path.name for path in store_folder.iterdir()} <= FILES
    assert {path.name for path in store_folder.iterdir()} == {"chroma", "words.sqlite", "writer.lock"}


def test_a_store_that_is_closed_lets_go_of_its_files(store_folder: Path) -> None:
    if not OPEN_FILES.is_dir():
        pytest.skip("open files can be listed on Linux alone")
    store = VectorStore.open(store_folder, search_words)
    assert held(store_folder)
    store.close()
    until = monotonic() + 10  # Chroma closes its files in a thread of its own
    while held(store_folder) and monotonic() < until:
        sleep(0.05)
    assert not held(store_folder)


OPEN_FILES = Path("/proc/self/fd")


def held(folder: Path) -> list[str]:
    """The files below the folder that this process has open."""
    return [name for f in OPEN_FILES.iterdir() if (name := os.path.realpath(f)).startswith(f"{folder}/")]


def test_the_two_indexes_stand_alone(tmp_path: Path) -> None:
    """An entry goes through each by itself: what VectorStore joins is no more than these."""
    one = entry("a#0", "Alone here.", SLANT)
    dense = DenseIndex.create(Place.of(tmp_path), MADE)
    dense.add([one], {"a": "h"})
    assert dense.count() == 1
    assert dense.cosines(["a#0"], vector(*RIGHT)) == pytest.approx({"a#0": 0.6})
    assert dense.cosines([], vector(*RIGHT)) == {}
    dense.remove([])
    dense.remove(["a#0", "none"])
    assert dense.count() == 0
    dense.close()
    lexical = LexicalIndex(tmp_path, words)
    lexical.settle([record(one)], [one.passage])
    assert lexical.search(["alone", "alone"], 3, Filter()) == ("a",)
    assert lexical.search([], 3, Filter()) == ()
    lexical.close()
