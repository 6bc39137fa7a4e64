"""Indexing: only what is new or changed is embedded, and whatever kills a run, the next one ends where it should."""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from fakes import KeywordEmbedder

from eval import kill_test
from rag.embed import make_embedder
from rag.errors import BackendError, LoadError
from rag.index import Report, content_hash, index_papers
from rag.load import Reject, load_papers
from rag.opening import opened_for_writing
from rag.split import split
from rag.text import search_words
from rag.types import Paper
from ui.cli import status
from vectorstore.errors import StoreMismatch, StoreMissing, StoreUnusable
from vectorstore.filter import Filter
from vectorstore.passage import Record
from vectorstore.store import VectorStore


def passages(papers: Iterable[Paper]) -> set[str]:
    return {passage.id for paper in papers for passage in split(paper)}


def run(
    place: str | Path,
    papers: Iterable[Paper | Reject],
    embedder: KeywordEmbedder | None = None,
    *,
    prune: bool = False,
    rebuild: bool = False,
) -> tuple[Report, int]:
    """One indexing run: its report, and how many texts were embedded."""
    embedder = embedder or KeywordEmbedder()
    with opened_for_writing(place, embedder.spec, lambda _: embedder, rebuild=rebuild) as (store, maker):
        report = index_papers(store, maker, papers, prune=prune)
    return report, embedder.embedded


def counted(report: Report) -> tuple[int, int, int, int]:
    return report.new, report.changed, report.unchanged, report.removed


def check_whole(place: str | Path, papers: Sequence[Paper]) -> None:
    """The index holds these papers and nothing else, in Chroma and in SQLite alike."""
    with VectorStore.open(place, search_words) as store:
        assert store.hashes() == {paper.id: content_hash(paper) for paper in papers}
        assert store.pending() == frozenset()
        assert {r.paper_id: Paper.of(r) for r in store.listing()} == {paper.id: paper for paper in papers}
        in_chroma = store._dense._rows.get(include=[])["ids"]
        in_sqlite = [i for (i,) in store._lexical._db().execute("select id from passages")]
        assert sorted(in_chroma) == sorted(in_sqlite) == sorted(passages(papers))
        assert dict(store._dense.records()) == {
            Record(paper.bibliography, paper.abstract, content_hash(paper)): split(paper) for paper in papers
        }
        assert store.check() == (frozenset(), frozenset())
        for paper in papers[:3]:
            assert found_by(store, paper) == {name: set() if name in absent(paper) else {paper.id} for name in FIELDS}


FIELDS = ("year", "venue", "authors")


def absent(paper: Paper) -> set[str]:
    return {name for name in FIELDS if not getattr(paper, name)}


def found_by(store: VectorStore, paper: Paper) -> dict[str, set[str]]:
    """The paper, by each filter that Chroma has for it; as nothing else has to be there that was there before."""
    any_year, every = Filter(first_year=1), {"venue": "venue_words", "authors": "author_words"}
    rows = store._dense._rows.get(where={"paper_id": paper.id}, include=["metadatas"])["metadatas"]
    found = {name: {paper.id for row in rows if row.get(field)} for name, field in every.items()}
    query = np.ones(store.manifest.dim, np.float32)
    dense = store._dense.search(query, 10_000, replace(any_year, papers=(paper.id,)))
    return {"year": {paper.id for _ in dense}} | found


@pytest.fixture
def made(place: str, papers: tuple[Paper, ...]) -> str:
    """The place of an index over `papers`; on both engines."""
    report, embedded = run(place, papers)
    assert (counted(report), embedded) == ((5, 0, 0, 0), 5)
    return place


@pytest.fixture
def folder(tmp_path: Path, papers: tuple[Paper, ...]) -> Path:
    """The folder of an index over `papers`."""
    run(tmp_path / "index", papers)
    return tmp_path / "index"


# --- increments ---------------------------------------------------------------------------------------------------


def test_a_new_index_holds_all_papers(made: str, papers: tuple[Paper, ...]) -> None:
    check_whole(made, papers)


@pytest.mark.parametrize("order", [1, -1])
def test_the_second_time_nothing_is_embedded(made: str, papers: tuple[Paper, ...], order: int) -> None:
    report, embedded = run(made, papers[::order])
    assert (counted(report), embedded) == ((0, 0, 5, 0), 0)
    check_whole(made, papers)


