"""The chat page in a real browser: what a reader sees, can do, and is kept safe from."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser import (
    CHROMIUM,
    FLAGS,
    HOSTILE,
    PAPERS,
    UNSUPPORTED,
    Scripted,
    Visit,
    Visitor,
    free_port,
    need_chromium,
    sentence,
    served,
)

from rag.types import Turn
from ui.errors import PageError
from ui.page import serve

# Gradio keeps statistics of its queue with pandas, in ways that pandas 3 warns about.
pytestmark = [
    pytest.mark.filterwarnings("ignore:'future.no_silent_downcasting' is deprecated"),
    pytest.mark.filterwarnings("ignore:The copy keyword is deprecated and will be removed in a future version"),
]

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def assistant() -> Scripted:
    return Scripted()


@pytest.fixture(scope="module")
def url(assistant: Scripted) -> Iterator[str]:
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
def visit(chromium: Any, url: str, assistant: Scripted) -> Iterator[Visit]:
    """Opens the page; every window must be clean in the end."""
    assistant.asked.clear()
    assistant.go_on.clear()
    assistant.closed.clear()
    visitors: list[Visitor] = []

    def opened(address: str = url, **context: Any) -> Any:
        visitors.append(Visitor(chromium, **context))
        page = visitors[-1].page
        page.set_default_timeout(20_000)
        page.goto(address)
        page.wait_for_selector(".welcome")
        return page

    yield opened
    assistant.go_on.set()
    for visitor in visitors:
        visitor.check()


def ask(page: Any, question: str, nth: int = 1) -> Any:
    """Type, send, wait for the finished answer; returns its turn."""
    page.fill("#fn-box textarea", question)
    page.press("#fn-box textarea", "Enter")
    page.wait_for_selector(f"#t{nth}.turn:not(.busy)")
    page.wait_for_selector("#fn-box .submit-button")
    return page.locator(f"#t{nth}")


def test_an_answer_streams_and_its_reference_opens_on_the_quoted_words(visit: Visit, assistant: Scripted) -> None:
    page = visit()
    page.fill("#fn-box textarea", "slowly wisp and mono?")
    page.press("#fn-box textarea", "Enter")
    page.wait_for_selector(".turn.busy .said")
    assert page.input_value("#fn-box textarea") == ""
    assert page.locator(".turn .cite").count() == 1, "one sentence so far"
    assistant.go_on.set()
    page.wait_for_selector("#t1:not(.busy)")

    assert page.locator("#t1 .cite").all_inner_texts() == ["[1]", "[2]"]
    assert page.inner_text("#t1 .meta") == "Answered by quote in 1.2 s"
    page.click("#t1 .cite >> nth=1")
    card = page.locator("#t1-r2")
    assert card.locator("details").get_attribute("open") is not None
    assert card.locator("mark.now").inner_text() == sentence(PAPERS[1], 1).text
    assert page.evaluate("document.activeElement.closest('li').id") == "t1-r2"
    page.keyboard.press("Enter")
    assert card.locator("details").get_attribute("open") is None, "the keyboard closes it"
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.className") == "cite", "and leads back"


def test_a_reference_is_described_and_linked_safely(visit: Visit) -> None:
    turn = ask(visit(), "wisp and sign")
    by = turn.locator(".by").all_inner_texts()
    assert by == [
        "Emmy Noether, Ada Lovelace, Alan Turing et al. · 2026 · NeurIPS",
        "untitled: label from the abstract",
    ]
    out = turn.locator("a.out")
    assert out.get_attribute("href") == "https://papers.example/wisp?a=1&b=2"
    assert "noopener" in str(out.get_attribute("rel"))


def test_an_unsupported_sentence_is_marked(visit: Visit) -> None:
    turn = ask(visit(), "wisp and sign")
    assert "The sign code decides." in turn.locator(".unsupported").inner_text()
    assert turn.locator(".flag").inner_text() == f"not supported: {UNSUPPORTED}"


def test_numbers_and_open_references_outlive_the_next_question(visit: Visit, assistant: Scripted) -> None:
    page = visit()
    ask(page, "mono")
    page.click("#t1 summary")
    second = ask(page, "wisp and mono", 2)
    assert second.locator(".cite").all_inner_texts() == ["[2]", "[1]"]
    assert second.locator(".number").all_inner_texts() == ["1", "2"]
    assert page.locator("#t1 details").get_attribute("open") is not None
    _, history = assistant.asked[-1]
    answer = f"{sentence(PAPERS[1], 1).text} [1]"
    assert history == (Turn("user", "mono"), Turn("assistant", answer, ("mono",)))


def test_an_abstention_gives_its_reason_and_the_nearest_papers(visit: Visit) -> None:
    turn = ask(visit(), "the weather")
    assert turn.locator(".verdict").inner_text() == "The abstracts do not say."
    assert turn.locator(".reason").inner_text() == "No paper speaks of the weather"
    assert turn.locator("h3").inner_text().lower() == "nearest papers"
    turn.locator("summary").first.click()
    assert "Pruning makes models small." in turn.locator(".abstract").first.inner_text()


def test_notices_are_shown(visit: Visit) -> None:
    assert ask(visit(), "mono, remark").locator(".notice").inner_text() == "A calm remark."


def test_stop_stops_at_once_and_keeps_what_was_written(visit: Visit, assistant: Scripted) -> None:
    page = visit()
    page.fill("#fn-box textarea", "slowly wisp and mono")
    page.press("#fn-box textarea", "Enter")
    page.wait_for_selector(".turn.busy .said")
    page.click("#fn-box .stop-button")
    page.wait_for_selector("#t1:not(.busy) .notice")
    assert "97%" in page.inner_text("#t1 .said")
    assert not assistant.closed.is_set(), "the model was still silent when the page had stopped"
    assistant.go_on.set()
    assert assistant.closed.wait(5), "the assistant's own stream is closed"
    ask(page, "mono", 2)
    assert [turn.paper_ids for turn in assistant.asked[-1][1]] == [(), ("wisp",)]


def test_an_error_is_one_line_and_the_question_can_be_asked_again(visit: Visit, assistant: Scripted) -> None:
    page = visit()
    turn = ask(page, "fails")
    assert turn.locator(".notice").inner_text().startswith("the model at http://localhost:1 does not answer")
    turn.locator("[data-question]").click()
    page.wait_for_selector("#t2:not(.busy) .notice")
    assert [question for question, _ in assistant.asked] == ["fails", "fails"]


@pytest.mark.usefixtures("capsys")
def test_a_bug_leaves_a_page_that_works(visit: Visit) -> None:
    page = visit()
    assert "Something went wrong" in ask(page, "breaks").inner_text()
    assert ask(page, "mono", 2).locator(".cite").count() == 1


def test_enter_sends_and_shift_enter_starts_a_line(visit: Visit, assistant: Scripted) -> None:
    page = visit()
    page.fill("#fn-box textarea", "mono")
    page.press("#fn-box textarea", "Shift+Enter")
    page.type("#fn-box textarea", "indeed")
    page.press("#fn-box textarea", "Enter")
    page.wait_for_selector("#t1:not(.busy)")
    assert assistant.asked[0][0] == "mono\nindeed"


def test_an_example_is_asked_by_a_click_and_a_new_conversation_forgets(visit: Visit, assistant: Scripted) -> None:
    page = visit()
    page.click("text=Is monoculture real?")
    page.wait_for_selector("#t1:not(.busy)")
    assert assistant.asked == [("Is monoculture real?", ())]
    assert not page.is_visible(".welcome")
    page.click("text=New conversation")
    page.wait_for_selector(".welcome", state="visible")
    ask(page, "mono")
    assert assistant.asked[-1] == ("mono", ())


def test_two_people_do_not_meet(visit: Visit, assistant: Scripted) -> None:
    one, two = visit(), visit()
    one.fill("#fn-box textarea", "slowly wisp and mono")
    one.press("#fn-box textarea", "Enter")
    one.wait_for_selector(".turn.busy .said")
    assert ask(two, "mono").locator(".cite").all_inner_texts() == ["[1]"]
    assert assistant.asked[-1] == ("mono", ())
    assistant.go_on.set()
    one.wait_for_selector("#t1:not(.busy)")


def test_formulas_are_set_and_prices_are_not(visit: Visit) -> None:
    page = visit()
    turn = ask(page, "wisp")
    turn.locator(".said .math.set .katex").wait_for()
    turn.locator("summary").click()
    marked = turn.locator("mark .math.set .katex")
    marked.wait_for()
    assert turn.locator(".abstract .math").count() == 1
    assert "It costs $5 a day, or 9$." in turn.locator(".abstract").inner_text()


def test_hostile_text_is_only_text(visit: Visit) -> None:
    page = visit()
    turn = ask(page, f"evil {HOSTILE} ![p](https://evil.example/q.png)")
    assert HOSTILE in turn.locator(".question").inner_text()
    assert HOSTILE in turn.locator(".title").inner_text()
    turn.locator("summary").click()
    text = turn.locator(".abstract").inner_text()
    assert HOSTILE in text
    assert "{{7*7}} ${7*7}" in text
    assert turn.locator("img, script, a:not(.cite), iframe").count() == 0
    page.wait_for_timeout(300)


def test_a_phone_has_no_sideways_scroll(visit: Visit) -> None:
    page = visit(viewport={"width": 390, "height": 700})
    turn = ask(page, "wisp and evil and sign")
    for summary in turn.locator("summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    box = page.locator("#fn-box textarea").bounding_box()
    assert 0 < box["y"] < 700 - box["height"], "the question box is in view"
    assert float(page.evaluate("parseFloat(getComputedStyle(document.querySelector('textarea')).fontSize)")) >= 16


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(visit: Visit, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    colours = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('h1')).color]"
    )
    ground, ink = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert (ground > 700 and ink < 150) if scheme == "light" else (ground < 100 and ink > 600)


def test_an_empty_index_says_what_to_run(visit: Visit) -> None:
    with served(Scripted(())) as address:
        page = visit(address)
        assert page.inner_text(".welcome code").startswith("footnote index papers.jsonl")
        assert page.is_disabled("#fn-box textarea")
        page.goto("about:blank")


def test_nothing_of_gradio_shows(visit: Visit) -> None:
    page = visit()
    assert "gradio" not in page.inner_text("body").lower()
    assert page.title() == "Footnote"


# The HTTP API


def post(url: str, question: str) -> list[str]:
    """The server-sent lines of one call of /ask."""
    with httpx.Client(base_url=f"{url}gradio_api/", trust_env=False, timeout=20) as client:
        event = client.post("call/ask", json={"data": [question, "", "", ""]}).json()["event_id"]
        return client.get(f"call/ask/{event}").text.splitlines()


def test_the_api_is_one_endpoint_that_answers_in_json(url: str) -> None:
    info = httpx.get(f"{url}gradio_api/info", trust_env=False).json()
    assert list(info["named_endpoints"]) == ["/ask"]
    kind, data = post(url, "wisp")[:2]
    assert kind == "event: complete"
    (answer,) = json.loads(data.removeprefix("data: "))
    assert answer["references"][0]["number"] == 1
    assert answer["claims"][0]["quotes"][0]["paper_id"] == "wisp"


@pytest.mark.parametrize(
    ("question", "says"), [("fails", "does not answer; start it"), (" ", "The question is empty.")]
)
def test_the_api_says_what_went_wrong(url: str, question: str, says: str) -> None:
    kind, data = post(url, question)[:2]
    assert kind == "event: error"
    assert says in data


# Serving


@pytest.mark.parametrize(
    ("host", "port", "says"),
    [
        ("no such host", 7860, "no address 'no such host'; choose one with --host"),
        ("127.0.0.1", 70000, "port 70000 does not exist"),
    ],
)
def test_a_bad_address_is_one_clear_line(host: str, port: int, says: str) -> None:
    with pytest.raises(PageError, match=says):
        serve(Scripted(), host, port)


def test_a_busy_port_names_the_way_out() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(PageError, match=f"port {port} is in use; choose another with --port"):
            serve(Scripted(), "127.0.0.1", port)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_serving_ends_quietly_when_it_is_interrupted(sign: signal.Signals) -> None:
    # A shell that runs the tests in its background has them ignore Ctrl-C, and whatever they start.
    code = (
        "import signal, sys, browser, ui.page; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "ui.page.serve(browser.Scripted(), '127.0.0.1', int(sys.argv[1]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, str(free_port())],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("Footnote is at http://127.0.0.1:")
    process.send_signal(sign)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")
