"""Which papers fit: how many are named and counted, what is uncertain, and how far the reading goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fakes import KeywordEmbedder

from rag import Assistant
from rag.quote import QuoteLLM
from rag.relevance import Relevance, Sentence, Word
from rag.survey import DEPTH, LISTED, Survey, lead_of, survey
from rag.types import Paper, Quote
from vectorstore.passage import Bibliography, Hit, Passage
from vectorstore.store import VectorStore

WORDS = (Word("use", 9.0), Word("particle", 3.0), Word("filters", 2.0))
FITS, FAR = ("We study particle filters.", 0.6, 0.9), ("Bread is good.", 0.1, 0.2)
NEAR = ("A filter is old.", 0.5, 0.85)


def found(*papers: tuple[str, float, float]) -> list[tuple[Paper, Hit]]:
    """Each given as abstract, cosine of its passage, cosine of its words' nearest tokens."""
    return [
        (Paper(f"p{n}", f"T{n}", text), Hit(Passage("", "", 0, 0, Bibliography(f"p{n}", "")), 1.0, cosine, match))
        for n, (text, cosine, match) in enumerate(papers)
    ]


class Rank:
    """Says that every word matches as well as the hit's lexical score; reads: how many papers each time."""

    def __init__(self) -> None:
        self.reads: list[int] = []

    def __call__(self, part: Sequence[tuple[Paper, Hit]]) -> Relevance:
        self.reads.append(len(part))
        rows = [
            Sentence(Quote(p.id, p.abstract, 0, len(p.abstract)), hit.lexical, (hit.lexical,) * 3, hit.lexical)
            for p, hit in part
        ]
        return Relevance(WORDS, tuple(rows))


def test_all_that_fit_are_named_likeliest_first_and_what_comes_near_is_counted() -> None:
    better = (FITS[0], 0.7, 0.9)
    result = survey(found(FITS, FAR, better, NEAR), Rank(), "minilm")
    assert [paper.id for paper, _ in result.papers] == ["p2", "p0"]
    assert (result.fit, result.near, result.whole) == (2, 1, True)
    assert {s.quote.paper_id for s in result.sentences} == {"p0", "p2"}


def test_where_none_fits_those_that_come_near_are_named() -> None:
    result = survey(found(FAR, NEAR, FAR), Rank(), "minilm")
    assert [paper.id for paper, _ in result.papers] == ["p1"]
    assert (result.fit, result.near) == (0, 1)
    assert lead_of(result) == "No paper fits for certain, going by the abstracts; 1 comes near."


def test_words_that_say_nothing_of_the_topic_do_not_count() -> None:
    assert WORDS[0].weight > WORDS[1].weight + WORDS[2].weight  # "use" stands in none of the abstracts
    assert survey(found(FITS), Rank(), "minilm").fit == 1


def test_reading_ends_with_a_part_that_holds_next_to_nothing() -> None:
    rank = Rank()
    result = survey(found(*[FITS] * 60, *[FAR] * 60, *[FITS] * 60), rank, "minilm")
    assert rank.reads == [60, 60]
    assert (result.fit, result.whole) == (60, True)


def test_of_very_many_the_likeliest_are_named_and_the_count_is_a_lower_bound() -> None:
    result = survey(found(*[FITS] * DEPTH), Rank(), "minilm")
    assert (len(result.papers), result.fit, result.whole) == (LISTED, DEPTH, False)
    said = lead_of(result)
    assert said == f"At least {DEPTH} papers fit, going by their abstracts; {LISTED} are named here."


@pytest.mark.parametrize(
    ("fit", "near", "said"),
    [
        (1, 0, "1 paper fits, going by its abstract."),
        (2, 1, "2 papers fit, going by their abstracts; 1 more comes near."),
        (3, 4, "3 papers fit, going by their abstracts; 4 more come near."),
        (0, 2, "No paper fits for certain, going by the abstracts; 2 come near."),
    ],
)
def test_the_count_is_said(fit: int, near: int, said: str) -> None:
    assert lead_of(Survey((), (), fit, near, whole=True)) == said


def test_another_embedder_goes_by_words_alone() -> None:
    same_words = ("We study particle filters.", -0.9, -0.9)
    assert survey(found(same_words, FAR), Rank(), "openai:x").fit == 1


# --- through the whole of it --------------------------------------------------------------------------------------


def test_the_answer_begins_with_the_count_and_names_each_paper_once(sample_index: Path) -> None:
    with Assistant.open(index=sample_index) as bot:
        answer = bot.ask("Which papers are about LLM agents?")
    lead, _, lines = answer.text.partition("\n\n")
    assert lead == f"{len(answer.references)} papers fit, going by their abstracts." or " come" in lead
    assert lead.startswith(f"{len(answer.references)} papers fit")
    assert len(answer.claims) == len(answer.references) == len(lines.split("\n\n")) > 1
    assert all(claim.supported and claim.quotes for claim in answer.claims)


def test_more_papers_are_named_than_are_read_for_other_questions(sample_index: Path) -> None:
    with Assistant.open(index=sample_index, k=1) as bot:
        assert len(bot.ask("Which papers are about LLM agents?").references) > 1


@pytest.mark.parametrize("question", ["How many papers are about beekeeping?", "Which papers discuss cooking recipes?"])
def test_a_topic_that_no_paper_is_about_is_said(sample_index: Path, question: str) -> None:
    with Assistant.open(index=sample_index) as bot:
        answer = bot.ask(question)
    assert answer.abstained
    assert answer.abstain_reason == "No paper in this collection fits, going by the abstracts."
    assert answer.nearest


@pytest.mark.parametrize(
    "question", ["Which papers are there?", "How many papers are in this collection?", "List all papers."]
)
def test_without_a_topic_all_papers_fit(sample_index: Path, question: str) -> None:
    with Assistant.open(index=sample_index) as bot:
        answer = bot.ask(question)
    assert answer.text.startswith("19 papers in all.\n\n")
    assert len(answer.references) == 19


def test_a_filter_alone_is_topic_enough(store: VectorStore, embedder: KeywordEmbedder) -> None:
    answer = Assistant(store, embedder, QuoteLLM()).ask("Which papers are by Lovelace?")
    assert answer.filter is not None
    assert {reference.paper.id for reference in answer.references} == {"filter", "language"}
    assert answer.text.startswith("2 papers in all.")


def test_what_is_asked_in_other_words_gets_what_is_nearest_and_is_told_so(sample_index: Path) -> None:
    with Assistant.open(index=sample_index) as bot:
        answer = bot.ask("Which papers prove how many noisy queries one needs at the very least, and for what?")
    assert answer.text.startswith("No paper fits for certain, going by the abstracts; ")
    assert answer.references
