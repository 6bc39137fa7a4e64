"""The quote backend: what it says is verbatim, best first, and keyed."""

from __future__ import annotations

import random

import pytest

from rag.cite import Citer, Numbering
from rag.prompt import ABSTENTION, led_in
from rag.quote import QuoteLLM, choose
from rag.types import Paper, Prompt, Quote

FACT, WHICH, PAPERS = "When was it?", "Which paper is it?", "Which papers are these?"


def prompt(question: str, *scores: tuple[float, ...]) -> Prompt:
    """One paper a tuple, "p0", "p1" …, with a sentence a score: "P0 says 0." …"""
    papers, evidence = [], []
    for n, row in enumerate(scores):
        sentences = [f"P{n} says {i}." for i in range(len(row))]
        abstract = " ".join(sentences)
        papers.append(Paper(f"p{n}", f"Title {n}", abstract))
        starts = [abstract.index(sentence) for sentence in sentences]
        evidence += [Quote(f"p{n}", s, at, at + len(s)) for s, at in zip(sentences, starts, strict=True)]
    return Prompt(question, tuple(papers), tuple(evidence), tuple(score for row in scores for score in row))


def said(given: Prompt) -> str:
    return "".join(QuoteLLM().stream(given))


def test_the_best_sentence_is_said() -> None:
    assert said(prompt(FACT, (0.1, 1.0, 0.2), (0.3,))) == "P0 says 1. [2]"


def test_sentences_of_a_paper_come_in_reading_order() -> None:
    assert said(prompt(FACT, (0.98, 1.0, 0.99))) == "P0 says 0. [1] P0 says 1. [2] P0 says 2. [3]"


def test_papers_come_best_first_led_in_by_their_titles() -> None:
    assert said(prompt("Compare these.", (0.9,), (1.0,))) == "Title 1: P1 says 0. [2]\n\nTitle 0: P0 says 0. [1]"
    assert said(prompt(WHICH, (0.1,), (1.0,))) == "Title 1: P1 says 0. [2]"


def test_of_papers_all_are_said_in_their_order_one_sentence_each() -> None:
    assert said(prompt(PAPERS, (0.1, 0.2), (1.0,))) == "Title 0: P0 says 1. [2]\n\nTitle 1: P1 says 0. [3]"


def test_a_title_that_asks_needs_no_colon() -> None:
    assert led_in("Do filters help?", "They do.") == "Do filters help? They do."


def test_a_fact_is_said_once_without_its_title() -> None:
    assert said(prompt(FACT, (1.0,), (1.0,))) == "P0 says 0. [1]"


@pytest.mark.parametrize("question", [FACT, WHICH, PAPERS])
def test_without_evidence_it_abstains(question: str) -> None:
    assert said(prompt(question)) == ABSTENTION
    assert choose(prompt(question)) == ()


@pytest.mark.parametrize("seed", range(60))
def test_all_that_is_said_is_supported(seed: int) -> None:
    """Whatever the scores: each sentence is the paper's own, the best one is there, none comes twice."""
    chance = random.Random(seed)  # noqa: S311
    question = chance.choice((FACT, WHICH, PAPERS, "Why is it so?", "Compare the two."))
    rows = [tuple(chance.uniform(-1, 2) for _ in range(chance.randint(1, 5))) for _ in range(chance.randint(1, 6))]
    given = prompt(question, *rows)
    citer = Citer(given, Numbering())
    claims = [claim for _, claim in citer.claims(QuoteLLM().stream(given))]
    places = choose(given)
    assert [quote for claim in claims for quote in claim.quotes] == [given.evidence[i] for i in places]
    assert all(claim.supported for claim in claims)
    assert citer.invented == 0
    assert len(set(places)) == len(places)
    assert max(range(len(given.relevance)), key=given.relevance.__getitem__) in places
