"""The chat page's filters: what is typed there, shown, taken off, and held by every question, in a real browser too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from browser import CHROMIUM, FLAGS, HOSTILE, Scripted, Visit, Visitor, need_chromium, served

from rag.errors import UsageError
from rag.types import Answer, Claim, Scope
from ui.page_filters import filter_bar, typed_filter, without
from ui.render import shown
from vectorstore.filter import Filter

pytestmark = [
    pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting' is deprecated"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated and will be removed in a future version"),
]


class Dated(Scripted):
    """Says of its papers when and where they appeared; two of them meet any filter, none what is of 1990."""

    stated = frozenset({"year", "venue"})

    def scope(self, only: Filter) -> Scope | None:
        return Scope(only, 0 if only.first_year == 1990 else 2) if only else None


# --- what is typed ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "only"),
    [
        ({}, Filter()),
        ({"year": " ", "venue": " ; ,", "author": ""}, Filter()),
        ({"year": "2024.."}, Filter(2024)),
        ({"venue": "ICML; ACL", "author": "Smith, A. Jo"}, Filter(None, None, ("ICML", "ACL"), ("Smith", "A. Jo"))),
        ({"year": 2020, "other": "x"}, Filter(2020, 2020)),
    ],
)  # fmt: skip
def test_typed(typed: dict[str, object], only: Filter) -> None:
    assert typed_filter(typed) == only


@pytest.mark.parametrize("typed", [{"year": "20x4"}, {"year": "2024..2020"}, {"venue": "!"}, {"author": "."}])
def test_what_is_no_year_or_name_is_said(typed: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        typed_filter(typed)


def test_one_field_is_taken_off() -> None:
    only = Filter(2020, 2021, ("ICML", "ACL"), ("Smith",))
    assert without(only, "year") == Filter(None, None, ("ICML", "ACL"), ("Smith",))
    assert without(only, "venue") == Filter(2020, 2021, (), ("Smith",))
    assert without(only, "nothing") == only


def test_the_bar_offers_what_the_collection_says_of_its_papers() -> None:
    assert filter_bar(Scripted(), Filter()) == ""
    bar = filter_bar(Dated(), Filter())
    assert 'name="year"' in bar
    assert 'name="venue"' in bar
    assert 'name="author"' not in bar
    assert "held" not in bar


def test_the_bar_is_inert() -> None:
    bar = filter_bar(Dated(), Filter(venues=(HOSTILE,)), {"venue": HOSTILE}, HOSTILE)
    assert "<img" not in bar
    assert "<script" not in bar


def test_an_answer_says_what_it_is_from_and_offers_all_papers_when_its_question_chose() -> None:
    answer = Answer("Papers since 2020?", "Yes.", (Claim("Yes.", (), (), supported=True),))
    free = shown("t1", answer).sources
    given = shown("t1", Answer(**_fields(answer), filter=Scope(Filter(2020), 7))).sources
    asked = shown("t1", Answer(**_fields(answer), filter=Scope(Filter(2020), 7, from_question=True))).sources
    none = shown("t1", Answer(**_fields(answer), filter=Scope(Filter(2020), 0))).sources
    assert "From 7 papers: 2020 and later" in given
    assert "From 7 papers: 2020 and later" in asked
    assert ("data-free" in asked, "data-free" in given) == (True, False)
    assert "scope-line" not in free + none


def _fields(answer: Answer) -> dict[str, Any]:
    return {"question": answer.question, "text": answer.text, "claims": answer.claims}


# --- in the browser -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def assistant() -> Dated:
    return Dated()


@pytest.fixture(scope="module")
def url(assistant: Dated) -> Iterator[str]:
    with served(assistant) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    need_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any, url: str) -> Iterator[Visit]:
    visitors: list[Visitor] = []

    def opened(address: str = url, **context: Any) -> Any:
        visitors.append(Visitor(chromium, **context))
        page = visitors[-1].page
        page.set_default_timeout(20_000)
        page.goto(address)
        page.wait_for_selector(".welcome")
        return page

    yield opened
    for visitor in visitors:
        visitor.check()


def ask(page: Any, question: str, turn: int = 1) -> None:
    page.fill("#fn-box textarea", question)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#t{turn} .meta")


def apply(page: Any, **fields: str) -> None:
    if not page.query_selector(".filters details[open]"):
        page.click(".filters summary")
    for name, value in fields.items():
        page.fill(f"input[name={name}]", value)
    page.press(f"input[name={next(iter(fields))}]", "Enter")


def test_a_filter_holds_for_every_question_until_it_is_taken_off(visit: Visit, assistant: Dated) -> None:
    page = visit()
    apply(page, year="2024..", venue="ICML")
    page.wait_for_selector(".held")
    assert page.inner_text(".held").split("\n") == ["2024 and later ×", "ICML ×", "answers from 2 papers"]
    ask(page, "wisp?")
    assert assistant.limits == (Filter(2024, None, ("ICML",)), True)
    page.click("[data-restart]")
    page.click("[data-off=year]")
    page.wait_for_selector("[data-off=year]", state="detached")
    ask(page, "mono?")
    assert assistant.limits == (Filter(venues=("ICML",)), True)
    page.click("[data-off=venue]")
    page.wait_for_selector(".held", state="detached")
    ask(page, "sign?", 2)
    assert assistant.limits == (Filter(), True)


def test_a_filter_that_none_meets_is_said_before_anything_is_asked(visit: Visit) -> None:
    page = visit()
    apply(page, year="1990")
    page.wait_for_selector(".held")
    assert "no paper meets this" in page.inner_text(".held")


def test_bad_input_is_a_notice_that_loses_nothing(visit: Visit, assistant: Dated) -> None:
    page = visit()
    apply(page, venue="ICML")
    page.wait_for_selector(".held")
    apply(page, year="20x4")
    page.wait_for_selector(".filters .notice")
    assert "20x4" in page.inner_text(".filters .notice")
    assert page.input_value("input[name=year]") == "20x4"
    assert page.input_value("input[name=venue]") == "ICML"
    ask(page, "wisp?")
    assert assistant.limits == (Filter(venues=("ICML",)), True)
    apply(page, year="2020")
    page.wait_for_selector("[data-off=year]")
    assert not page.query_selector(".filters .notice")


def test_hostile_text_in_a_filter_is_only_text(visit: Visit) -> None:
    page = visit()
    apply(page, venue=HOSTILE)
    page.wait_for_selector(".held")
    assert "<img src=x" in page.inner_text(".held")
    assert page.evaluate("window.pwned") is None


def test_a_phone_has_room_for_the_filters(visit: Visit) -> None:
    page = visit(viewport={"width": 390, "height": 844})
    apply(page, year="2020..2024", venue="Conference on Robot Learning; Neural Information Processing Systems")
    page.wait_for_selector(".held")
    page.click(".filters summary")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.query_selector(".filter-form button").bounding_box()
    assert box["y"] + box["height"] < page.query_selector("#fn-box").bounding_box()["y"] + 20


def test_the_api_takes_filters(url: str, assistant: Dated) -> None:
    called = httpx.post(f"{url}gradio_api/call/ask", json={"data": ["wisp?", "2020..", "ICML", ""]}).json()
    said = httpx.get(f"{url}gradio_api/call/ask/{called['event_id']}", timeout=20).text
    assert "event: complete" in said
    assert assistant.limits == (Filter(2020, None, ("ICML",)), True)
    called = httpx.post(f"{url}gradio_api/call/ask", json={"data": ["wisp?", "20x4", "", ""]}).json()
    assert "20x4" in httpx.get(f"{url}gradio_api/call/ask/{called['event_id']}", timeout=20).text
