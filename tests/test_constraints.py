"""What a question asks of the papers themselves becomes a filter, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import KeywordEmbedder

from rag.assistant import Assistant
from rag.constraints import constrained, narrowed
from rag.index import index_papers
from rag.quote import QuoteLLM
from rag.text import search_words
from rag.types import Paper, Turn
from vectorstore.filter import Filter
from vectorstore.manifest import Manifest
from vectorstore.store import VectorStore

ALL = frozenset({"year", "venue", "author"})
VENUES = {"icml", "neurips", "iclr"}


def here(only: Filter) -> int:
    """Papers of 2015 to 2025, at three venues, by Jane Smith and Geoffrey Hinton."""
    venues = all(set(name.lower().split()) <= VENUES for name in only.venues)
    authors = all(set(name.split()) <= {"Jane", "Smith", "Geoffrey", "Hinton", "Adam"} for name in only.authors)
    return int(venues and authors and (only.first_year or 0) <= 2025 and (only.last_year or 9999) >= 2015)


FOUND = [
    ("Which papers since 2024 study pruning?", "Which papers study pruning?", Filter(2024)),
    ("Since 2024, what has been done on pruning?", "what has been done on pruning?", Filter(2024)),
    ("What is known of OCR after 2020?", "What is known of OCR?", Filter(2021)),
    ("NeurIPS papers on graphs since 2020", "papers on graphs", Filter(2020, None, ("NeurIPS",))),
    ("Which methods were published between 2019 and 2021 for OCR?", "Which methods were published for OCR?",
     Filter(2019, 2021)),
    ("papers from 2020 on graphs", "papers on graphs", Filter(2020, 2020)),
    ("What do papers from 2020 onwards say?", "What do papers say?", Filter(2020)),
    ("2019-2021 papers on bandits", "papers on bandits", Filter(2019, 2021)),
    ("Show me 2023 papers about agents", "Show me papers about agents", Filter(2023, 2023)),
    ("papers before 2020 on perceptrons", "papers on perceptrons", Filter(None, 2019)),
    ("papers until 2020 on perceptrons", "papers on perceptrons", Filter(None, 2020)),
    ("papers on diffusion at ICML", "papers on diffusion", Filter(venues=("ICML",))),
    ("What does the ICML 2023 paper on flows say?", "What does the paper on flows say?", Filter(2023, 2023, ("ICML",))),
    ("Which papers in NeurIPS 2022 are about scaling?", "Which papers are about scaling?",
     Filter(2022, 2022, ("NeurIPS",))),
    ("What did Smith et al. find about dropout?", "What did find about dropout?", Filter(authors=("Smith",))),
    ("work by Jane Smith on bandits", "work on bandits", Filter(authors=("Jane Smith",))),
    ("Hinton's paper on capsules", "paper on capsules", Filter(authors=("Hinton",))),
    ("papers by Smith at ICML since 2020 on bandits", "papers on bandits", Filter(2020, None, ("ICML",), ("Smith",))),
]  # fmt: skip
WORDS = [
    "What happened in the 2020 election?",
    "Is accuracy at test time better?",
    "Is the network trained by Adam?",
    "Is it improved by BERT?",
    "Does accuracy in 2020 data drop?",
    "What share of the survey from 2015 to 2019 is used?",
    "How does Smith's method work?",
    "What is the rate of ICML reviewers?",
    "How did BERT do in GLUE?",
    "How much did emissions before 1990 change the forecast?",
    "Which filter avoids the partition function?",
]


@pytest.mark.parametrize(("question", "left", "only"), FOUND)
def test_what_is_asked_of_papers_becomes_a_filter(question: str, left: str, only: Filter) -> None:
    found = constrained(question, here, ALL)
    assert (found.question, found.only, found.unmet, found.aside) == (left, only, (), ())


@pytest.mark.parametrize("question", WORDS)
def test_other_years_and_names_stay_words(question: str) -> None:
    found = constrained(question, here, ALL)
    assert (found.question, found.only, found.unmet, found.aside) == (question, Filter(), (), ())


@pytest.mark.parametrize(
    ("question", "left", "unmet"),
    [
        ("Papers at CVPR 2023 about depth", "Papers about depth", "at CVPR 2023"),
        ("articles published in 2031 about agents", "articles published about agents", "in 2031"),
        ("papers before 1999 on perceptrons", "papers on perceptrons", "before 1999"),
    ],
)
def test_what_no_paper_meets_is_told_apart_from_what_the_collection_does_not_say(
    question: str, left: str, unmet: str
) -> None:
    found = constrained(question, here, ALL)
    assert (found.question, found.unmet, found.aside) == (left, (unmet,), ())
    found = constrained(question, here, ())
    assert (found.question, found.unmet, found.aside) == (left, (), (unmet,))


def test_what_is_given_outweighs_what_is_asked() -> None:
    asked = Filter(2020, 2021, ("ICML",), ("Smith",))
    assert narrowed(Filter(), asked) == asked
    assert narrowed(Filter(2024), asked) == Filter(2024, None, ("ICML",), ("Smith",))
    assert narrowed(Filter(venues=("ICLR",), papers=("p",)), asked) == Filter(2020, 2021, ("ICLR",), ("Smith",), ("p",))
    assert narrowed(asked, Filter()) == asked


# --- in an answer -------------------------------------------------------------------------------------------------

DRUG = "The drug halves the growth of cancer in mice."
PAPERS = [
    Paper("old", "Early trial", DRUG, ("Jane Smith",), 2015, "ICML"),
    Paper("new", "Late trial", DRUG.replace("halves", "stops"), ("Ann Jones",), 2024, "NeurIPS"),
]


def bot(folder: Path, papers: list[Paper]) -> Assistant:
    embedder = KeywordEmbedder()
    store = VectorStore.create(folder, search_words, Manifest("keyword", 9, "sentences:900"))
    index_papers(store, embedder, papers)
    return Assistant(store, embedder, QuoteLLM())


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., Assistant]:
    return lambda papers=PAPERS: bot(tmp_path, papers)


@pytest.mark.parametrize(
    ("phrase", "cited"),
    [("since 2020", {"new"}), ("at ICML", {"old"}), ("by Jane Smith", {"old"}), ("in NeurIPS 2024", {"new"})],
)
def test_an_answer_rests_on_the_papers_that_its_question_names(
    asked: Callable[..., Assistant], phrase: str, cited: set[str]
) -> None:
    with asked() as assistant:
        answer = assistant.ask(f"What do papers {phrase} say of the drug for cancer in mice?")
        assert {reference.paper.id for reference in answer.references} == cited
        assert answer.filter is not None
        assert (answer.filter.papers_left, answer.filter.from_question) == (1, True)
        assert answer.searched == "What do papers say of the drug for cancer in mice?"
        free = assistant.ask(f"What do papers {phrase} say of the drug for cancer in mice?", constraints=False)
        assert free.filter is None
        assert free.searched == ""


def test_a_constraint_that_no_paper_meets_is_said(asked: Callable[..., Assistant]) -> None:
    with asked() as assistant:
        answer = assistant.ask("What do papers published in 1990 say of the drug for cancer?")
        assert answer.abstained
        assert answer.abstain_reason == "No paper in this collection is “in 1990”."
        answer = assistant.ask("What do papers by Jane Smith since 2020 say of the drug for cancer?")
        assert answer.abstained
        assert (
            answer.abstain_reason == "No paper in this collection meets the filter: 2020 and later, author Jane Smith."
        )


def test_a_collection_without_years_says_so_and_answers(asked: Callable[..., Assistant]) -> None:
    with asked([Paper("plain", "Trial", DRUG)]) as assistant:
        answer = assistant.ask("What do papers since 2020 say of the drug for cancer in mice?")
        assert not answer.abstained
        assert answer.filter is None
        assert answer.notices == ("Left aside “since 2020”: this collection does not say so much of its papers.",)


def test_a_follow_up_keeps_what_it_does_not_replace(asked: Callable[..., Assistant]) -> None:
    first = "What do papers at ICML since 2010 say of the drug for cancer in mice?"
    history = (Turn("user", first), Turn("assistant", "…", ("old",)))
    with asked() as assistant:
        again = assistant.ask("And of its growth?", history)
        assert again.filter is not None
        assert again.filter.only == Filter(2010, None, ("ICML",))
        other = assistant.ask("And in papers at NeurIPS?", history)
        assert other.filter is not None
        assert other.filter.only == Filter(2010, None, ("NeurIPS",))
        assert {reference.paper.id for reference in other.references} <= {"new"}
