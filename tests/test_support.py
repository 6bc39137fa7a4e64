"""Whether cited words say what a sentence says: a table of both answers."""

from __future__ import annotations

import pytest

from rag.support import supports
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
    assert supports(sentence, quotes(cited))


@pytest.mark.parametrize(("sentence", "cited"), UNSUPPORTED)
def test_unsupported(sentence: str, cited: list[str]) -> None:
    assert not supports(sentence, quotes(cited))


@pytest.mark.parametrize("text", [cited for _, texts in SUPPORTED for cited in texts])
def test_every_text_supports_itself(text: str) -> None:
    assert supports(text, quotes([text]))
