"""Turns two scores of a paper, cosine and BM25, into the one that hits are ordered by."""

from __future__ import annotations

# On SciFact train, MED and TLDR alike within 0.003 of the best nDCG@10 that any of four fusions reached (eval/LOG.md).
LEXICAL_WEIGHT = 0.02


def fused(cosine: float, bm25: float) -> float:
    """cosine + 0.02 BM25; not standardised over the candidates, so that a paper's score does not hang on the others."""
    return cosine + LEXICAL_WEIGHT * bm25
