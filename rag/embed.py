"""Embedders: texts in, unit vectors out; and the table that turns a spec into one.

minilm                 all-MiniLM-L6-v2 through ONNX Runtime: the default, no network (minilm:fp32: full precision)
st:NAME_OR_FOLDER      any sentence-transformers model
openai:NAME …          embedding services, through LangChain
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rag.errors import BackendError, ModelError, UnknownSpec
from rag.specs import PROVIDERS, make, needs_name, provider_errors
from vectorstore.passage import Vector

DEFAULT_EMBEDDER = "minilm"


class Embedder(Protocol):
    """Turns texts into vectors of unit length; `spec` says which it is."""

    @property
    def spec(self) -> str:
        """The spec that makes this embedder again."""

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """(n, dim), in the order of the texts."""

    def embed_query(self, text: str) -> Vector:
        """(dim,)."""


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that can also show the vectors of the single tokens, for late interaction."""

    def embed_tokens(self, texts: Sequence[str]) -> tuple[TokenVectors, ...]:
        """One TokenVectors a text, in the order of the texts."""


class TokenVectors(Protocol):
    """The tokens of one text. spans: (t,) start and end of each in the text; vectors: (t, dim), unit length."""

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Character offsets, in order."""

    @property
    def vectors(self) -> Vector:
        """One row a token."""


def make_embedder(spec: str) -> Embedder:
    """The embedder that a spec names; UnknownSpec, MissingPackage, MissingKey or ModelError say what is wrong."""
    return make("embedder", spec, _TABLE)


def is_known(spec: str) -> bool:
    """Whether a spec is one that `make_embedder` knows."""
    return spec.partition(":")[0] in _TABLE


def unit(vectors: Vector) -> Vector:
    """Each row brought to unit length; a row of zeros stays."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Vector = (vectors / np.where(length > 0, length, 1.0)).astype(np.float32)
    return scaled


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _minilm(name: str) -> Embedder:
    if name not in {"", "int8", "fp32"}:
        raise UnknownSpec(f"no embedder is called 'minilm:{name}'; known: minilm (8 bits), minilm:fp32")
    from rag.minilm import MiniLM  # noqa: PLC0415 - onnxruntime is paid for by those who use it

    return MiniLM("fp32" if name == "fp32" else "int8")


class SentenceTransformerEmbedder:
    """Any sentence-transformers model, by its name on the hub or its folder."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - takes eight seconds

        self.spec = f"st:{name}"
        try:
            self._model: Any = SentenceTransformer(name)
        except (OSError, ValueError) as error:
            why, _, _ = str(error).partition("\n")
            raise ModelError(f"sentence-transformers cannot load {name!r}: {why}") from error

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """(n, dim), in the order of the texts."""
        return self._encode(self._model.encode_document, list(texts))

    def embed_query(self, text: str) -> Vector:
        """(dim,)."""
        vector: Vector = self._encode(self._model.encode_query, [text])[0]
        return vector

    def _encode(self, encode: Callable[..., Any], texts: list[str]) -> Vector:
        return unit(np.asarray(encode(texts, show_progress_bar=False), dtype=np.float32))


# LangChain would fetch OpenAI's tokenizer from a third host and send token ids, which no other server understands;
# a passage is far below any model's limit.
_OPTIONS: Mapping[str, Mapping[str, Any]] = {"openai": {"check_embedding_ctx_length": False}}


class LangChainEmbedder:
    """An embedding service behind LangChain's `init_embeddings`."""

    def __init__(self, provider: str, name: str) -> None:
        from langchain.embeddings import init_embeddings  # noqa: PLC0415 - takes a second

        self.spec = f"{provider}:{name}"
        with provider_errors(provider):
            self._model: Any = init_embeddings(name, provider=provider, **_OPTIONS.get(provider, {}))

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """(n, dim), in the order of the texts."""
        return unit(np.asarray(self._ask(self._model.embed_documents, list(texts)), dtype=np.float32))

    def embed_query(self, text: str) -> Vector:
        """(dim,)."""
        return unit(np.asarray(self._ask(self._model.embed_query, text), dtype=np.float32))

    def _ask(self, call: Callable[[Any], Any], given: Any) -> Any:
        try:
            return call(given)
        except Exception as error:  # every client library has error classes of its own
            raise BackendError(f"the embedder {self.spec} failed: {type(error).__name__}") from error


def _service(provider: str) -> Callable[[str], Embedder]:
    return lambda name: LangChainEmbedder(provider, needs_name("embedder", provider, name, "MODEL"))


_TABLE: Mapping[str, Callable[[str], Embedder]] = {
    "minilm": _minilm,
    "st": lambda name: SentenceTransformerEmbedder(needs_name("embedder", "st", name, "NAME_OR_FOLDER")),
    **{provider: _service(provider) for provider in PROVIDERS if provider != "anthropic"},
}
