"""Filters as people write them, what they are in words and in JSON, and answers that keep to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from fakes import KeywordEmbedder
from jsonschema import Draft202012Validator, ValidationError

from rag.answer_json import to_json
from rag.assistant import Assistant
from rag.errors import UsageError
from rag.filters import described, make_filter, read_filter, years, years_text
from rag.prompt import ABSTENTION
from rag.quote import QuoteLLM
from rag.text import search_words
from rag.types import Answer, Scope, Turn
from ui.cli_text import answer_text, hits_text
from ui.scope_text import scope_text
from vectorstore.filter import Filter
from vectorstore.store import VectorStore

SCHEMA = Draft202012Validator(json.loads((files("rag") / "data" / "answer.schema.json").read_text("utf-8")))
MODEL = "Which model or filter is good?"  # near "filter" (2021, NeurIPS) and "language" (2024, ICML)

YEARS = [
    # (as written, first, last, as it is written again)
    ("2024", 2024, 2024, "2024"),
    (" 2020..2022 ", 2020, 2022, "2020..2022"),
    ("2020-2022", 2020, 2022, "2020..2022"),
    ("2020 – 2022", 2020, 2022, "2020..2022"),
    ("2024..2024", 2024, 2024, "2024"),
    ("2024..", 2024, None, "2024.."),
    ("..2019", None, 2019, "..2019"),
]


@pytest.mark.parametrize(("text", "first", "last", "again"), YEARS)
def test_years_are_read_and_written(text: str, first: int | None, last: int | None, again: str) -> None:
    assert years(text) == (first, last)
    only = make_filter(text)
    assert only == Filter(first, last)
    assert years_text(only) == again
    assert make_filter(again) == only


@pytest.mark.parametrize("text", ["", "..", "-", "24", "20244", "2024,2025", "last year", "2024..25", "-1"])
def test_what_is_no_year_is_said(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no year; write 2024, 2020\.\.2022, 2024\.\. or \.\.2019$"):
        years(text)


def test_a_range_that_ends_before_it_begins() -> None:
    with pytest.raises(UsageError, match=r"'2022\.\.2020' ends before it begins"):
        years("2022..2020")


DESCRIBED = [
    (make_filter(), ""),
    (make_filter(2024), "2024"),
    (make_filter("2024..", "ICML"), "2024 and later, venue ICML"),
    (make_filter("..2019", author=["Smith", "Ng"]), "2019 and earlier, author Smith or Ng"),
    (make_filter("2020..2022", paper=["a", "b", "c"]), "2020 to 2022, paper a, b or c"),
    (make_filter(paper=[str(n) for n in range(1200)]), "paper one of 1,200"),
]


@pytest.mark.parametrize(("only", "said"), DESCRIBED, ids=[said or "nothing" for _, said in DESCRIBED])
def test_a_filter_in_words(only: Filter, said: str) -> None:
    assert described(only) == said
    assert bool(only) is bool(said)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (1234, "From 1,234 papers: 2024 and later, venue ICML"),
        (1, "From 1 paper: 2024 and later, venue ICML"),
        (0, "No paper meets the filter: 2024 and later, venue ICML"),
    ],
)
def test_how_many_papers_it_leaves_in_words(left: int, said: str) -> None:
    assert scope_text(Scope(make_filter("2024..", ["ICML"]), left)) == said


READ = [
    ({}, Filter()),
    ({"year": None, "venue": None, "author": [], "paper": []}, Filter()),
    ({"year": 2024}, Filter(2024, 2024)),
    ({"year": "2024..", "venue": ["ICML", "ACL"]}, Filter(2024, None, ("ICML", "ACL"))),
    ({"author": "Smith", "paper": "id"}, Filter(authors=("Smith",), papers=("id",))),
]


@pytest.mark.parametrize(("given", "only"), READ)
def test_a_filter_is_read_from_json(given: object, only: Filter) -> None:
    assert read_filter(given) == only


WRONG = [
    (["ICML"], r'^filter must be an object such as \{"year": "2024\.\.", "venue": \["ICML"\]\}, not \[\'ICML\'\]$'),
    ("2024", "^filter must be an object"),
    ({"yaer": "2024"}, r"^'yaer' is no filter; did you mean year\? Known: year, venue, author, paper$"),
    ({"Venue": "ICML"}, r"did you mean venue\?"),
    ({"qqq": 1}, "^'qqq' is no filter; known: year"),
    ({"year": True}, "^the filter's year must be a text such as 2024 or 2020..2022, not True$"),
    ({"year": [2024]}, "year must be a text"),
    ({"year": "soon"}, "^'soon' is no year"),
    ({"venue": 7}, "^the filter's venue must be a name or a list of names, not 7$"),
    ({"author": ["Ng", None]}, "author must be a name or a list of names"),
    ({"author": "J."}, "^author 'J.' has no word to look for"),
    ({"venue": [" "]}, "^venue '' has no word"),
    ({"paper": ""}, "^paper '' is no id"),
]


@pytest.mark.parametrize(("given", "said"), WRONG)
def test_what_is_wrong_with_a_filter_is_one_line(given: object, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        read_filter(given)
    assert "\n" not in str(caught.value)


# --- answers that keep to it --------------------------------------------------------------------------------------


@pytest.fixture
def bot(store_folder: Path) -> Iterator[Assistant]:
    with VectorStore.open(store_folder, search_words) as store:
        yield Assistant(store, KeywordEmbedder(), QuoteLLM())


def check(answer: Answer) -> dict[str, object]:
    """Its JSON, which the schema allows."""
    found: dict[str, object] = json.loads(json.dumps(to_json(answer)))
    SCHEMA.validate(found)
    return found


def papers_of(answer: Answer) -> set[str]:
    return {hit.passage.paper_id for hit in answer.hits} | {reference.paper.id for reference in answer.references}


def test_an_answer_rests_on_what_the_filter_leaves_and_says_so(bot: Assistant) -> None:
    free = bot.ask(MODEL)
    assert {"filter", "language"} <= papers_of(free)
    assert check(free)["filter"] is None
    assert "From " not in answer_text(free)
    answer = bot.ask(MODEL, only=make_filter("2024..", "icml", "HOPPER"))
    assert not answer.abstained
    assert papers_of(answer) == {"language"}
    assert check(answer)["filter"] == {
        "year": "2024..", "venue": ["icml"], "author": ["HOPPER"], "paper": [], "papers_left": 1, "from_question": False
    }  # fmt: skip
    assert "\nFrom 1 paper: 2024 and later, venue icml, author HOPPER" in answer_text(answer)


def test_every_growing_answer_knows_its_filter(bot: Assistant) -> None:
    only = make_filter(paper=["filter", "language", "unknown"])
    grown = list(bot.stream(MODEL, only=only))
    assert len(grown) > 1
    assert {answer.filter for answer in grown} == {Scope(only, 2)}


def test_a_filter_that_no_paper_meets_abstains_and_says_so(bot: Assistant) -> None:
    answer = bot.ask(MODEL, only=make_filter("2030..", "ICML"))
    assert (answer.abstained, answer.text, answer.done) == (True, ABSTENTION, True)
    assert answer.abstain_reason == "No paper in this collection meets the filter: 2030 and later, venue ICML."
    assert (answer.hits, answer.nearest) == ((), ())
    assert check(answer)["filter"] == {
        "year": "2030..", "venue": ["ICML"], "author": [], "paper": [], "papers_left": 0, "from_question": False
    }  # fmt: skip
    assert answer_text(answer) == f"{ABSTENTION}\n{answer.abstain_reason}"


def test_a_follow_up_does_not_bring_back_what_the_filter_left_out(bot: Assistant) -> None:
    history = (Turn("user", "What does the particle filter need?"), Turn("assistant", "It needs 40 [1].", ("filter",)))
    assert "filter" in papers_of(bot.ask("And what of its error?", history))
    assert "filter" not in papers_of(bot.ask("And what of its error?", history, make_filter(2024)))


def test_search_says_what_it_searched(bot: Assistant) -> None:
    only = make_filter("1990..2005")
    found = bot.search("particle filter", 10, only)
    assert {paper.id for paper in found.papers} == {"cancer", "graph"}
    assert hits_text(found, bot.scope(only)).startswith("From 2 papers: 1990 to 2005\n\n1. ")
    none = make_filter("1066")
    assert hits_text(bot.search("filter", 10, none), bot.scope(none)) == "No paper meets the filter: 1066"
    assert bot.scope(Filter()) is None


def test_the_schema_refuses_a_filter_that_is_half_said(bot: Assistant) -> None:
    found = check(bot.ask(MODEL, only=make_filter(2024)))
    for wrong in ({}, {**dict(found["filter"]), "year": "24"}, {**dict(found["filter"]), "colour": "red"}):  # type: ignore[call-overload]
        with pytest.raises(ValidationError):
            SCHEMA.validate({**found, "filter": wrong})
