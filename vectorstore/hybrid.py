"""Turns a question's vector and words into hits, one a paper, by asking both halves of an index.

Either half proposes papers: the vectors those with the nearest passages, the words those that share its rarer words.
Every proposed paper then gets both scores in full, but for those that could not come among the best any more.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vectorstore.filter import Filter
from vectorstore.fusion import fused
from vectorstore.lexical import LexicalIndex
from vectorstore.passage import Hit, Vector

if TYPE_CHECKING:
    from vectorstore.dense import DenseIndex

_PASSAGES = 2  # looked at for each paper wanted; an abstract has about 1.7


def search(
    dense: DenseIndex, lexical: LexicalIndex, vector: Vector, words: Sequence[str], k: int, depth: int, only: Filter
) -> tuple[Hit, ...]:
    """The k best papers, best first, each by its nearest passage, out of `depth` that either half proposes."""
    near = dense.search(vector, _PASSAGES * depth, only)
    best = _best(near, lexical.paper_ids(list(near)))
    likely = lexical.search(words, depth, only)
    bm25 = lexical.scores({*best, *likely}, words)
    scores = {paper: fused(cosine, bm25[paper]) for paper, (cosine, _) in best.items() if paper in bm25}
    unseen = [paper for paper in likely if paper in bm25 and paper not in best]
    if len(near) == _PASSAGES * depth and len(scores) >= k:
        # No passage of theirs is nearer than the last one found, so that many cannot come among the k best.
        nearest, least = min(near.values()), min(heapq.nlargest(k, scores.values()), default=0.0)
        unseen = [paper for paper in unseen if fused(nearest, bm25[paper]) >= least]
    owners = lexical.passage_ids_of(unseen)
    best |= _best(dense.cosines(list(owners), vector), owners)
    scores |= {paper: fused(best[paper][0], bm25[paper]) for paper in unseen if paper in best}
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
    passages = lexical.passages([best[paper][1] for paper, _ in ranked])
    found = [(passages.get(best[paper][1]), paper, score) for paper, score in ranked]
    return tuple(Hit(passage, score, best[paper][0], bm25[paper]) for passage, paper, score in found if passage)


def _best(cosines: Mapping[str, float], owners: Mapping[str, str]) -> dict[str, tuple[float, str]]:
    """Paper id → the highest cosine of its passages, and that passage; one without an owner is just being written."""
    best: dict[str, tuple[float, str]] = {}
    for passage, cosine in cosines.items():
        paper = owners.get(passage)
        if paper is not None and cosine > best.get(paper, (-2.0, ""))[0]:
            best[paper] = cosine, passage
    return best
