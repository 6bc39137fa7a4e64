"""Vectors and words that have come apart, other machines, other writers, and servers that are not there."""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from chroma_server import ChromaServer, chroma_server, free_port
from fakes import KeywordEmbedder

from rag.errors import BackendError, UsageError
from rag.index import Repair, _entries, content_hash, index_papers, repair
from rag.opening import opened_for_writing
from rag.retrieve import retrieve
from rag.text import search_words
from rag.types import Paper
from vectorstore import lock
from vectorstore.errors import StoreError, StoreLocked, StoreMissing, StoreUnusable
from vectorstore.manifest import Manifest
from vectorstore.passage import Record
from vectorstore.place import Place
from vectorstore.store import VectorStore

QUERY = KeywordEmbedder().embed_query("drug")
LONG = " ".join(f"Sentence {n} tells of a drug against cancer and of little else." for n in range(30))


def opened(place: str) -> VectorStore:
    return VectorStore.open(place, search_words)


def run(place: str, papers: Sequence[Paper], embedder: KeywordEmbedder | None = None, *, prune: bool = False) -> None:
    with opened_for_writing(place, "keyword", lambda _: embedder or KeywordEmbedder()) as (store, maker):
        index_papers(store, maker, papers, prune=prune)


def as_it_should_be(place: str, papers: Sequence[Paper]) -> None:
    """The index holds these papers, found by words and by vectors, and is sound."""
    with opened(place) as store:
        assert {record.paper_id: Paper.of(record) for record in store.listing()} == {p.id: p for p in papers}
        assert store.hashes() == {paper.id: content_hash(paper) for paper in papers}
        assert store.check() == (frozenset(), frozenset())
        assert store.pending() == frozenset()
        found = retrieve(store, KeywordEmbedder(), "drug", 50)
        assert {hit.passage.paper_id for hit in found} == {paper.id for paper in papers}