CHANGES: list[dict[str, object]] = [
    {"abstract": " ".join(["Now it is another text."] * 100)},
    {"title": "Another title"},
    {"authors": ("Somebody Else",)},
    {"authors": ()},
    {"year": None},
    {"venue": ""},
    {"untitled": True},
    {"url": "https://example.org/moved"},
    {"doi": ""},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_changed_paper_is_embedded_alone(made: str, papers: tuple[Paper, ...], change: dict[str, object]) -> None:
    changed = replace(papers[1], **change)  # type: ignore[arg-type]
    now = (papers[0], changed, *papers[2:])
    report, embedded = run(made, now)
    assert (counted(report), embedded) == ((0, 1, 4, 0), len(split(changed)))
    check_whole(made, now)
    assert counted(run(made, papers)[0]) == (0, 1, 4, 0)
    check_whole(made, papers)


def test_a_new_paper_is_embedded_alone(made: str, papers: tuple[Paper, ...]) -> None:
    new = Paper("new", "A new one", "Proofs about particles are new. They are short.")
    report, embedded = run(made, [new])
    assert (counted(report), embedded) == ((1, 0, 0, 0), 1)
    check_whole(made, [*papers, new])


def test_prune_removes_what_is_no_longer_there(made: str, papers: tuple[Paper, ...]) -> None:
    report, embedded = run(made, papers[:2], prune=True)
    assert (counted(report), embedded) == ((0, 0, 2, 3), 0)
    check_whole(made, papers[:2])


def test_prune_removes_what_a_killed_run_had_begun(made: str, papers: tuple[Paper, ...]) -> None:
    with VectorStore.open(made, search_words) as store:
        store._lexical.begin([papers[0].id])
    assert counted(run(made, papers[1:], prune=True)[0]) == (0, 0, 4, 1)
    check_whole(made, papers[1:])


def test_rejects_are_collected_and_the_rest_goes_in(place: str, papers: tuple[Paper, ...]) -> None:
    rejects = [Reject(f"x.jsonl:{n}", "it", "has no abstract") for n in range(3)]
    report, _ = run(place, [rejects[0], *papers[:3], rejects[1], *papers[3:], rejects[2]])
    assert report.rejects == rejects
    assert (counted(report), report.seen) == ((5, 0, 0, 0), 5)
    check_whole(place, papers)


def test_progress_grows_batch_by_batch(place: str) -> None:
    seen: list[int] = []
    with opened_for_writing(place, None, lambda _: KeywordEmbedder()) as (store, embedder):
        report = index_papers(store, embedder, generated(300), progress=lambda r: seen.append(r.seen))
    assert seen == sorted(set(seen))
    assert len(seen) == 3
    assert seen[-1] == report.new == 300
    assert report.seconds > 0


def test_papers_stream_through(place: str) -> None:
    """Batches are written while later papers have not been read yet."""
    read: list[int] = []

    def papers() -> Iterator[Paper]:
        for n, paper in enumerate(generated(400)):
            read.append(n)
            yield paper

    first: list[int] = []
    with opened_for_writing(place, None, lambda _: KeywordEmbedder()) as (store, embedder):
        index_papers(store, embedder, papers(), progress=lambda _: first.append(len(read)))
    assert first[0] < 200


# --- another embedder, and rebuilding -----------------------------------------------------------------------------


def test_an_index_is_opened_with_its_own_embedder(folder: Path) -> None:
    asked: list[str] = []

    def make(spec: str) -> KeywordEmbedder:
        asked.append(spec)
        return KeywordEmbedder()

    with opened_for_writing(folder, None, make):
        pass
    with opened_for_writing(folder, None, make, rebuild=True):
        pass
    assert asked == ["keyword", "keyword"]


def test_a_new_index_is_made_with_the_default_embedder(tmp_path: Path) -> None:
    with opened_for_writing(tmp_path / "index", None, KeywordEmbedder) as (_, embedder):
        assert embedder.spec == "minilm"


def test_another_embedder_is_refused_and_the_way_out_works(folder: Path, papers: tuple[Paper, ...]) -> None:
    with pytest.raises(StoreMismatch, match=r"keyword, not other; .* footnote index --rebuild --embedder other PAPERS"):
        run(folder, papers, KeywordEmbedder("other"))
    check_whole(folder, papers)
    assert counted(run(folder, papers[:4], KeywordEmbedder("other"), rebuild=True)[0]) == (4, 0, 0, 0)
    check_whole(folder, papers[:4])
    with VectorStore.open(folder, search_words) as store:
        assert store.manifest.embedder == "other"
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith("index")] == ["index"]


