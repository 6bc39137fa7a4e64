"""A cross-encoder of sentence-transformers, by its name on the hub or its folder: reads two texts together."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import BackendError, ModelError


class CrossEncoderModel:
    """Safe in several threads. labels: what each score of a pair is of, as the model's config names them."""

    def __init__(self, name: str, kind: str) -> None:
        """kind: what it is to be, for what is said when it is none: "reranker", "verifier"; else ModelError."""
        from sentence_transformers import CrossEncoder  # noqa: PLC0415 - takes eight seconds

        self.name, self.kind = name, kind
        self._lock = Lock()  # a tokenizer that is set up for one batch cannot be for another
        try:
            self._model: Any = CrossEncoder(name)
        except (OSError, ValueError) as error:
            why, _, _ = str(error).partition("\n")
            raise ModelError(f"sentence-transformers cannot load {name!r}: {why}") from error
        config = getattr(getattr(self._model[0], "model", None), "config", None)
        architecture = next(iter(getattr(config, "architectures", None) or ()), "")
        # sentence-transformers would put a head of random weights on these, and say so in a log alone.
        if architecture.endswith(("Model", "MaskedLM")):
            raise ModelError(f"{name!r} is no {kind}: a {architecture} has no head that scores")
        named = getattr(config, "id2label", None) or {}
        self.labels = tuple(str(named.get(i, i)) for i in range(self._model.num_labels))

    def scores(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """(n, labels), in the order of the pairs, float32; BackendError when the model fails."""
        with self._lock:
            try:
                scores = self._model.predict(list(pairs), show_progress_bar=False)
            except RuntimeError as error:  # torch's, as when memory runs out
                raise BackendError(f"the {self.kind} st:{self.name} failed: {type(error).__name__}") from error
        return np.asarray(scores, dtype=np.float32).reshape(len(pairs), len(self.labels))
