"""Turns a question into hits, one a paper, best first."""

from __future__ import annotations

from collections.abc import Collection

from rag.embed import Embedder
from rag.question import content_words
from rag.text import searched
from vectorstore.filter import Filter
from vectorstore.passage import Hit
from vectorstore.store import VectorStore

_DEPTH = 50  # papers that either index proposes at least; 30 to 100 were equally good on SciFact train (eval/LOG.md)
NO_FILTER = Filter()


def retrieve(
    store: VectorStore,
    embedder: Embedder,
    question: str,
    k: int,
    only: Filter = NO_FILTER,
    also: Collection[str] = (),
) -> tuple[Hit, ...]:
    """The k papers nearest to the question, each by its best passage, best first, then those of `also` that came up."""
    vector = embedder.embed_query(searched(question))
    depth = max(_DEPTH, 2 * k)
    hits = store.search(vector, content_words(question), 2 * depth if also else k, depth, only)
    return hits[:k] + tuple(hit for hit in hits[k:] if hit.passage.paper_id in also)
