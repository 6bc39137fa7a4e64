"""From texts, papers and answers to inert HTML; and from titles to example questions."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace

import pytest

from rag.retrieve import NO_FILTER
from rag.types import Answer, Claim, Paper, Quote, Reference, Scope, Turn
from ui.page_chrome import header, welcome
from ui.page_examples import OUTSIDE, example_questions
from ui.page_relay import Relay
from ui.page_talk import BROKEN, STOPPED, Conversation, converse, papers
from ui.render import failed, shown
from ui.render_cards import address, byline, card, link
from ui.render_text import formulas, inline, marked, merged
from vectorstore.filter import Filter

PAPER = Paper("a", "A title", "One two. Three four.", ("A B", "C D"), 2024, "ACL", "https://x.example/1")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no formula", []),
        ("the $\\ell_2$ norm", ["$\\ell_2$"]),
        ("$n$ and $k\\tau$.", ["$n$", "$k\\tau$"]),
        ("at rate $$x = 1$$ here", ["$$x = 1$$"]),
        ("costs $5 or $10 a day", []),
        ("between $5-$10", []),
        ("$5 a day, or 30 US$", []),
        ("$5 a day, or $x$", ["$x$"]),
        ("it costs $ 5 $ more", []),
        ("a price of \\$5 and \\$6", []),
        ("$\\$5$", ["$\\$5$"]),
        ("lone $", []),
        ("$a\nb$", []),
        ("$$", []),
        ("$R^2{>}0.97$ for all", ["$R^2{>}0.97$"]),
    ],
)
def test_formulas(text: str, found: list[str]) -> None:
    assert [text[span.start : span.end] for span in formulas(text)] == found


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#x27;"),
        ("[a](javascript:x) ![i](http://h)", "[a](javascript:x) ![i](http://h)"),
        ("$a<b$", '<span class="math">$a&lt;b$</span>'),
        ("so ($x$)", 'so <span class="glued">(<span class="math">$x$</span>)</span>'),
        (
            "$x$–$y$, z",
            '<span class="glued"><span class="math">$x$</span>–</span>'
            '<span class="glued"><span class="math">$y$</span>,</span> z',
        ),
        ("$$x$$", '<span class="math display">$$x$$</span>'),
    ],
)
def test_text_becomes_inert_html(text: str, html: str) -> None:
    assert inline(text) == html


@pytest.mark.parametrize(
    ("spans", "runs"),
    [
        ([], []),
        ([(2, 4)], [(2, 4)]),
        ([(4, 6), (0, 2)], [(0, 2), (4, 6)]),
        ([(0, 4), (2, 6)], [(0, 6)]),
        ([(0, 8), (2, 4)], [(0, 8)]),
        ([(0, 2), (2, 4)], [(0, 4)]),
        ([(1, 3), (1, 3)], [(1, 3)]),
        ([(-5, 3), (8, 99)], [(0, 3), (8, 10)]),
        ([(3, 3), (7, 5)], []),
    ],
)
def test_spans_are_cut_to_the_text_and_joined(spans: list[tuple[int, int]], runs: list[tuple[int, int]]) -> None:
    assert [(run.start, run.end) for run in merged(spans, 10)] == runs


@pytest.mark.parametrize(
    ("text", "spans", "html"),
    [
        ("abc", [(1, 2)], 'a<mark data-q="1-2">b</mark>c'),
        ("abc", [(0, 2), (1, 3)], '<mark data-q="0-2 1-3">abc</mark>'),
        ("<i>&", [(0, 3)], '<mark data-q="0-3">&lt;i&gt;</mark>&amp;'),
        ("a $x$ b", [(0, 5)], '<mark data-q="0-5">a <span class="math">$x$</span></mark> b'),
        ("a $x$ b", [(0, 4)], '<mark data-q="0-4">a $x</mark>$ b'),
    ],
)
def test_quoted_words_are_marked(text: str, spans: list[tuple[int, int]], html: str) -> None:
    assert marked(text, spans) == html


@pytest.mark.parametrize(
    ("authors", "year", "venue", "line"),
    [
        ((), None, "", ""),
        (("A",), None, "", "A"),
        (("A", "B", "C"), 2020, "", "A, B, C · 2020"),
        (("A", "B", "C", "D"), 2020, "ACL", "A, B, C et al. · 2020 · ACL"),
        ((), None, "ACL", "ACL"),
    ],
)
def test_byline(authors: tuple[str, ...], year: int | None, venue: str, line: str) -> None:
    assert byline(Paper("a", "T", "", authors, year, venue)) == line


@pytest.mark.parametrize(
    ("url", "doi", "expected"),
    [
        ("https://x.example/a?b=1", "", "https://x.example/a?b=1"),
        (" HTTP://X.example ", "", "HTTP://X.example"),
        ("javascript:alert(1)", "", ""),
        ("data:text/html,x", "10.1/a b", "https://doi.org/10.1/a%20b"),
        ("//x.example/a", "", ""),
        ("https:///nohost", "", ""),
        ("http://[broken", "10.1/x", "https://doi.org/10.1/x"),
        ("", "", ""),
    ],
)
def test_only_web_addresses_become_links(url: str, doi: str, expected: str) -> None:
    paper = Paper("a", "T", "", url=url, doi=doi)
    assert address(paper) == expected
    assert ("<a " in link(paper)) == bool(expected)


def test_a_link_escapes_its_address() -> None:
    assert 'href="https://x.example/&quot;onclick=&quot;1"' in link(replace(PAPER, url='https://x.example/"onclick="1'))


def test_a_card_marks_only_quotes_of_its_own_paper() -> None:
    html = card(PAPER, "t1-r1", 1, (Quote("a", "One", 0, 3), Quote("b", "two", 4, 7)))
    assert re.findall(r"<mark.*?</mark>", html) == ['<mark data-q="0-3">One</mark>']
    assert "untitled" not in html
    assert "untitled: label from the abstract" in card(replace(PAPER, untitled=True), "t1-p1")


QUOTE = Quote("a", "One two.", 0, 8)
ANSWER = Answer(
    "q?",
    "One <two> [1]. Guess [1] [7]. Rest",
    (Claim("One <two> [1].", (1,), (QUOTE,)), Claim("Guess [1] [7].", (1,), (), False, "<x> is not")),
    (Reference(1, PAPER, (QUOTE,)),),
    llm="quote",
)


def test_markers_that_resolve_are_links_and_others_stay_text() -> None:
    html = shown("t1", ANSWER).body
    links = re.findall(r'href="(#[^"]*)" data-q="([^"]*)"', html)
    assert links == [("#t1-r1", "0-8"), ("#t1-r1", "")]
    assert " [7]." in html
    assert "One &lt;two&gt;<sup>" in html


def test_what_is_not_supported_is_marked() -> None:
    html = shown("t1", ANSWER).body
    assert re.findall(r'<span class="unsupported">(\w+)', html) == ["Guess"]
    assert re.findall(r'class="flag" role="note">([^<]*)<', html) == ["not supported: &lt;x&gt; is not"]
    bare = replace(ANSWER.claims[1], reason="")
    assert ">not supported</span>" in shown("t1", replace(ANSWER, claims=(ANSWER.claims[0], bare))).body


def test_a_number_that_its_sentence_does_not_cite_is_no_link() -> None:
    """The text [1] of a claim that does not cite it, and of what no claim covers."""
    uncited = replace(ANSWER.claims[1], references=())
    html = shown("t1", replace(ANSWER, text=f"{ANSWER.text} [1]", claims=(ANSWER.claims[0], uncited))).body
    assert html.count('class="cite"') == 1
    assert html.count(" [1]") == 2


def test_a_marker_inside_a_formula_is_left_alone() -> None:
    assert "cite" not in shown("t1", replace(ANSWER, text="$x[1]$", claims=())).body


def test_what_was_looked_for_is_shown_when_it_is_not_the_question() -> None:
    asked = replace(ANSWER, searched="Why? (What is <Wisp>)")
    assert '<p class="meta">Looked for: Why? (What is &lt;Wisp&gt;)</p>' in shown("t1", asked).sources
    assert "Looked for" not in shown("t1", replace(asked, done=False)).sources
    assert "Looked for" not in shown("t1", ANSWER).sources


def test_an_answer_grows_from_its_stage_to_its_words() -> None:
    waiting = shown("t1", Answer("q", done=False), "Searching…")
    assert (waiting.busy, waiting.body) == (True, '<p class="stage">Searching…</p>')
    growing = shown("t1", replace(ANSWER, done=False), "Searching…")
    assert growing.busy
    assert "Searching" not in growing.body
    assert "meta" not in growing.sources
    assert "meta" in shown("t1", ANSWER).sources


@pytest.mark.parametrize(("ms", "says"), [(49.6, "50 ms"), (1234.0, "1.2 s")])
def test_an_answer_says_who_answered_and_how_fast(ms: float, says: str) -> None:
    assert f"Answered by quote in {says}" in shown("t1", replace(ANSWER, timings_ms={"total": ms})).sources


def test_an_abstention_is_said_with_its_reason_and_neighbours() -> None:
    turn = shown("t2", Answer("q", "I cannot.", abstained=True, abstain_reason="Why <b>", nearest=(PAPER,)))
    assert "I cannot." in turn.body
    assert "Why &lt;b&gt;" in turn.body
    assert "Nearest papers" in turn.sources
    assert 'id="t2-p1"' in turn.sources
    assert "number" not in turn.sources


def test_a_failed_turn_offers_the_question_again() -> None:
    turn = failed("t1", 'is "x" <y>?', "no & no")
    assert 'data-question="is &quot;x&quot; &lt;y&gt;?"' in turn.body
    assert "no &amp; no" in turn.body


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Wisp: pruning by differences", "How does Wisp work?"),
        ("The Score Kalman Filter: filtering", "How does the Score Kalman Filter work?"),
        ("Wisp, Wisp+ and Whisper: pruning", "How do Wisp, Wisp+ and Whisper work?"),
        ("Is monoculture real?", "Is monoculture real?"),
        ("Beyond accuracy: a study", "What does “Beyond accuracy: a study” find?"),
        ("Learning to rank: a study.", "What does “Learning to rank: a study” find?"),
        ("Sparse attention in vision", "What does “Sparse attention in vision” find?"),
        ("What $\\ell_2$ cannot do", None),
        ("x" * 71, None),
    ],
)
def test_a_title_becomes_a_question(title: str, question: str | None) -> None:
    assert example_questions([Paper("a", title, "")]) == ((question,) if question else ())


def test_examples_ask_for_names_first_and_for_one_whole_title() -> None:
    titles = ["Plain one", "Wisp: a", "Plain two", "MCP: b", "Zeta: c"]
    assert example_questions([Paper(t, t, "") for t in titles]) == (
        "How does Wisp work?",
        "How does MCP work?",
        "What does “Plain one” find?",
    )


class Said:
    """An Answerer that says what it is given, once."""

    llm, embedder = "<llm>", "<embedder>"
    stated: frozenset[str] = frozenset({"year", "venue"})
    limits = (NO_FILTER, True)

    def __init__(self, *answers: Answer, count: int = 3) -> None:
        self.answers = answers
        self.count = count
        self.asked: tuple[str, Sequence[Turn]] | None = None

    def paper_count(self) -> int:
        return self.count

    def papers(self, limit: int = 50, offset: int = 0) -> tuple[Paper, ...]:
        return (PAPER,)[offset : offset + limit]

    def scope(self, only: Filter) -> Scope | None:
        return Scope(only, 2) if only else None

    def stream(
        self, question: str, history: Sequence[Turn] = (), only: Filter = NO_FILTER, *, constraints: bool = True
    ) -> Iterator[Answer]:
        self.limits = (only, constraints)
        self.asked = (question, history)
        yield from self.answers


def test_a_conversation_remembers_what_was_said_and_cited() -> None:
    bot = Said(ANSWER)
    *_, first = converse(bot, "q?", Conversation())
    assert first.halt is None
    assert first.turns == (Turn("user", "q?"), Turn("assistant", ANSWER.text, ("a",)))
    *_, second = converse(bot, "q?", first)
    assert bot.asked == ("q?", first.turns)
    assert [turn.key for turn in second.shown] == ["t1", "t2"]


def test_a_stopped_answer_keeps_its_words_and_says_so() -> None:
    growing = replace(ANSWER, done=False)
    talk = converse(Said(growing, growing), "q?", Conversation())
    first = next(talk)
    assert first.halt is not None
    next(talk)
    first.halt.set()
    *_, last = talk
    assert STOPPED in last.shown[0].body
    assert last.turns[1].paper_ids == ("a",)


def test_a_stop_before_any_word_leaves_no_answer_to_refer_to() -> None:
    talk = converse(Said(Answer("q?", done=False)), "q?", Conversation())
    halt = next(talk).halt
    assert halt is not None
    halt.set()
    *_, last = talk
    assert (last.turns, len(last.shown)) == ((), 1)


def test_a_turn_that_broke_off_is_settled() -> None:
    talk = converse(Said(ANSWER), "q?", Conversation())
    broken = next(talk)
    assert broken.settled() == broken, "it still runs"
    assert isinstance(talk, Generator)
    talk.close()
    assert BROKEN in broken.settled().shown[0].body
    assert not broken.settled().shown[0].busy
    assert Conversation().settled() == Conversation()


def test_the_relay_ends_with_the_last_item_and_hands_errors_on() -> None:
    def failing() -> Iterator[int]:
        yield from range(1000)
        raise ValueError("late")

    with pytest.raises(ValueError, match="late"):
        list(Relay(failing, threading.Event()).newest())
    assert [*Relay(lambda: iter(range(1000)), threading.Event()).newest()][-1] == 999


def test_the_header_and_the_empty_page_escape_what_they_show() -> None:
    bot = Said()
    assert "3 papers · answers only from their abstracts" in header(bot)
    assert "&lt;llm&gt; · &lt;embedder&gt;" in header(bot)
    assert OUTSIDE in welcome(bot)
    assert "footnote index papers.jsonl" in welcome(Said(count=0))


@pytest.mark.parametrize(("count", "words"), [(0, "0 papers"), (1, "1 paper"), (5183, "5,183 papers")])
def test_counts_in_words(count: int, words: str) -> None:
    assert papers(count) == words
