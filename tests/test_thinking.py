"""What a reasoning model thinks is not said, wherever the stream is cut."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rag.thinking import Spoken

SAID = [
    ("It needs 40.", "It needs 40."),
    ("<think>Let me see [1].</think>It needs 40.", "It needs 40."),
    ("<think>Let me see.</think>\n\nIt needs 40.", "It needs 40."),
    ("<THINKING>a</THINKING>b<thought>c</thought>d<reasoning>e</reasoning>f", "bdf"),
    ("It needs <think>hm</think>40.", "It needs 40."),
    ("<think>never ends", ""),
    ("<think></think>", ""),
    ("a < b and <b>c</b>, <thin", "a < b and <b>c</b>, <thin"),
    ("", ""),
]
# Models whose template opens the thought: what was said before its end is taken back.
RESTARTED = [
    ("I think it is [2].</think>It needs 40.", "It needs 40."),
    ("a</think>b</think>c", "c"),
    ("a</think><think>b</think>c", "c"),
]


def heard(pieces: Iterable[str], spec: str = "") -> tuple[str, bool]:
    """What is left in the end, and whether anything was taken back."""
    spoken = Spoken(pieces, spec)
    text, took_back = "".join(spoken), False
    while spoken.restarted:
        took_back |= bool(text)
        text = "".join(spoken)
    return text, took_back


@pytest.mark.parametrize("size", [1, 2, 7, 100])
@pytest.mark.parametrize(("written", "said"), SAID + RESTARTED)
def test_thoughts_are_left_out(written: str, said: str, size: int) -> None:
    pieces = [written[i : i + size] for i in range(0, len(written), size)]
    assert heard(pieces)[0].strip() == said


@pytest.mark.parametrize(("written", "said"), SAID + RESTARTED)
def test_only_a_thought_without_a_beginning_is_taken_back(written: str, said: str) -> None:
    text, took_back = heard(list(written))
    assert text.strip() == said
    assert took_back == ((written, said) in RESTARTED)


@pytest.mark.parametrize(
    "spec", ["ollama:deepseek-r1:7b", "openai:QwQ-32B", "ollama:qwen3-thinking", "openai:reasoner"]
)
@pytest.mark.parametrize(("written", "said"), RESTARTED)
def test_of_a_model_that_is_known_to_think_nothing_is_taken_back(written: str, said: str, spec: str) -> None:
    text, took_back = heard(list(written), spec)
    assert text.strip() == said
    assert took_back == (written.count("</think>") > 1 and "<think>" not in written)


def test_of_a_model_that_is_known_to_think_and_did_not_all_is_said() -> None:
    assert heard(["It ", "needs 40."], "ollama:deepseek-r1") == ("It needs 40.", False)


def test_words_come_as_they_are_said() -> None:
    spoken = iter(Spoken(["one ", "two <", "think>three"]))
    assert [next(spoken), next(spoken)] == ["one ", "two "]