# --- words that were lost -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["deleted", "emptied"])
def test_words_that_were_lost_are_made_again(
    stored: str, papers: tuple[Paper, ...], how: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    folder = Place.of(stored).folder
    how(folder / "words.sqlite")
    as_it_should_be(stored, papers)
    assert [r.getMessage() for r in caplog.records] == (
        [] if Place.of(stored).host else [f"the words of the index at {stored} were lost; making them from its vectors"]
    )


def test_making_the_words_is_all_or_nothing(store: VectorStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a kill in the middle never leaves words of some of the papers."""
    rows = tuple(store._dense.records())

    def torn(_: object = None) -> Iterator[object]:
        yield from rows[:3]
        raise OSError("the cable was pulled")

    monkeypatch.setattr(store._dense, "records", torn)
    with pytest.raises(OSError, match="cable"):
        store._upkeep._reread()
    assert store.counts() == (5, 5)


def test_many_that_open_a_fresh_mirror_at_once_all_see_the_whole(
    server: ChromaServer, papers: tuple[Paper, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = server.place("test-many")
    run(place, papers)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))

    def count(_: int) -> tuple[int, int]:
        with opened(place) as store:
            return store.counts()

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(count, range(12))) == {(5, 5)}


# --- repairs ------------------------------------------------------------------------------------------------------


def records_of(papers: Sequence[Paper]) -> dict[str, str]:
    return {paper.id: content_hash(paper) for paper in papers}


def put_vectors(store: VectorStore, paper: Paper, keep: int | None = None) -> None:
    """All a paper's vectors; then only the last `keep` stay."""
    entries = _entries(KeywordEmbedder(), [paper])
    store._dense.add(entries, records_of([paper]))
    if keep is not None:
        store._dense.remove([entry.passage.id for entry in entries[:-keep]])


NEW = Paper("new#1", "A new one", LONG)
CHANGED = Paper("cancer", "A drug against cancer in mice", LONG)


def vectors_missing(store: VectorStore) -> None:
    store._dense.remove(["cancer#0", "bare#0"])


def stray_vector(store: VectorStore) -> None:
    entry = _entries(KeywordEmbedder(), [Paper("cancer", "x", "Stray.")])[0]
    passage = replace(entry.passage, id="cancer#77")
    store._dense.add([replace(entry, passage=passage)], {"cancer": "stray"})


def half_a_paper(store: VectorStore) -> None:
    put_vectors(store, NEW, keep=1)


def words_missing(store: VectorStore) -> None:
    store._lexical.remove(["cancer"])


def begun(store: VectorStore) -> None:
    store._lexical.begin(["cancer"])


def begun_and_vectors_gone(store: VectorStore) -> None:
    begun(store)
    store._dense.remove(["cancer#0"])


def begun_and_half_changed(store: VectorStore) -> None:
    begun(store)
    put_vectors(store, CHANGED, keep=1)


def begun_and_changed(store: VectorStore) -> None:
    begun(store)
    put_vectors(store, CHANGED)


def new_and_written(store: VectorStore) -> None:
    store._lexical.begin([NEW.id])
    put_vectors(store, NEW)


def new_and_half_written(store: VectorStore) -> None:
    store._lexical.begin([NEW.id])
    half_a_paper(store)


def new_and_only_begun(store: VectorStore) -> None:
    store._lexical.begin([NEW.id])


def all_at_once(store: VectorStore) -> None:
    store._dense.remove(["graph#0"])
    store._lexical.remove(["language"])
    stray_vector(store)
    new_and_half_written(store)


DAMAGES: list[tuple[Callable[[VectorStore], None], Repair, Paper | None]] = [
    (lambda _: None, Repair(), None),
    (vectors_missing, Repair(embedded=2), None),
    (stray_vector, Repair(removed=1), None),
    (half_a_paper, Repair(removed=1), None),
    (words_missing, Repair(restored=1), None),
    (begun, Repair(restored=1), None),
    (begun_and_vectors_gone, Repair(embedded=1), None),
    (begun_and_half_changed, Repair(embedded=1, removed=1), None),
    (begun_and_changed, Repair(restored=1), CHANGED),
    (new_and_written, Repair(restored=1), NEW),
    (new_and_half_written, Repair(removed=1, lost=("new#1",)), None),
    (new_and_only_begun, Repair(lost=("new#1",)), None),
    (all_at_once, Repair(restored=1, embedded=1, removed=2, lost=("new#1",)), None),
]


@pytest.mark.parametrize(("damage", "done", "also"), DAMAGES, ids=[damage.__name__ for damage, _, _ in DAMAGES])
def test_a_repair_makes_whole_what_can_be(
    stored: str, papers: tuple[Paper, ...], damage: Callable[[VectorStore], None], done: Repair, also: Paper | None
) -> None:
    asked: list[str] = []

    def make(spec: str) -> KeywordEmbedder:
        asked.append(spec)
        return KeywordEmbedder()

    with opened(stored) as store:
        damage(store)
        assert repair(store, make) == done
        assert repair(store, make) == Repair()
    assert asked == ["keyword"] * bool(done.embedded)
    now = {paper.id: paper for paper in papers} | ({also.id: also} if also else {})
    as_it_should_be(stored, tuple(now.values()))


@pytest.mark.parametrize("damage", [vectors_missing, stray_vector, half_a_paper, words_missing])
def test_what_is_not_sound_is_noticed_when_it_is_opened(
    stored: str, damage: Callable[[VectorStore], None], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(stored) as store:
        damage(store)
    assert caplog.records == []
    with opened(stored), opened(stored):
        pass
    said = f"words and vectors of the index at {stored} differ: footnote index --check --index {stored}"
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [(logging.WARNING, said)] * 2


@pytest.mark.parametrize("damage", [begun_and_vectors_gone, begun_and_changed, new_and_written])
def test_what_is_being_written_is_not_unsound(
    stored: str, damage: Callable[[VectorStore], None], caplog: pytest.LogCaptureFixture
) -> None:
    with opened(stored) as store:
        damage(store)
    with opened(stored):
        pass
    assert caplog.records == []


def test_nobody_is_warned_while_another_writes(stored: str, caplog: pytest.LogCaptureFixture) -> None:
    with opened(stored) as store:
        vectors_missing(store)
        with store.writing(), opened(stored):
            pass
    assert caplog.records == []


# --- one writer at a time -----------------------------------------------------------------------------------------


def test_a_second_writer_is_told_who_the_first_is_and_readers_go_on(stored: str, papers: tuple[Paper, ...]) -> None:
    with opened(stored) as one, opened(stored) as other:
        with one.writing():
            with pytest.raises(
                StoreLocked, match=rf"is being written by process {os.getpid()} of \w+ on .*wait"
            ) as said:
                index_papers(other, KeywordEmbedder(), papers)
            assert "\n" not in str(said.value)
            with pytest.raises(StoreLocked):
                repair(other, KeywordEmbedder)
            assert len(other.search(QUERY, ["drug"], 9)) == 5
            as_it_should_be(stored, papers)
        index_papers(other, KeywordEmbedder(), papers)


def hold(folder: Path, held: threading.Event) -> None:
    with lock.writing(folder):
        held.set()
        signal.pause()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    process = context.Process(target=hold, args=(tmp_path, held))
    process.start()
    assert held.wait(60)
    with pytest.raises(StoreLocked, match=f"process {process.pid} of "), lock.writing(tmp_path):
        pass
    process.kill()
    process.join()
    process.close()
    assert (tmp_path / lock.HOLDER).exists()
    with lock.writing(tmp_path):
        pass
    assert not (tmp_path / lock.HOLDER).exists()


def test_a_user_without_a_name_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs as some number."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    with lock.writing(tmp_path):
        assert "of somebody on" in (tmp_path / lock.HOLDER).read_text("utf-8")


def test_a_rebuild_while_another_writes_is_refused(store_folder: Path, papers: tuple[Paper, ...]) -> None:
    with (
        opened(str(store_folder)) as store,
        store.writing(),
        pytest.raises(StoreLocked, match="is being written by process"),
        opened_for_writing(store_folder, None, KeywordEmbedder, rebuild=True),
    ):
        pass
    as_it_should_be(str(store_folder), papers)


def test_nobody_writes_to_an_index_that_was_rebuilt_meanwhile(store_folder: Path, papers: tuple[Paper, ...]) -> None:
    with opened(str(store_folder)) as late:
        with opened_for_writing(store_folder, None, KeywordEmbedder, rebuild=True) as (store, embedder):
            index_papers(store, embedder, papers[:2])
        with pytest.raises(StoreLocked, match="was rebuilt just now by another process; run it again"):
            index_papers(late, KeywordEmbedder(), papers)
    as_it_should_be(str(store_folder), papers[:2])


def test_two_that_make_the_same_index_at_once_make_one(place: str, papers: tuple[Paper, ...]) -> None:
    made = Manifest("keyword", 9, "none")
    with VectorStore.create(place, search_words, made) as one, VectorStore.create(place, search_words, made) as other:
        one.add([Record(papers[0].bibliography, papers[0].abstract, "h")], _entries(KeywordEmbedder(), papers[:1]))
        assert other.counts() == (1, 1)


# --- other machines -----------------------------------------------------------------------------------------------


class Machines:
    """Moves from machine to machine; each has a user's cache, and so a mirror, of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._monkeypatch, self._folder = monkeypatch, folder

    def at(self, name: str) -> None:
        self._monkeypatch.setenv("XDG_CACHE_HOME", str(self._folder / name))


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machines:
    return Machines(monkeypatch, tmp_path)


def test_a_second_machine_sees_what_the_first_wrote_changed_and_removed(
    server: ChromaServer, papers: tuple[Paper, ...], machines: Machines
) -> None:
    place = server.place("test-sees")
    machines.at("first")
    run(place, papers)
    machines.at("second")
    as_it_should_be(place, papers)
    machines.at("first")
    now = (replace(papers[0], abstract="A drug and a filter.", year=None), *papers[2:], NEW)
    run(place, now, prune=True)
    machines.at("second")
    as_it_should_be(place, now)
    assert Place.of(place).folder.is_relative_to(machines._folder / "second")
    embedder = KeywordEmbedder()
    run(place, now, embedder)
    assert embedder.embedded == 0


def test_a_mirror_that_is_level_is_not_made_again(
    server: ChromaServer, papers: tuple[Paper, ...], machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = server.place("test-level")
    for machine in ("first", "second"):
        machines.at(machine)
        run(place, papers)
    monkeypatch.setattr("vectorstore.upkeep.Upkeep._reread", lambda _: pytest.fail("was made again"))
    for machine in ("first", "second"):
        machines.at(machine)
        run(place, papers)
        as_it_should_be(place, papers)


STOPS: list[Callable[[VectorStore], None]] = [begun_and_half_changed, begun_and_changed, new_and_half_written, begun]


@pytest.mark.parametrize("stop", STOPS)
def test_a_second_machine_takes_up_a_batch_that_the_first_was_killed_in(
    server: ChromaServer,
    papers: tuple[Paper, ...],
    machines: Machines,
    stop: Callable[[VectorStore], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    place = server.place(f"test-stop-{stop.__name__}")
    for machine in ("first", "second"):  # both mirrors are level
        machines.at(machine)
        run(place, papers)
    machines.at("first")
    with opened(place) as store:
        store._upkeep.announce()
        machines.at("second")
        with opened(place):
            pass  # this mirror is level with a run that goes on
        stop(store)
    now = (*papers, replace(NEW, abstract="This one is short."))
    run(place, now)
    assert [f"a run of process {os.getpid()} on " in r.getMessage() for r in caplog.records] == [True]
    for machine in ("second", "first", "third"):
        machines.at(machine)
        as_it_should_be(place, now)
        run(place, now)


def test_a_second_machine_takes_up_a_run_that_failed(
    server: ChromaServer, papers: tuple[Paper, ...], machines: Machines
) -> None:
    place = server.place("test-failed")
    many = [*papers, *(replace(NEW, id=f"new-{n}", abstract=f"A drug, number {n}.") for n in range(200))]
    machines.at("first")
    with pytest.raises(BackendError):
        run(place, many, KeywordEmbedder(fails_after=128))
    machines.at("second")
    embedder = KeywordEmbedder()
    run(place, many, embedder)
    assert embedder.embedded == len(many) - 128
    for machine in ("first", "second"):
        machines.at(machine)
        with opened(place) as store:
            assert store.counts()[0] == len(many)
            assert store.check() == (frozenset(), frozenset())


def test_an_index_on_a_server_is_not_rebuilt_in_place(server: ChromaServer) -> None:
    with (
        pytest.raises(UsageError, match="index into another name than chroma:http"),
        opened_for_writing(server.place("test-rebuild"), None, KeywordEmbedder, rebuild=True),
    ):
        pass


# --- servers that are not there -----------------------------------------------------------------------------------


def one_line(error: pytest.ExceptionInfo[StoreError]) -> str:
    said = str(error.value)
    assert "\n" not in said
    return said


def test_where_no_server_answers_host_and_port_are_named() -> None:
    port = free_port()
    place = f"chroma:http://127.0.0.1:{port}/papers"
    for call in (lambda: opened(place), lambda: VectorStore.create(place, search_words, Manifest("x", 2, "none"))):
        with pytest.raises(StoreUnusable) as caught:
            call()
        assert one_line(caught) == (
            f"no Chroma server answers at 127.0.0.1, port {port}; start one: chroma run --path FOLDER"
        )


class Other(BaseHTTPRequestHandler):
    """A server of another kind."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_server_of_another_kind_is_no_chroma_server() -> None:
    with HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with pytest.raises(StoreUnusable, match=f"no Chroma server answers at 127.0.0.1, port {other.server_port}"):
            opened(f"chroma:http://127.0.0.1:{other.server_port}/papers")
        other.shutdown()


def test_a_server_without_the_index_says_how_to_make_it(server: ChromaServer) -> None:
    place = server.place("test-nothing")
    with pytest.raises(StoreMissing, match=f"there is no index at {place}; make one: footnote index PAPERS"):
        opened(place)


def test_a_server_that_goes_in_the_middle_is_said_in_one_line(tmp_path: Path, papers: tuple[Paper, ...]) -> None:
    (tmp_path / "server").mkdir()
    with chroma_server(tmp_path / "server") as server:
        place = server.place("papers")
        run(place, papers)
        with opened(place) as store:
            assert len(store.search(QUERY, ["drug"], 9)) == 5
            server.stop()
            calls: list[Callable[[], object]] = [
                lambda: store.search(QUERY, ["drug"], 9),
                lambda: store.remove(["cancer"]),
                lambda: index_papers(store, KeywordEmbedder(), papers),
            ]
            for call in calls:
                with pytest.raises(StoreUnusable) as caught:
                    call()
                said = one_line(caught)
                assert said.startswith(f"the index at {place} cannot be used: ")
                assert said.endswith("; see that the Chroma server runs, and that its disk has room")


def test_a_server_that_comes_back_has_all(tmp_path: Path, papers: tuple[Paper, ...]) -> None:
    (tmp_path / "server").mkdir()
    with chroma_server(tmp_path / "server") as server:
        run(server.place("papers"), papers)
    shutil.copytree(tmp_path / "server", tmp_path / "moved")
    with chroma_server(tmp_path / "moved") as server:
        as_it_should_be(server.place("papers"), papers)


PLACES = [
    ("chroma:http://host:9000/my-papers", ("host", 9000, False, "my-papers")),
    ("chroma:http://host/my-papers/", ("host", 8000, False, "my-papers")),
    ("chroma:https://h.example.org:443/a.b_c", ("h.example.org", 443, True, "a.b_c")),
    ("chroma:http://[::1]:8000/abc", ("::1", 8000, False, "abc")),
]


@pytest.mark.parametrize(("text", "parts"), PLACES)
def test_a_place_on_a_server(text: str, parts: tuple[object, ...]) -> None:
    place = Place.of(text)
    assert (place.host, place.port, place.ssl, place.collection) == parts
    assert place.text == text


@pytest.mark.parametrize(
    "text",
    ["chroma:", "chroma:host:8000/abc", "chroma:http:///abc", "chroma:http://host:8000", "chroma:http://host:8000/ab",
     "chroma:ftp://host/abc", "chroma:http://host:99999/abc", "chroma:http://host:x/abc", "chroma:http://host/a b c"],
)  # fmt: skip
def test_what_names_no_place_is_said_in_one_line(text: str) -> None:
    with pytest.raises(StoreUnusable) as caught:
        Place.of(text)
    assert one_line(caught).startswith(text)