def test_a_rebuild_that_fails_leaves_the_old_index_and_nothing_else(folder: Path, papers: tuple[Paper, ...]) -> None:
    more = [*papers, *generated(200)]
    with pytest.raises(BackendError):
        run(folder, more, KeywordEmbedder("other", fails_after=128), rebuild=True)
    check_whole(folder, papers)
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith("index")] == ["index"]
    assert run(folder, papers)[1] == 0


@pytest.mark.parametrize("left", ["index.old", "index.new"])
def test_what_a_killed_rebuild_left_does_not_stop_the_next(folder: Path, papers: tuple[Paper, ...], left: str) -> None:
    run(folder.with_name(left), papers[:1])
    run(folder, papers[:3], rebuild=True)
    check_whole(folder, papers[:3])
    assert not folder.with_name(left).exists()


def test_a_rebuild_killed_between_its_last_steps_loses_nothing(folder: Path, papers: tuple[Paper, ...]) -> None:
    folder.rename(folder.with_name("index.old"))
    run(folder.with_name("index.new"), papers[:3])
    report, embedded = run(folder, papers)
    assert (counted(report), embedded) == ((0, 0, 5, 0), 0)
    check_whole(folder, papers)


def test_a_damaged_index_can_be_rebuilt(folder: Path, papers: tuple[Paper, ...]) -> None:
    (folder / "chroma" / "chroma.sqlite3").write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreUnusable, match="footnote index --rebuild"):
        run(folder, papers)
    run(folder, papers, rebuild=True)
    check_whole(folder, papers)


