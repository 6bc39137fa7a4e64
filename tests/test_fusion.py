"""One score out of two: the sum of z-scores, worked out by hand."""

from __future__ import annotations

import pytest

from vectorstore.fusion import fuse

CASES = [
    ({}, {}),
    ({"a": (0.9, 7.0)}, {"a": 0.0}),
    ({"a": (1.0, 0.0), "b": (0.0, 0.0)}, {"a": 1.0, "b": -1.0}),
    ({"a": (0.0, 8.0), "b": (0.0, 4.0)}, {"a": 0.5, "b": -0.5}),
    ({"a": (0.2, 0.0), "b": (0.4, 10.0)}, {"a": -1.5, "b": 1.5}),
    ({"a": (0.4, 0.0), "b": (0.2, 10.0)}, {"a": 0.5, "b": -0.5}),
    ({"a": (-1.0, 1.0), "b": (-1.0, 1.0), "c": (-1.0, 1.0)}, {"a": 0.0, "b": 0.0, "c": 0.0}),
]


@pytest.mark.parametrize(("pairs", "scores"), CASES)
def test_fuses(pairs: dict[str, tuple[float, float]], scores: dict[str, float]) -> None:
    fused = fuse(pairs)
    assert list(fused) == list(scores)
    assert fused == pytest.approx(scores)


def test_neither_scale_nor_offset_of_a_score_matters() -> None:
    pairs = {"a": (0.1, 3.0), "b": (0.3, 1.0), "c": (0.8, 0.0)}
    moved = {i: (2 * cosine + 5, 100 * score - 7) for i, (cosine, score) in pairs.items()}
    assert fuse(moved) == pytest.approx(fuse(pairs))
