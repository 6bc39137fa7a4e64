"""The `footnote` command: every command, its errors one line each, and a few real processes."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import ascii_lowercase

import pytest
from jsonschema import Draft202012Validator

from rag.answer_json import paper_json
from rag.text import search_words
from rag.types import Paper
from ui.cli import status
from vectorstore.store import VectorStore

MINED = "How many MCP repositories did the fault study mine?"
FILTER = "Which filter avoids the partition function?"
FRANCE = "What is the capital of France?"
COMMANDS = ("index", "ask", "search", "chat", "serve", "llms", "papers", "config")
SCRIPT = str(Path(sys.executable).with_name("footnote"))
ANSWER = Draft202012Validator(json.loads((files("rag") / "data" / "answer.schema.json").read_text("utf-8")))


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.err.splitlines()


class Footnote:
    """Runs the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done:
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        self._capsys.readouterr()
        code = status(list(arguments))
        captured = self._capsys.readouterr()
        assert "Traceback" not in captured.err
        return Done(code, captured.out, captured.err)

    def fails(self, *arguments: str, code: int, stdin: bytes = b"") -> str:
        """The one line that it says."""
        done = self(*arguments, stdin=stdin)
        assert (done.code, done.out) == (code, "")
        (line,) = done.lines
        assert line.startswith("footnote: ")
        return line.removeprefix("footnote: ")


