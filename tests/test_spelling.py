"""Misspelt words, with the real embedder, whose vocabulary says what a word is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from fakes import KeywordEmbedder

from rag.embed import Embedder, make_embedder
from rag.spelling import Speller

INDEXED: Mapping[str, int] = {"bandit": 3, "dueling": 2, "kalman": 1, "condorcet": 1, "pruning": 4, "monoculture": 2}


@pytest.fixture(scope="module")
def minilm(_cache: None) -> Embedder:
    return make_embedder("minilm")


def speller(embedder: Embedder, asked: list[str] | None = None) -> Speller:
    def frequency(word: str) -> int:
        if asked is not None:
            asked.append(word)
        return INDEXED.get(word, 0)

    return Speller(embedder, frequency, lambda: tuple(sorted(INDEXED)))


@pytest.mark.parametrize(
    ("question", "mended", "said"),
    [
        ("Which monoclture is it?", "Which monoculture is it?", "Read “monoclture” as “monoculture”."),
        ("Who is the Condorcte winner?", "Who is the condorcet winner?", "Read “Condorcte” as “condorcet”."),
        (
            "Is a condorcte monoclture a condorcte?",
            "Is a condorcet monoculture a condorcet?",
            "Read “condorcte” as “condorcet”, “monoclture” as “monoculture”.",
        ),
    ],
)
def test_misspelt_words_are_mended_and_the_reader_is_told(
    minilm: Embedder, question: str, mended: str, said: str
) -> None:
    assert speller(minilm).corrected(question) == (mended, (said,))


@pytest.mark.parametrize(
    "question",
    [
        "Which bandit is dueling?",  # in the index
        "What is the capital of France?",  # words of the language
        "Is xqzwvy a word?",  # near nothing
        "What does MCPX-bandti or BANDTI mean?",  # names
        "Warum nicht?",
        "哪种滤波器",
        "",
    ],
)
def test_the_rest_is_left_alone(minilm: Embedder, question: str) -> None:
    assert speller(minilm).corrected(question) == (question, ())


def test_an_embedder_without_tokens_is_never_overruled() -> None:
    assert speller(KeywordEmbedder()).corrected("Which monoclture?") == ("Which monoclture?", ())


def test_a_word_that_stands_many_times_is_looked_up_once(minilm: Embedder) -> None:
    asked: list[str] = []
    speller(minilm, asked).corrected("monoclture " * 500)
    assert asked == ["monoclture"]
