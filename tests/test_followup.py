"""Questions that lean on the conversation, and those that do not."""

from __future__ import annotations

import pytest

from rag.followup import Standalone, standalone
from rag.types import Turn

FIRST = "Which filter avoids the partition function?"
HISTORY = (Turn("user", FIRST), Turn("assistant", "The Score Kalman Filter. [1]", ("sample-10", "sample-14")))
LEANING = [
    "Why?",
    "And how does it do that?",
    "What about accuracy?",
    "How does this method scale with the number of dimensions of the state?",
    "Who wrote it?",
    "Did the authors compare their filter with particle filters as well?",
]
ALONE = [
    "Which benchmark measures fault tolerance of tool-calling agents?",
    "How many repositories does MCP-Injector mine?",
    "Why are quantum neural networks hard to train on high frequencies?",
]


@pytest.mark.parametrize("question", [*LEANING, *ALONE, "", "?"])
def test_a_first_question_stands_alone(question: str) -> None:
    assert standalone(question, ()) == Standalone(question)
    assert standalone(question, ()).whole == question


@pytest.mark.parametrize("question", LEANING)
def test_a_follow_up_takes_over_the_subject_and_the_papers(question: str) -> None:
    asked = standalone(question, HISTORY)
    assert asked == Standalone(question, FIRST.rstrip("?"), ("sample-10", "sample-14"))
    assert asked.whole == f"{question} ({FIRST.rstrip('?')})"


@pytest.mark.parametrize("question", ALONE)
def test_a_new_subject_leaves_the_old_one(question: str) -> None:
    assert standalone(question, HISTORY) == Standalone(question)


def test_the_subject_lasts_over_several_follow_ups() -> None:
    history = (*HISTORY, Turn("user", "Why?"), Turn("assistant", "So. [2]", ("sample-11",)))
    assert standalone("And then?", history) == Standalone("And then?", FIRST.rstrip("?"), ("sample-11",))


def test_an_abstention_in_between_leaves_the_papers_of_the_answer_before() -> None:
    history = (*HISTORY, Turn("user", "Why?"), Turn("assistant", "The abstracts don't say."))
    assert standalone("And then?", history).papers == ("sample-10", "sample-14")


def test_an_answer_without_a_question_before_it_is_no_subject() -> None:
    assert standalone("Why?", HISTORY[1:]) == Standalone("Why?")


TWO = (*HISTORY, Turn("user", "And which fit scaling laws?"), Turn("assistant", "… [2][3]", ("sample-14", "sample-12")))


@pytest.mark.parametrize(
    ("question", "papers"),
    [
        ("The second one?", ("sample-12",)),
        ("What does the first paper assume?", ("sample-14",)),
        ("And the last of them?", ("sample-12",)),
        ("Does [1] say how?", ("sample-10",)),
        ("Compare [1] and [3].", ("sample-10", "sample-12")),
        ("What about the second?", ("sample-12",)),
    ],
)
def test_papers_are_named_by_their_place_or_their_number(question: str, papers: tuple[str, ...]) -> None:
    asked = standalone(question, TWO)
    assert (asked.papers, asked.chosen) == (papers, True)
    assert asked.context == FIRST.rstrip("?")


@pytest.mark.parametrize(
    "question", ["What does [9] say?", "And the sixth one?", "Is the second moment finite?", "Why?"]
)
def test_what_names_no_paper_chooses_none(question: str) -> None:
    assert not standalone(question, TWO).chosen


def test_the_only_paper_of_an_answer_needs_no_choosing() -> None:
    assert not standalone("And the first one?", (Turn("user", "Who?"), Turn("assistant", "A. [1]", ("a",)))).chosen