@pytest.fixture
def footnote(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Footnote:
    monkeypatch.setenv("COLUMNS", "80")
    return Footnote(capsys, monkeypatch)


@pytest.fixture
def sampled(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample index is the default one."""
    monkeypatch.setenv("FOOTNOTE_INDEX", str(sample_index))
    return sample_index


def write(name: str, *rows: object) -> str:
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    Path(name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return name


def prose(seed: str, length: int = 20) -> str:
    """Words that no other seed gives."""
    chance = random.Random(seed)  # noqa: S311 - a test wants the same each time
    return " ".join("".join(chance.choices(ascii_lowercase, k=6)) for _ in range(length)).capitalize() + "."


def paper(title: str, more: str = "") -> dict[str, str]:
    return {"title": title, "abstract": prose(title) + more}


# --- index --------------------------------------------------------------------------------------------------------


def test_index_a_file_and_again(footnote: Footnote) -> None:
    first = footnote("index", write("p.jsonl", paper("Mice"), paper("Rats")), "--index", "ix")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("2 new, in ")
    assert first.out.endswith(" s; the index at ix holds 2 papers\n")
    changed = [paper("Mice", " It was good."), paper("Rats"), paper("Cats")]
    again = footnote("index", write("p.jsonl", *changed), "--index", "ix")
    assert again.code == 0
    assert "the index at ix holds" in again.out
    assert "1 unchanged" in again.out
    pruned = footnote("index", write("p.jsonl", paper("Rats")), "--index", "ix", "--prune")
    assert "1 unchanged" in pruned.out
    assert pruned.out.endswith("the index at ix holds 1 paper\n")
    rebuilt = footnote("index", "p.jsonl", "--index", "ix", "--rebuild")
    assert rebuilt.out.startswith("1 new, in ")
    assert sorted(path.name for path in Path().iterdir()) == ["ix", "p.jsonl"]


def test_index_the_sample_twice(footnote: Footnote, sampled: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(sampled, tmp_path / "mine")
    done = footnote("index", "--sample", "--index", str(mine))
    assert done.code == 0
    assert done.out.startswith("19 unchanged, in ")
    assert done.out.endswith("holds 19 papers\n")


def test_index_standard_input(footnote: Footnote) -> None:
    text = f"{prose('first')}\n\n{prose('second')}\n"
    done = footnote("index", "-", "--index", "ix", stdin=text.encode())
    assert (done.code, done.out[:6]) == (0, "2 new,")


def test_the_default_index_is_made_where_config_says(footnote: Footnote) -> None:
    assert footnote("index", write("p.jsonl", paper("Mice"))).code == 0
    where = footnote("config").out.splitlines()[0].split()[1]
    assert Path(where).is_dir()
    assert footnote("papers").out.startswith("Mice\n")


MIXED = (paper("Mice"), {"title": "Empty"}, "not json", paper("Rats"))


def test_rejects_are_named_by_file_and_line_and_the_rest_goes_in(footnote: Footnote) -> None:
    done = footnote("index", write("mixed.jsonl", *MIXED), "--index", "ix", "--rejects", "rejects.txt")
    assert done.code == 0
    assert done.out.startswith("2 new, 2 rejected, in ")
    assert [line.split(" rejected: ")[0] for line in done.lines] == [
        "mixed.jsonl:2: “Empty”",
        "mixed.jsonl:3: “not json”",
    ]
    assert Path("rejects.txt").read_text("utf-8") == done.err


def test_many_rejects_are_cut_short(footnote: Footnote) -> None:
    rows = [{"title": f"Paper {n}"} for n in range(30)]
    done = footnote("index", write("p.jsonl", *rows, paper("Mice")), "--index", "ix", "--rejects", "all.txt")
    assert len(done.lines) == 21
    assert done.lines[-1] == "… and 10 more rejected; --rejects FILE writes them all"
    assert len(Path("all.txt").read_text("utf-8").splitlines()) == 30


def test_only_rejects_is_a_failure(footnote: Footnote) -> None:
    done = footnote("index", write("p.jsonl", {"title": "Empty"}), "--index", "ix")
    assert done.code == 1
    assert "1 rejected" in done.err
    assert not Path("ix").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.jsonl", None, "none.jsonl: there is no such file"),
        ("no/folder/", None, "no/folder/: there is no such file"),
        ("empty.jsonl", b"", "empty.jsonl: the file is empty"),
        ("pic.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "pic.png: looks like a PNG image"),
        ("a.out", bytes(range(256)) * 40, "a.out: looks like a binary file"),
    ],
)
def test_files_that_cannot_be_indexed(footnote: Footnote, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    assert footnote.fails("index", name, "--index", "ix", code=1).startswith(said)
    assert not Path("ix").exists()


@pytest.mark.parametrize("place", ["file/below", "file"])
def test_an_index_cannot_lie_below_a_file(footnote: Footnote, place: str) -> None:
    Path("file").write_text("x", "utf-8")
    line = footnote.fails("index", write("p.jsonl", paper("Mice")), "--index", place, code=1)
    assert line.startswith("cannot write an index to ")
    assert f"/{place}: " in line
    assert line.endswith("; name another folder with --index")


def test_another_embedder_needs_a_rebuild(footnote: Footnote, sampled: Path) -> None:
    line = footnote.fails("index", "--sample", "--embedder", "minilm:fp32", code=1)
    assert "was made with embedder minilm, not minilm:fp32" in line
    assert "--rebuild" in line


# --- index --check ------------------------------------------------------------------------------------------------


def test_check_says_that_all_is_well(footnote: Footnote, sampled: Path) -> None:
    done = footnote("index", "--check")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"all is well: 19 papers, \d+ passages\n", done.out)


def test_check_mends_and_says_what_it_did(footnote: Footnote, sampled: Path, tmp_path: Path) -> None:
    mine = str(shutil.copytree(sampled, tmp_path / "mine"))
    with VectorStore.open(mine, search_words) as store:
        holds = "{} papers, {} passages".format(*store.counts())
        first, second, *_ = (record.paper_id for record in store.listing())
        store._dense.remove([f"{first}#0"])
        store._lexical.remove([second])
        store._lexical.begin(["never"])
    warned = footnote("search", FILTER, "--index", mine)
    assert warned.code == 0
    done = footnote("index", "--check", "--index", mine)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "mended: words of 1 paper made again from Chroma; 1 paper embedded again; "
        f"1 paper half written and taken out: index again never; the index at {mine} holds {holds}\n"
    )
    assert footnote("index", "--check", "--index", mine).out == f"all is well: {holds}\n"


def test_an_unsound_index_is_told_of_and_answers(sampled: Path, tmp_path: Path) -> None:
    mine = str(shutil.copytree(sampled, tmp_path / "mine"))
    with VectorStore.open(mine, search_words) as store:
        store._dense.remove(["sample-01#0"])
    done = subprocess.run([SCRIPT, "search", FILTER, "--index", mine], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:2]) == (0, "1.")
    assert done.stderr == f"words and vectors of the index at {mine} differ: footnote index --check --index {mine}\n"


def test_check_makes_no_index(footnote: Footnote) -> None:
    line = footnote.fails("index", "--check", "--index", "nowhere", code=1)
    assert line == "there is no index at nowhere; make one: footnote index PAPERS"
    assert not Path("nowhere").exists()


def test_a_second_run_is_told_of_the_first_and_readers_go_on(footnote: Footnote, sampled: Path, tmp_path: Path) -> None:
    mine = shutil.copytree(sampled, tmp_path / "mine")
    rows = [paper(f"Number {n}", prose(str(n), 100)) for n in range(3000)]
    command = [SCRIPT, "index", "--index", str(mine), write("p.jsonl", *rows)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        try:
            wait_for((mine / "writer.txt").exists)
            for again in (["--sample"], ["--check"], ["--sample", "--rebuild"]):
                line = footnote.fails("index", "--index", str(mine), *again, code=1)
                assert re.fullmatch(
                    rf"the index at {mine} is being written by process {first.pid} of .*; wait for it to end", line
                )
            assert "1,774" in footnote("ask", MINED, "--index", str(mine)).out
            assert first.poll() is None, "it ended before it was looked at"
        finally:
            first.kill()
    again_whole = footnote("index", "--sample", "--index", str(mine))
    assert (again_whole.code, again_whole.err) == (0, "")
    assert "19 unchanged" in again_whole.out


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not what():
        assert time.monotonic() < until
        time.sleep(0.02)


# --- wrong usage --------------------------------------------------------------------------------------------------

MISUSED = [
    (("index",), "name the papers files to index, or --sample"),
    (("index", "--check", "p.jsonl"), "--check goes with --index alone; it reads no papers"),
    (("index", "--check", "--rebuild"), "--check goes with --index alone; it reads no papers"),
    (
        ("index", "p.jsonl", "--embedder", "minlm"),
        "no embedder is called 'minlm'; did you mean minilm? Known: minilm, ",
    ),
    (("index", "p.jsonl", "--embedder", "minilm:int4"), "no embedder is called 'minilm:int4'; known: "),
    (("index", "p.jsonl", "--embedder", "st:"), "the embedder 'st' needs a name: st:NAME_OR_FOLDER"),
    (("index", "p.jsonl", "--rejects", "no/such/r.txt"), "cannot write no/such/r.txt: No such file or directory"),
    (("index", "p.jsonl", "--rejects", "p.jsonl"), "--rejects p.jsonl would overwrite what is read"),
    (("ask",), 'give one question in quotes: footnote ask "…"; or a file of them: --batch FILE'),
    (("search",), 'give one question in quotes: footnote search "…"'),
    (("ask", "x", "--batch", "q.jsonl"), "give one question in quotes"),
    (("ask", ""), "the question is empty"),
    (("ask", "x", "--llm", "qoute"), "no LLM is called 'qoute'; did you mean quote? Known: quote"),
    (("ask", "x", "--reranker", "stt:x"), "no reranker is called 'stt:x'; did you mean st? Known: none, st"),
    (("ask", "x", "--year", "soon"), "'soon' is no year; write 2024, 2020..2022, 2024.. or ..2019"),
    (("search", "x", "--year", "2022..2020"), "'2022..2020' ends before it begins"),
    (("chat", "--author", "J."), "author 'J.' has no word to look for"),
    (("ask", "x", "--yeer", "2024"), "no such option '--yeer'"),
    (("ask", "x", "-k", "0"), "k must be at least 1, not 0"),
    (("ask", "x", "-k", "six"), "invalid value for '-k': 'six' is not a valid integer; see footnote ask --help"),
    (("ask", "x", "--index", ""), "index must be"),
    (("ask", "x", "--out", "a.jsonl"), "--out goes with --batch"),
    (("ask", "--batch", "none.jsonl"), "the questions none.jsonl cannot be read: No such file or directory"),
    (("ask", "--batch", "q.jsonl", "--out", "no/such/a.jsonl"), "cannot write no/such/a.jsonl: No such file"),
    (("ask", "--batch", "q.jsonl", "--out", "."), "cannot write .: Is a directory"),
    (("ask", "--batch", "q.jsonl", "--out", "q.jsonl"), "--out q.jsonl would overwrite what is read"),
    (("search", "x", "-k", "0"), "invalid value for '-k': 0 is not in the range x>=1"),
    (("aks",), "no such command 'aks'"),
    (("--colour",), "no such option '--colour'"),
    (("papers", "x"), "got unexpected extra argument (x); see footnote papers --help"),
]


@pytest.mark.parametrize(("arguments", "said"), MISUSED)
def test_wrong_usage_is_one_line_and_status_2(
    footnote: Footnote, sampled: Path, arguments: Sequence[str], said: str
) -> None:
    write("p.jsonl", paper("Mice"))
    write("q.jsonl", {"id": "1", "question": FILTER})
    before = Path("q.jsonl").read_bytes(), Path("p.jsonl").read_bytes()
    assert footnote.fails(*arguments, code=2).startswith(said)
    assert (Path("q.jsonl").read_bytes(), Path("p.jsonl").read_bytes()) == before


@pytest.mark.parametrize(
    "arguments",
    [("ask", "x"), ("ask", "--batch", "-"), ("search", "x"), ("papers",), ("papers", "--json"), ("chat",)],
)
def test_without_an_index_all_say_how_to_make_one(footnote: Footnote, arguments: Sequence[str]) -> None:
    line = footnote.fails(*arguments, "--index", "nowhere", code=1)
    assert line == "there is no index at nowhere; make one: footnote index PAPERS"
    assert not Path("nowhere").exists()


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_there(footnote: Footnote, command: Sequence[str], flag: str) -> None:
    done = footnote(*command, flag)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: {' '.join(['footnote', *command])} [OPTIONS]")


def test_the_list_of_commands_is_whole(footnote: Footnote) -> None:
    commands = footnote("-h").out.partition("Commands:\n")[2]
    assert tuple(sorted(line.split()[0] for line in commands.splitlines())) == tuple(sorted(COMMANDS))
    assert "..." not in commands  # no line is cut short
    assert footnote().code == 2


def test_version(footnote: Footnote) -> None:
    assert footnote("-V").out.startswith("footnote, version ")


# --- ask ----------------------------------------------------------------------------------------------------------


def test_ask_prints_answer_and_references(footnote: Footnote, sampled: Path) -> None:
    done = footnote("ask", MINED)
    assert (done.code, done.err) == (0, "")
    assert "1,774" in done.out
    assert "\n[1] MCP-Injector: Calibrated Fault Injection for Tool-Calling LLM Agents\n" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_ask_prints_an_abstention_and_the_nearest_papers(footnote: Footnote, sampled: Path) -> None:
    done = footnote("ask", FRANCE)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("The abstracts don't say.\n")
    assert "\nNearest papers:\n- " in done.out


@pytest.mark.parametrize("question", [MINED, FRANCE, "哪种滤波器？", "half \ud800 filter"])
def test_ask_json_is_an_answer(footnote: Footnote, sampled: Path, question: str) -> None:
    done = footnote("ask", "--json", question)
    assert (done.code, done.err) == (0, "")
    answer = json.loads(done.out)
    ANSWER.validate(answer)
    assert answer["question"] == question


def test_ask_batch_with_follow_ups(footnote: Footnote, sampled: Path) -> None:
    write(
        "q.jsonl",
        {"id": "a", "question": MINED},
        "",
        {"id": 2, "question": "And how many threads did they read?", "follows": "a"},
        {"question": FILTER, "follows": 2},
    )
    done = footnote("ask", "--batch", "q.jsonl", "--out", "a.jsonl")
    assert (done.code, done.out, done.err) == (0, "", "")
    rows = [json.loads(line) for line in Path("a.jsonl").read_text("utf-8").splitlines()]
    for row in rows:
        ANSWER.validate(row)
    assert [row["id"] for row in rows] == ["a", "2", "q.jsonl:4"]
    assert "57,240" in rows[1]["answer"]
    assert rows[2]["references"][0]["number"] == 2


def test_ask_batch_says_what_is_wrong_and_answers_the_rest(footnote: Footnote, sampled: Path) -> None:
    rows = [
        "not json",
        {"id": "a", "question": FILTER},
        {"id": "b"},
        {"id": "c", "question": ["x"]},
        {"id": "d", "question": "Why?", "follows": "later"},
        {"id": "e", "question": "Why?", "follows": "e"},
        "[1]",
        "[" * 100_000,
        '{"id": "n", "question": ' + "1" * 5000 + "}",
        {"id": "u", "question": "half \ud800 filter"},
    ]
    done = footnote(
        "ask", "--batch", "-", stdin="".join(f"{r if isinstance(r, str) else json.dumps(r)}\n" for r in rows).encode()
    )
    assert done.code == 1
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["a", "u"]
    where = [line.split(": ")[1] for line in done.lines]
    assert where == [f"standard input:{n}" for n in (1, 3, 4, 5, 6, 7, 8, 9)]
    assert "follows 'later', which was not answered before it" in done.lines[3]
    assert done.lines[0].endswith("not JSON: Expecting value, at column 1")


# --- search, papers -----------------------------------------------------------------------------------------------


def test_search_prints_papers_best_first(footnote: Footnote, sampled: Path) -> None:
    done = footnote("search", FILTER, "-k", "3")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1. The Score Kalman Filter")
    assert "\n3. " in done.out
    assert "\n4. " not in done.out


def test_search_json_and_batch_give_the_same_hits(footnote: Footnote, sampled: Path) -> None:
    hits = json.loads(footnote("search", "--json", FILTER).out)["hits"]
    assert len(hits) == 10
    assert hits[0]["paper_id"] == "sample-10"
    assert set(hits[0]) == {"paper_id", "score", "dense", "lexical", "title", "passage"}
    assert len({hit["paper_id"] for hit in hits}) == 10
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    done = footnote("search", "--batch", write("q.jsonl", {"id": "a", "question": FILTER}, "bad"), "--out", "r.jsonl")
    assert done.code == 1
    assert done.lines == ["footnote: q.jsonl:2: not JSON: Expecting value, at column 1"]
    assert json.loads(Path("r.jsonl").read_text("utf-8")) == {"id": "a", "hits": hits}


def test_papers_are_listed(footnote: Footnote, sampled: Path) -> None:
    done = footnote("papers")
    assert (done.code, done.err) == (0, "")
    assert len(done.out.splitlines()) == 38
    assert done.out.splitlines()[-1] == "    NeurIPS 2026 · sample-19"
    listed = json.loads(footnote("papers", "--json").out)
    assert [row["id"] for row in listed] == [f"sample-{n:02}" for n in range(1, 20)]
    assert set(listed[0]) == {"id", "title", "untitled", "authors", "year", "venue", "url", "doi", "abstract"}


# --- only some papers ---------------------------------------------------------------------------------------------

MICE = "Which drug works against cancer in mice?"


@pytest.fixture
def dated(footnote: Footnote, papers: tuple[Paper, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The five papers by hand, 1998 to 2024, are the default index."""
    assert footnote("index", write("papers.jsonl", *map(paper_json, papers)), "--index", "dated").code == 0
    monkeypatch.setenv("FOOTNOTE_INDEX", "dated")


def found(done: Done) -> set[str]:
    assert (done.code, done.err) == (0, "")
    return {hit["paper_id"] for hit in json.loads(done.out)["hits"]}


@pytest.mark.parametrize(
    ("flags", "left"),
    [
        ("--year 1998", {"cancer"}),
        ("--year 1998..2005", {"cancer", "graph"}),
        ("--year 2005..", {"graph", "filter", "language"}),
        ("--venue icml --venue Nature", {"language", "cancer"}),
        ("--author lovelace", {"filter", "language"}),
        ("--author erdos --author Curie --year ..2000", {"cancer"}),
        ("--paper bare --paper graph --paper unknown", {"bare", "graph"}),
        ("--year 2024 --venue NeurIPS", set()),
    ],
)
def test_filters_choose_the_papers(footnote: Footnote, dated: None, flags: str, left: set[str]) -> None:
    assert found(footnote("search", MICE, "--json", *flags.split())) == left


def test_a_filter_is_told_with_the_answer(footnote: Footnote, dated: None) -> None:
    assert "\nFrom 2 papers: 1998 to 2005\n" in footnote("ask", MICE, "--year", "1998..2005").out
    answer = json.loads(footnote("ask", MICE, "--json", "--venue", "Nature", "--author", "Curie").out)
    ANSWER.validate(answer)
    assert "halves the growth" in answer["answer"]
    assert answer["filter"] == {
        "year": None,
        "venue": ["Nature"],
        "author": ["Curie"],
        "paper": [],
        "papers_left": 1,
        "from_question": False,
    }
    done = footnote("ask", MICE, "--year", "2030..")
    assert done.code == 0
    assert done.out == "The abstracts don't say.\nNo paper in this collection meets the filter: 2030 and later.\n"
    assert footnote("search", MICE, "--venue", "ACL").out == "No paper meets the filter: venue ACL\n"


def test_a_row_has_a_filter_of_its_own_and_a_conversation_keeps_it(footnote: Footnote, dated: None) -> None:
    write(
        "q.jsonl",
        {"id": "flags", "question": MICE},
        {"id": "own", "question": MICE, "filter": {"year": 1998}},
        {"id": "follows", "question": "And how many of them lived?", "follows": "own"},
        {"id": "all", "question": MICE, "filter": {}},
        {"id": "leaves", "question": "And what else?", "follows": "own", "filter": {"paper": ["graph", "bare"]}},
    )
    done = footnote("ask", "--batch", "q.jsonl", "--year", "2024..")
    assert (done.code, done.err) == (0, "")
    rows = {row["id"]: row for row in map(json.loads, done.out.splitlines())}
    for row in rows.values():
        ANSWER.validate(row)
    held = {name: row["filter"] and (row["filter"]["year"], row["filter"]["papers_left"]) for name, row in rows.items()}
    assert held == {
        "flags": ("2024..", 1), "own": ("1998", 1), "follows": ("1998", 1), "all": None, "leaves": (None, 2)
    }  # fmt: skip
    assert "60 lived" in rows["follows"]["answer"]
    searched = footnote("search", "--batch", "q.jsonl", "--year", "2024..")
    ids = {row["id"]: {hit["paper_id"] for hit in row["hits"]} for row in map(json.loads, searched.out.splitlines())}
    assert (ids["flags"], ids["own"], len(ids["all"])) == ({"language"}, {"cancer"}, 5)


def test_a_wrong_filter_in_a_row_is_named_by_its_line(footnote: Footnote, dated: None) -> None:
    rows = [{"id": "a", "question": MICE, "filter": f} for f in ("2024", {"yaer": 1}, {"year": "soon"}, {"venue": 7})]
    done = footnote("ask", "--batch", write("q.jsonl", *rows, {"id": "good", "question": MICE}))
    assert done.code == 1
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["good"]
    assert [line.split(": ")[1] for line in done.lines] == [f"q.jsonl:{n}" for n in (1, 2, 3, 4)]
    assert done.lines[1].endswith("'yaer' is no filter; did you mean year? Known: year, venue, author, paper")


def test_a_filter_holds_for_the_whole_chat(footnote: Footnote, dated: None) -> None:
    done = footnote("chat", "--year", "..2005", stdin=f"{MICE}\nWhich language model is small?\n".encode())
    assert done.code == 0
    assert done.lines[1] == "From 2 papers: 2005 and earlier"
    assert done.out.count("From 2 papers: 2005 and earlier") == 2
    assert "halves the growth" in done.out
    assert "Small language models" not in done.out


@pytest.mark.parametrize("command", ["ask", "search", "chat"])
def test_help_lists_what_chooses_papers_by_itself(footnote: Footnote, command: str) -> None:
    usual, _, choosing = footnote(command, "-h").out.partition("Only papers")
    assert re.findall(r"^  (--\w+)", choosing, re.MULTILINE) == ["--year", "--venue", "--author", "--paper"]
    assert re.search(r"^  --reranker SPEC", usual, re.MULTILINE)
    assert not re.search(r"^  (--year|\[QUESTION\])", usual, re.MULTILINE)


# --- chat ---------------------------------------------------------------------------------------------------------


def test_chat_goes_on_until_an_empty_line(footnote: Footnote, sampled: Path) -> None:
    typed = f"{MINED}\nAnd how many threads did they read?\n\nnever asked\n"
    done = footnote("chat", stdin=typed.encode())
    assert done.code == 0
    assert done.lines == [f"19 papers from {sampled}, answered by quote. An empty line ends."]
    assert done.out.count("[1] MCP-Injector: ") == 2
    assert "57,240" in done.out
    assert "never asked" not in done.out


def test_chat_ends_with_its_input(footnote: Footnote, sampled: Path) -> None:
    done = footnote("chat", stdin=FRANCE.encode())
    assert done.code == 0
    assert "The abstracts don't say." in done.out


# --- real processes -----------------------------------------------------------------------------------------------


@pytest.fixture
def environment(sample_index: Path) -> dict[str, str]:
    return {**os.environ, "FOOTNOTE_INDEX": str(sample_index), "COLUMNS": "80"}


def test_the_installed_script(environment: dict[str, str]) -> None:
    done = subprocess.run([SCRIPT, "ask", MINED], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "1,774" in done.stdout
    done = subprocess.run([SCRIPT, "aks"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_a_terminal_without_typographic_signs(environment: dict[str, str]) -> None:
    latin = {**environment, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([SCRIPT, "ask", "--json", "“filter”?"], env=latin, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout.decode("latin-1"))["question"] == "“filter”?"
    done = subprocess.run([SCRIPT, "papers", "-h"], env=latin, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["papers", "papers --json"])
def test_a_reader_that_goes_away_is_no_error(environment: dict[str, str], command: str) -> None:
    line = f"{SCRIPT} {command} | head -1"
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=False)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def test_ctrl_c_while_indexing(environment: dict[str, str]) -> None:
    rows = [paper(f"Number {n}", prose(str(n), 100)) for n in range(3000)]
    # A run that was started in the background ignores SIGINT, and so would its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [SCRIPT, "index", write("p.jsonl", *rows), "--index", "ix"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    until = time.monotonic() + 60
    while not Path("ix/words.sqlite").exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "footnote: stopped; what is indexed so far is kept, run it again to go on\n"


def test_chat_in_a_terminal(environment: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([SCRIPT, "chat"], env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, f"{MINED}\n\n".encode())
    said = b"".join(read(ours)).decode()
    assert process.wait(timeout=60) == 0
    assert "answered by quote" in said
    assert "1,774" in said
    assert "Traceback" not in said
    os.close(ours)


def read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # what Linux says when the other end is closed
            return
        if not piece:
            return
        yield piece


# --- serve --------------------------------------------------------------------------------------------------------


def test_serve_on_a_busy_port(footnote: Footnote, sampled: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = footnote("serve", "--port", str(port))
    assert (done.code, done.out) == (1, "")
    assert done.lines == [f"footnote: port {port} is in use; choose another with --port"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--port", "99999"), 1, "port 99999 does not exist"),
        (("--port", "http"), 2, "invalid value for '--port'"),
        (("--port", "-1"), 2, "port must be at least 0"),
        (("--port", "FREE", "--llm", "qoute"), 2, "no LLM is called 'qoute'"),
        (("--port", "FREE", "--reranker", "stt:x"), 2, "no reranker is called 'stt:x'"),
        (("--host", "no.such.host.invalid"), 1, "this machine has no address 'no.such.host.invalid'"),
    ],
)
def test_serve_says_what_is_wrong(
    footnote: Footnote, sampled: Path, arguments: Sequence[str], code: int, said: str
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = str(probe.getsockname()[1])
    done = footnote("serve", *(free if argument == "FREE" else argument for argument in arguments))
    assert (done.code, done.out) == (code, "")
    assert done.lines[-1].startswith(f"footnote: {said}")