def test_a_rebuild_in_the_current_folder(
    folder: Path, papers: tuple[Paper, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    run(Path(), papers[:2], rebuild=True)
    check_whole(folder, papers[:2])


def test_a_rebuild_keeps_a_link_a_link(folder: Path, papers: tuple[Paper, ...], tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    run(link, papers[:2], rebuild=True)
    assert link.is_symlink()
    check_whole(folder, papers[:2])


def test_a_rebuild_deletes_nothing_but_an_index(folder: Path, papers: tuple[Paper, ...], tmp_path: Path) -> None:
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreUnusable, match=r"would delete 'thesis.tex' at .*index; .*--index"):
        run(folder, papers, rebuild=True)
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreUnusable, match=r"would delete 'thesis.tex'"):
        run(tmp_path / "thesis.tex", papers, rebuild=True)
    assert (folder / "thesis.tex").read_text() == (tmp_path / "thesis.tex").read_text() == "years of work"
    check_whole(folder, papers)


# --- interruptions ------------------------------------------------------------------------------------------------


def generated(number: int, words: int = 60) -> list[Paper]:
    """Papers of several sentences, always the same."""
    dice = random.Random(7)  # noqa: S311 - no secret
    vocabulary = "particle filter cancer drug graph proof language model rain hill the of a".split()
    papers = []
    for n in range(number):
        text = " ".join(dice.choices(vocabulary, k=words))
        papers.append(Paper(f"paper-{n}", f"Paper number {n}", f"This is {n}. The {text}. Then {text}."))
    return papers


@pytest.mark.parametrize("after", [0, 128, 260, 299])
def test_a_run_that_fails_is_taken_up(place: str, after: int) -> None:
    papers = generated(300)
    with pytest.raises(BackendError):
        run(place, papers, KeywordEmbedder(fails_after=after))
    report, embedded = run(place, papers)
    assert report.new + report.unchanged == 300
    assert report.unchanged == after // 128 * 128
    assert embedded == report.new
    check_whole(place, papers)


@pytest.mark.parametrize("step", ["_dense.add", "_dense.remove", "_lexical.settle"])
def test_a_write_that_stops_at_any_step_can_be_taken_back(
    made: str, papers: tuple[Paper, ...], step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise OSError("the power went")

    before = (replace(papers[0], abstract=generated(1, words=200)[0].abstract), *papers[1:])
    run(made, before)
    with VectorStore.open(made, search_words) as store:
        part, name = step.split(".")
        monkeypatch.setattr(getattr(store, part), name, stop)
        with pytest.raises(StoreUnusable, match="the power went"):
            index_papers(store, KeywordEmbedder(), papers)
    run(made, before)
    check_whole(made, before)


INDEXES_UNTIL_KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import chromadb, langchain_chroma, rag.index
from test_index import long, run, short
rag.index._BATCH = 16  # many moments between batches
for _ in sys.stdin:
    if child := os.fork():
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)
    while not child:
        run(sys.argv[1], long(120))
        run(sys.argv[1], short(120))
"""


def long(number: int) -> list[Paper]:
    """Papers of two passages each."""
    return generated(number, words=90)


def short(number: int) -> list[Paper]:
    """The same papers with one passage each."""
    return [replace(paper, abstract=f"{paper.title} is short now.") for paper in long(number)]


def test_kill_9_at_any_moment_loses_and_doubles_nothing(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random()  # noqa: S311 - another moment every time is the point
    command = [sys.executable, "-c", INDEXES_UNTIL_KILLED, place, str(Path(__file__).parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(5):
            process.stdin.write("go\n")
            child = int(process.stdout.readline())
            sleep(after := dice.uniform(0, 1.5))
            os.kill(child, signal.SIGKILL)
            assert int(process.stdout.readline()) == signal.SIGKILL, f"it ended by itself within {after:.3f} s"
        process.stdin.close()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another machine"))
    report, embedded = run(place, long(120))
    assert report.new + report.changed + report.unchanged == 120
    assert embedded == 2 * (report.new + report.changed)
    check_whole(place, long(120))


def test_real_runs_that_are_killed_lose_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert kill_test.main(["--runs", "3", "--papers", "60", "--seed", str(random.randrange(10**6))]) == 0  # noqa: S311
    assert capsys.readouterr().out == "3 kills: 0 lost, 0 duplicated, both indexes agree\n"


@pytest.mark.parametrize("damage", ["lost", "words", "vectors"])
def test_the_kill_test_itself_notices(damage: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "papers.jsonl", generated(3))
    run(tmp_path / "index", load_papers([str(tmp_path / "papers.jsonl")]))
    kill_test._count(tmp_path, sound := kill_test.Tally(1))
    assert str(sound) == "1 kills: 0 lost, 0 duplicated, both indexes agree"
    with VectorStore.open(tmp_path / "index", search_words) as store:
        first, *_ = store.hashes()
        if damage == "lost":
            store.remove([first])
        elif damage == "words":
            store._lexical.remove([first])
        else:
            store._dense.remove([f"{first}#0"])
    kill_test._count(tmp_path, found := kill_test.Tally(1))
    assert found.disagree == 1
    assert found.lost == (damage != "vectors")


def write_jsonl(path: Path, papers: Iterable[Paper]) -> None:
    rows = ({"id": paper.id, "title": paper.title, "abstract": paper.abstract} for paper in papers)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


# --- a full disk --------------------------------------------------------------------------------------------------


MOUNT = shutil.which("mount") if hasattr(os, "geteuid") and os.geteuid() == 0 else None
INDEX = (sys.executable, "-c", "from ui.cli import main; main()", "index")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 8 MB of its own, where this user may mount one; elsewhere a folder."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = [MOUNT, "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder] if MOUNT else ["false"]
    mounted = subprocess.run(mount, check=False, stderr=subprocess.DEVNULL).returncode == 0
    yield folder
    if mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_full_disk_is_said_in_one_line_and_the_next_run_goes_on(disk: Path, tmp_path: Path) -> None:
    """Where no disk can be mounted, no file may grow: what a quota does."""
    place, papers, mounted = disk / "index", short(200), disk.is_mount()
    with opened_for_writing(place, "minilm", make_embedder) as (store, embedder):
        index_papers(store, embedder, papers[:1])
    write_jsonl(tmp_path / "papers.jsonl", papers)
    command = [*INDEX, "--index", str(place), str(tmp_path / "papers.jsonl")]
    room = 300_000
    largest = (place / "chroma" / "chroma.sqlite3").stat().st_size + room

    def limit_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))

    if mounted:
        (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - room))
    full = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=None if mounted else limit_files
    )
    assert (full.returncode, full.stdout) == (1, "")
    (line,) = full.stderr.splitlines()
    assert line.startswith(f"footnote: the index at {place} cannot be used: ")
    assert not mounted or line.endswith("the disk is full: make room, and run it again; what is indexed so far is kept")
    (disk / "ballast").unlink(missing_ok=True)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.endswith("holds 200 papers\n")
    check_whole(place, [p for p in load_papers([str(tmp_path / "papers.jsonl")]) if isinstance(p, Paper)])


# --- files --------------------------------------------------------------------------------------------------------

WRONG = {"empty.jsonl": b"", "picture.jsonl": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 50, "none.jsonl": None}


@pytest.mark.parametrize("name", WRONG)
def test_the_wrong_file_leaves_no_index(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = WRONG[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(LoadError):
        list(load_papers([name]))
    assert status(["index", name, "--index", "made"]) == 1
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1
    assert not Path("made").exists()
    with pytest.raises(StoreMissing):
        VectorStore.open("made", search_words)
