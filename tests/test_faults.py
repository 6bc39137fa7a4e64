"""An answer comes whatever a chat model's server does: every fault over real HTTP, on the sample corpus."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import pytest
from answers import check, turns

from eval.cli import cli
from eval.faults import FAULTS, SCHEDULES, answered, play, problem_with
from eval.llm_server import always, cut, echo, say, served
from eval.suite import read_suite
from rag.assistant import Assistant
from rag.limits import Limits
from rag.llm import make_llm
from rag.types import Answer

MINED = "How many MCP repositories did the fault study mine?"
# What a reader is told, of a permanent fault.
NOTICES = {
    "refused connection": "start the server, or choose another LLM",
    "wrong key (401)": "does not accept the key: check OPENAI_COMPATIBLE_KEY",
    "no such model (404)": "has no model 'any'",
    "slow first word": "said nothing within its 1 seconds",
    "slow words": "came to no end within its 1 seconds",
    "connection lost in mid-answer": "broke off",
    "empty answer": "The model wrote nothing",
    "refusal": "The model declined to answer",
    "no markers": "Nothing that the model wrote stands in the abstracts",
    "invented markers": "Nothing that the model wrote stands in the abstracts",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_comes_whatever_fails(fault: str, sample_index: Path) -> None:
    (outcome,) = play(sample_index, [MINED], [fault], ["permanent"], 1.0, 1)
    answer = outcome.answer
    assert answer is not None, outcome.problem
    assert outcome.problem == ""
    check(answer)
    assert not answer.abstained
    assert "1,774" in answer.text
    assert NOTICES.get(fault, "") in " ".join(answer.notices)
    assert re.search(r"the papers' own sentences (?:answer instead|complete it)", " ".join(answer.notices))


@pytest.mark.parametrize("schedule", ["transient", "intermittent"])
def test_a_fault_that_passes_leaves_the_model_to_answer(schedule: str, sample_index: Path) -> None:
    done = list(play(sample_index, [MINED] * 6, ["server error (500)", "malformed stream"], [schedule], 20.0, 3))
    assert [outcome.problem for outcome in done] == [""] * 12
    by = [outcome.by for outcome in done]
    assert by[:6] == ["model"] * 6
    assert by.count("model") < 12


def test_what_was_verified_before_a_failure_stays(sample_index: Path) -> None:
    with served(always(cut())) as (url, _), Assistant.open(sample_index, f"openai:any@{url}") as bot:
        grown = list(bot.stream(MINED))
    first = next(answer for answer in grown if answer.claims)
    check(grown[-1])
    assert first.claims[0].supported
    assert grown[-1].claims[0] == first.claims[0]
    assert grown[-1].text.startswith(first.text)
    assert "And besides" not in grown[-1].text
    assert any("what it had said stays" in notice for notice in grown[-1].notices)


def test_where_nothing_is_near_no_model_is_called(sample_index: Path) -> None:
    with served(always(echo())) as (url, asked), Assistant.open(sample_index, f"openai:any@{url}") as bot:
        assert bot.ask("What is the capital of France?").abstained
    assert asked.bodies == []


def test_all_of_an_answer_s_time_is_bounded_together(sample_index: Path) -> None:
    """A follow-up asks the model twice: to rewrite, and to write."""
    limits = Limits(seconds=100)
    assert limits.rewriting + limits.writing == 100
    with served(always(say("Is it?"))) as (url, asked):
        llm = make_llm(f"openai:any@{url}", limits)
        with Assistant.open(sample_index, llm) as bot:
            first = bot.ask(MINED)
            bot.ask("And how many threads did it read?", turns(MINED, first))
    assert len(asked.bodies) == 3


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer("?", "", done=True), "it says nothing"),
        (Answer("?", "Yes.", done=False), "it says nothing"),
        (Answer("?", "Yes.", done=True), "nothing in it is supported"),
    ],
)
def test_what_is_not_usable_is_told(answer: Answer, problem: str) -> None:
    assert problem_with(answer) == problem


def test_the_command_tells_who_answered(sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli(["faults", "wrong key (401)", "--index", str(sample_index), "--limit", "2"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert f"{2 * len(SCHEDULES)} questions, 2 s allowed to the LLM" in out
    assert re.search(r"wrong key \(401\), permanent +2 of 2 +quote 2 ", out)
    assert re.search(r"all +6 of 6 ", out)


def test_questions_are_those_that_a_model_is_called_for(sample_index: Path) -> None:
    texts = [question.text for question in read_suite(None)]
    found = list(islice(answered(sample_index, texts), 3))
    assert len(found) == 3
    assert set(found) <= set(texts)
