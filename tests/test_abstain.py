"""When the abstracts do not answer: each sign, on scores made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from rag.abstain import FULL_PAPER, THRESHOLDS, thresholds, why_unanswerable
from rag.followup import Standalone
from rag.relevance import Relevance, Sentence, Word
from rag.types import Paper, Quote

TEXT = "The filter needs 40 particles."
PAPER = Paper("filter", "A particle filter", TEXT)
HIGH, LOW = 0.95, 0.05
ALONE = thresholds("st:somebody's-own")


def relevance(odds: float | None, *words: tuple[str, float]) -> Relevance:
    """One sentence, each word of the question with the cosine of its nearest token."""
    sentence = Sentence(Quote("filter", TEXT, 0, len(TEXT)), 1.0, tuple(match for _, match in words), 1.0)
    return Relevance(tuple(Word(word, 1.0) for word, _ in words), (sentence,), odds)


def why(question: str, found: Relevance, asked: Standalone | None = None) -> str:
    return why_unanswerable(asked or Standalone(question), (PAPER,), found)


def test_what_is_near_can_be_answered() -> None:
    assert why("What does the filter need?", relevance(1.5, ("filter", HIGH))) == ""


def test_nothing_found() -> None:
    assert why("What?", Relevance((), ())).startswith("No paper")


def test_nothing_near() -> None:
    assert "near the question" in why("What is bread?", relevance(ALONE.off - 0.01, ("bread", LOW)))


def test_nothing_near_by_vector_and_reader_together() -> None:
    """Neither decides alone, and among many passages the nearest has to be nearer."""
    mixed = THRESHOLDS["minilm"]

    def reason(odds: float, nearest: float, passages: int) -> str:
        found = replace(relevance(odds, ("bread", LOW)), nearest=nearest, passages=passages)
        return why_unanswerable(Standalone("What is bread?"), (PAPER,), found, mixed)

    assert "near the question" in reason(0.0, 0.1, 20)
    assert reason(0.0, 0.4, 20) == ""
    assert reason(3.0, 0.1, 20) == ""
    edge = (mixed.off + mixed.size * math.log(20)) / mixed.cosine
    assert reason(0.0, edge + 0.01, 20) == ""
    assert "near the question" in reason(0.0, edge - 0.01, 20)
    assert "near the question" in reason(0.0, edge + 0.01, 20_000)


def test_near_but_not_said() -> None:
    reason = why("What is bread?", relevance(ALONE.unsaid - 0.01, ("bread", LOW)))
    assert reason == f"The abstracts nearest to the question don't say so much. {FULL_PAPER}"
    assert why("What is bread?", relevance(ALONE.unsaid + 0.01, ("bread", LOW))) == ""


def test_a_follow_up_stays_with_the_papers_that_it_leans_on() -> None:
    leaning = Standalone("Why?", "What does the filter need", ("filter",))
    assert why("Why?", relevance(ALONE.off - 0.01, ("filter", LOW)), leaning) == ""


@pytest.mark.parametrize(
    ("question", "words", "missing"),
    [
        ("Does GPT-9 need particles?", (("gpt", LOW), ("9", LOW), ("particles", HIGH)), "GPT-9"),
        ("Does LLaMA filter?", (("llama", LOW), ("filter", HIGH)), "LLaMA"),
        ("Does LLaMA filter?", (("llama", HIGH), ("filter", HIGH)), ""),  # said in other words
        ("What does the Particle Filter need?", (("particle", LOW), ("filter", LOW)), ""),  # it stands there
        ("How many GPUs does it need?", (("gpus", LOW), ("need", HIGH)), "GPUs"),
        ("How many bakers does it need?", (("bakers", LOW), ("need", HIGH)), "bakers"),
        ("How many bakers does it need?", (("bakers", HIGH), ("need", HIGH)), ""),
        ("Which papers say how many bakers it needs?", (("bakers", LOW), ("needs", HIGH)), ""),
    ],
)
def test_names_and_counted_things_that_are_nowhere(
    question: str, words: tuple[tuple[str, float], ...], missing: str
) -> None:
    reason = why(question, relevance(1.5, *words))
    assert bool(reason) is bool(missing)
    assert missing in reason
    assert reason.endswith(FULL_PAPER if missing else "")


def test_the_cosines_of_an_embedder_of_somebodys_own_are_not_judged() -> None:
    """They may lie anywhere: whether words stand in the abstracts is all that counts."""
    assert why("What does the filter need?", relevance(None, ("filter", LOW), ("need", LOW))) == ""
    assert why("Who bakes bread?", relevance(None, ("bakes", HIGH), ("bread", HIGH))) != ""
