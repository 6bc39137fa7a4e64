"""An embedder whose vectors can be worked out by hand, and that comes in by the same door as a real one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rag.errors import BackendError
from rag.text import words
from vectorstore.passage import Vector

VOCABULARY = ("particle", "filter", "cancer", "drug", "graph", "proof", "language", "model")


class KeywordEmbedder:
    """One dimension a word of VOCABULARY, how often it stands in the text, then unit length.

    A text with none of the words lies along one more dimension, the last. embedded: how many texts
    `embed_documents` was given so far; fails_after: it raises BackendError on the text after so many.
    """

    def __init__(self, spec: str = "keyword", fails_after: int | None = None) -> None:
        self.spec = spec
        self.fails_after = fails_after
        self.embedded = 0

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """(n, 9), in the order of the texts."""
        if self.fails_after is not None and self.embedded + len(texts) > self.fails_after:
            raise BackendError(f"the embedder {self.spec} failed: Told to")
        self.embedded += len(texts)
        rows = [self.embed_query(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), len(VOCABULARY) + 1)

    def embed_query(self, text: str) -> Vector:
        """(9,)."""
        found = words(text)
        counts = [float(found.count(word)) for word in VOCABULARY]
        counts.append(0.0 if any(counts) else 1.0)
        vector: Vector = np.array(counts, dtype=np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)
