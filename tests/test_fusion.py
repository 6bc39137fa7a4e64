"""One score out of two: cosine and a part of BM25, worked out by hand."""

from __future__ import annotations

import pytest

from vectorstore.fusion import LEXICAL_WEIGHT, fused

CASES = [
    (0.0, 0.0, 0.0),
    (1.0, 0.0, 1.0),
    (-1.0, 0.0, -1.0),
    (0.0, 10.0, 0.2),
    (0.5, 12.5, 0.75),
    (0.25, 0.0, 0.25),
]


@pytest.mark.parametrize(("cosine", "bm25", "score"), CASES)
def test_fuses(cosine: float, bm25: float, score: float) -> None:
    assert fused(cosine, bm25) == pytest.approx(score)


def test_more_of_either_is_more() -> None:
    assert fused(0.4, 3.0) < fused(0.5, 3.0) < fused(0.5, 4.0)
    assert 0 < LEXICAL_WEIGHT < 1
