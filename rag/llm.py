"""LLMs: a prompt in, text out piece by piece; and the table that turns a spec into one.

quote                          the default: the papers' own sentences; no model, no key, no network
openai:… anthropic:… ollama:…  any chat model that LangChain opens (see chat_model)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from rag.errors import UnknownSpec
from rag.quote import QuoteLLM
from rag.specs import PROVIDERS, make, needs_name
from rag.types import Prompt

DEFAULT_LLM = "quote"


class LLM(Protocol):
    """Writes an answer to a prompt; `spec` says which it is."""

    @property
    def spec(self) -> str:
        """The spec that makes this LLM again."""

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The answer in pieces, citing evidence by its [key]; raises BackendError when the service fails."""


def make_llm(spec: str) -> LLM:
    """The LLM that a spec names; UnknownSpec, MissingPackage or MissingKey say what is wrong."""
    return make("LLM", spec, _TABLE)


def _chat_model(provider: str) -> Callable[[str], LLM]:
    def made(name: str) -> LLM:
        from rag.chat_model import ChatModel  # noqa: PLC0415 - LangChain takes a second

        return ChatModel(provider, needs_name("LLM", provider, name, "MODEL"))

    return made


def _quote(name: str) -> LLM:
    if name:
        raise UnknownSpec(f"the LLM 'quote' takes no name, so not 'quote:{name}'")
    return QuoteLLM()


_TABLE: Mapping[str, Callable[[str], LLM]] = {
    "quote": _quote,
    **{provider: _chat_model(provider) for provider in PROVIDERS},
}
