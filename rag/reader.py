"""The reader: what the words of questions and of abstracts are compared with, to tell which sentence answers.

It is the embedded embedder's own weights with a low-rank adapter (0.7 MB, data/reader.safetensors) that was trained for
late interaction on questions about abstracts, with a constant that stands for "none of these answers"; how, and what it
gained, stands in eval/reader_train.py and eval/LOG.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

import numpy as np

from rag.minilm import MiniLM


class Reader(MiniLM):
    """Token vectors for late interaction, and the odds that a question is answered."""

    def __init__(self) -> None:
        from safetensors.numpy import load  # noqa: PLC0415

        adapter = (files("rag") / "data" / "reader.safetensors").read_bytes()
        super().__init__(adapter=adapter)
        learnt = load(adapter)
        self._scale, self._none = float(np.exp(learnt["scale"].astype(np.float32))), float(learnt["none"])

    def odds(self, matched: Sequence[float]) -> float:
        """The log-odds that any of the sentences answers, against none; matched: late interaction of each."""
        if not len(matched):
            return -np.inf
        return float(
            np.logaddexp.reduce(self._scale * np.asarray(matched, dtype=np.float64)) - self._scale * self._none
        )


@lru_cache(maxsize=1)
def reader() -> Reader:
    """The one reader of this process."""
    return Reader()
