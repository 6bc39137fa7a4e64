"""Whether cited words say what a sentence says: a table of both answers."""

from __future__ import annotations

import re

import pytest

from rag.support import check
from rag.types import Quote

SUPPORTED = [
    ("The filter needs 40 particles.", ["It needs 40 particles, where others need 400: the filter."]),
    ("A filter that needs forty", ["The filters needed forty of them"]),
    ("57240 threads were mined", ["57,240 threads in 1,774 repositories were mined"]),
    ("1,774 repositories were mined", ["in 1774 mined repositories"]),
    ("The weights lie in [0, 1].", ["weights in $[0,1]$"]),
    ("It rose by 0.970.", ["a rise of 0.97 was seen; it rose"]),
    ("It is $R^2{>}0.97$ for the law", ["the law holds with $R^2 > 0.97$"]),
    # two quotes together
    ("The drug halves growth and needs 40 mice.", ["The drug halves growth.", "It needs 40 mice."]),
]
UNSUPPORTED = [
    ("The filter needs 40 particles.", []),
    ("The filter needs 41 particles.", ["The filter needs 40 particles."]),
    ("The filter needs 4 particles.", ["The filter needs 40 particles."]),
    ("It costs 1.5 a day.", ["It costs 15 a day."]),
    ("Between 2 and 3 mice lived.", ["Of 23 mice, few lived."]),
    ("Bananas ripen faster near apples.", ["The filter needs 40 particles."]),
    ("The drug halves growth and needs 40 mice.", ["The drug halves growth."]),
    ("粒子滤波器需要四十个粒子。", ["The filter needs 40 particles."]),
]


def quotes(texts: list[str]) -> tuple[Quote, ...]:
    return tuple(Quote("p", text, 0, len(text)) for text in texts)


@pytest.mark.parametrize(("sentence", "cited"), SUPPORTED)
def test_supported(sentence: str, cited: list[str]) -> None:
    assert check(sentence, quotes(cited)).ok


@pytest.mark.parametrize(("sentence", "cited"), UNSUPPORTED)
def test_unsupported(sentence: str, cited: list[str]) -> None:
    support = check(sentence, quotes(cited))
    assert not support.ok
    assert support.reason


@pytest.mark.parametrize("text", [cited for _, texts in SUPPORTED for cited in texts])
def test_every_text_supports_itself(text: str) -> None:
    assert check(text, quotes([text])).ok


CITED = "Our method reduces error by 12%. Wisp outperforms BERT on 3 of 4 tasks. It does not need labels."


@pytest.mark.parametrize(
    ("sentence", "reason", "contradicts"),
    [
        ("The method reduces error by 13%.", "the number 13 does not stand in what it cites", False),
        ("The method reduces error by 12 ms.", "the number 12 stands there with another unit", False),
        ("It outperforms GPT on 3 of 4 tasks.", "the name GPT does not stand in what it cites", False),
        ("It does not reduce error.", "what it cites says the opposite, or does not deny it (“not reduce”)", True),
        ("It needs labels.", "what it cites says the opposite, or does not deny it (“need”)", True),
        ("It increases error by 12%.", "what it cites has the opposite of “increases”", True),
        ("BERT outperforms Wisp on tasks.", "has the two sides of “outperforms” the other way round", True),
        ("Rivers flood valleys every spring.", "too little of it stands in what it cites", False),
    ],
)
def test_what_is_wrong_is_said(sentence: str, reason: str, contradicts: bool) -> None:
    support = check(sentence, quotes(re.split(r"(?<=\.) ", CITED)))
    assert reason in support.reason
    assert (support.ok, support.contradicts) == (False, contradicts)
    assert support.thin == ("too little" in support.reason)
    assert 0 <= support.score < 1


def test_what_cites_nothing_says_so() -> None:
    assert check("It rains.", ()).reason == "it cites nothing"


@pytest.mark.parametrize(
    ("said", "ok"), [("错误减少了 12%，优于 BERT。", True), ("错误减少了 13%。", False), ("优于 GPT。", False)]
)
def test_of_another_language_numbers_and_names_are_compared(said: str, ok: bool) -> None:
    assert check(said, quotes([CITED]), foreign=True).ok is ok
