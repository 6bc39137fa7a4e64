"""Rerankers: a question and texts in, a score a text out; the table that turns a spec into one; and hits put in order.

none               the default: hits stay in the order of their fused scores
st:NAME_OR_FOLDER  any cross-encoder of sentence-transformers
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Protocol

import numpy as np

from rag.cross_encoder import CrossEncoderModel
from rag.errors import BackendError, ModelError
from rag.specs import make, needs_name, takes_no_name
from rag.text import searched
from vectorstore.passage import Hit, Vector

DEFAULT_RERANKER = "none"
DEPTH = 30  # papers that a reranker is given, the best of the fused order
_BATCH = 8
_log = logging.getLogger(__name__)


class Reranker(Protocol):
    """Reads a question and a text together; `spec` says which it is."""

    @property
    def spec(self) -> str:
        """The spec that makes this reranker again."""

    def score(self, question: str, texts: Sequence[str]) -> Vector:
        """(n,), in the order of the texts; higher is nearer, comparable within one question."""


def make_reranker(spec: str) -> Reranker | None:
    """The reranker that a spec names, None for "none" and ""; UnknownSpec or ModelError say what is wrong."""
    return make("reranker", spec or DEFAULT_RERANKER, _TABLE)


def reranked(
    hits: Sequence[Hit],
    question: str,
    reranker: Reranker,
    limit_ms: float,
    now: Callable[[], float] = perf_counter,
) -> tuple[Hit, ...]:
    """The hits, given best first, in the reranker's order; those beyond DEPTH or the limit follow in their own.

    limit_ms: after the first batch of 8, one more is scored only while as long as the last took is left. Hits keep
    their scores. now: a clock, in seconds. When the reranker fails, what it has not scored keeps its order.
    """
    began = last = now()
    took, scores = 0.0, list[float]()
    while batch := hits[len(scores) : min(len(scores) + _BATCH, DEPTH)]:
        if scores and (last - began) + took > limit_ms / 1000:
            break
        try:
            scores += reranker.score(searched(question), [_read(hit) for hit in batch]).tolist()
        except BackendError as error:
            _log.warning("%s; the papers stay in the order of their own scores", error)
            break
        before, last = last, now()
        took = last - before
    order = np.argsort(-np.array(scores), kind="stable")  # a score that is no number comes last
    return (*(hits[i] for i in order), *hits[len(scores) :])


def _read(hit: Hit) -> str:
    source = hit.passage.source
    # The title of a paper that had none is made of its abstract's own words.
    return searched(hit.passage.text if source.untitled else f"{source.title}. {hit.passage.text}")


class CrossEncoderReranker:
    """Any cross-encoder of sentence-transformers, by its name on the hub or its folder. Safe in several threads."""

    def __init__(self, name: str) -> None:
        self.spec = f"st:{name}"
        self._model = CrossEncoderModel(name, "reranker")
        if (count := len(self._model.labels)) != 1:
            raise ModelError(f"{name!r} is no reranker: it gives {count} scores to a text, not one")

    def score(self, question: str, texts: Sequence[str]) -> Vector:
        """(n,), in the order of the texts; higher is nearer."""
        return self._model.scores([(question, text) for text in texts])[:, 0]


_TABLE: Mapping[str, Callable[[str], Reranker | None]] = {
    "none": partial(takes_no_name, "reranker", "none"),
    "st": lambda name: CrossEncoderReranker(needs_name("reranker", "st", name, "NAME_OR_FOLDER")),
}
