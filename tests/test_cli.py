"""The `footnote` command: every command, its errors one line each, and a few real processes."""

from __future__ import annotations

import io
import json
import os
import pty
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import ascii_lowercase

import pytest
from jsonschema import Draft202012Validator

from ui.cli import status

MINED = "How many MCP repositories did the fault study mine?"
FILTER = "Which filter avoids the partition function?"
FRANCE = "What is the capital of France?"
COMMANDS = ("index", "ask", "search", "chat", "serve", "papers", "config")
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


# --- wrong usage --------------------------------------------------------------------------------------------------

MISUSED = [
    (("index",), "name the papers files to index, or --sample"),
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
        (("--llm", "qoute"), 2, "no LLM is called 'qoute'"),
        (("--host", "no.such.host.invalid"), 1, "this machine has no address 'no.such.host.invalid'"),
    ],
)
def test_serve_says_what_is_wrong(
    footnote: Footnote, sampled: Path, arguments: Sequence[str], code: int, said: str
) -> None:
    done = footnote("serve", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.lines[-1].startswith(f"footnote: {said}")
