"""LLMs: a prompt in, text out piece by piece; and the table that turns a spec into one.

quote                          the default: the papers' own sentences; no model, no key, no network
openai:… anthropic:… ollama:…  any chat model that LangChain opens (see chat_model)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Protocol, runtime_checkable

from rag.errors import UsageError
from rag.limits import DEFAULT_LIMITS, Limits
from rag.quote import QuoteLLM
from rag.specs import PROVIDERS, make, needs_name, takes_no_name
from rag.types import Prompt

DEFAULT_LLM = "quote"


@runtime_checkable
class LLM(Protocol):
    """Writes an answer to a prompt; `spec` says which it is."""

    @property
    def spec(self) -> str:
        """The spec that makes this LLM again."""

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The answer in pieces, citing evidence by its [key]; raises BackendError when the service fails."""


def make_llm(spec: str, limits: Limits = DEFAULT_LIMITS) -> LLM:
    """The LLM that a spec names; UnknownSpec, MissingPackage or MissingKey say what is wrong."""
    return make("LLM", spec, {provider: partial(make_one, limits=limits) for provider, make_one in _TABLE.items()})


def as_llm(value: object, limits: Limits = DEFAULT_LIMITS) -> LLM:
    """An LLM as it is, a chat model of LangChain's as an LLM, or what a spec names; UsageError for anything else."""
    if isinstance(value, str):
        return make_llm(value, limits)
    if isinstance(value, LLM):
        return value
    from rag.chat_model import ChatModel  # noqa: PLC0415 - a tenth of a second that `quote` does not need

    if ChatModel.can_be(value):
        return ChatModel.of(value, limits)
    raise UsageError(
        f"an LLM is a spec such as {DEFAULT_LLM!r}, a chat model of LangChain's, or an object with `spec` and "
        f"`stream(prompt)`; not {type(value).__name__}"
    )


def _chat_model(provider: str) -> Callable[..., LLM]:
    def made(name: str, limits: Limits) -> LLM:
        from rag.chat_model import ChatModel  # noqa: PLC0415 - LangChain takes a second

        return ChatModel.by_name(provider, needs_name("LLM", provider, name, "MODEL"), limits)

    return made


def _quote(name: str, limits: Limits) -> LLM:  # noqa: ARG001 - it takes no time and writes no tokens
    takes_no_name("LLM", "quote", name)
    return QuoteLLM()


_TABLE: Mapping[str, Callable[..., LLM]] = {
    "quote": _quote,
    **{provider: _chat_model(provider) for provider in PROVIDERS},
}
