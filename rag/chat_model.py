"""LLMs behind LangChain's `init_chat_model`: any hosted or local chat model, by spec.

    openai:gpt-4.1-mini                                   a hosted model; its key from the environment
    ollama:qwen3:4b                                       a local Ollama
    openai:NAME@http://127.0.0.1:8080/v1                  any OpenAI-compatible server (llama.cpp, vLLM, LM Studio)

It turns a prompt into messages and a model's stream into pieces of text. What a model writes is not trusted here:
citing and verifying come after.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from rag.errors import BackendError
from rag.limits import Limits
from rag.messages import messages
from rag.specs import provider_errors
from rag.types import Prompt

log = logging.getLogger(__name__)

_TIMEOUT = 60.0  # seconds without an answer
_MAX_TOKENS = 700  # of an answer; a long one has about 250


class ChatModel:
    """A chat model that LangChain can open."""

    def __init__(self, provider: str, name: str) -> None:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - takes a second

        self.spec = f"{provider}:{name}"
        model, _, url = name.partition("@")
        options: dict[str, Any] = {"timeout": _TIMEOUT, "max_tokens": _MAX_TOKENS, "temperature": 0.0, "max_retries": 2}
        if url:
            # A server of one's own asks for no key, but the client library wants one.
            options |= {"base_url": url, "api_key": "none"}
        with provider_errors(provider):
            self._model: Any = init_chat_model(model, model_provider=provider, **options)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The answer in pieces, citing evidence by its [key]; BackendError when the service fails."""
        try:
            for piece in self._model.stream(messages(prompt, Limits())):
                yield str(piece.text)
        except Exception as error:  # every client library has error classes of its own
            log.debug("%s failed", self.spec, exc_info=True)
            raise BackendError(f"the LLM {self.spec} failed ({type(error).__name__})") from error
