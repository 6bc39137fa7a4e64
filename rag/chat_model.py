"""LLMs behind LangChain's `init_chat_model`: any hosted or local chat model, by spec or as a LangChain object.

    openai:gpt-4.1-mini                                   a hosted model; its key from the environment
    ollama:qwen3:4b                                       a local Ollama
    openai:NAME@http://127.0.0.1:8080/v1                  any OpenAI-compatible server (llama.cpp, vLLM, LM Studio)

It turns a prompt into messages and a model's stream into pieces of text, within the limits, and whatever goes wrong
into one BackendError. What a model writes is not trusted here: citing and verifying come after.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from threading import Event
from typing import Any

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    sleep_using_event,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from rag.chat_options import options_of, service_of
from rag.deadline import TimeUp, within
from rag.errors import BackendError
from rag.faults import NO_ANSWER, Fault, Service, fault_of
from rag.limits import Limits
from rag.messages import messages
from rag.specs import provider_errors
from rag.types import Prompt

log = logging.getLogger(__name__)

_ATTEMPTS = 4
_WAIT = wait_random_exponential(multiplier=0.5, max=8)  # seconds before the next attempt
_LETTERS = 8  # of a token, at most, on average; an answer with more does not come to an end
_REPLY = 1600  # characters of a rewritten question, with the thoughts of a model that thinks aloud
_ENDED = re.compile(r"[.!?。！？…][\"'”’)\]】\s\d]*$")
_CUT = frozenset({"length", "max_tokens", "model_length"})
_REFUSED = frozenset({"content_filter", "safety", "refusal", "prohibited_content", "recitation"})

Messages = Sequence[tuple[str, str]]


class ChatModel:
    """A chat model of LangChain's. It `Completes`, too. Safe to use from several threads."""

    def __init__(self, model: object, service: Service, limits: Limits, *, ends: bool = False) -> None:
        """ends: whether it says how its answers ended, so that silence means that one broke off."""
        self._model: Any = model
        self._service = service
        self._limits = limits
        self._ends = ends
        self.spec = service.spec

    @classmethod
    def by_name(cls, provider: str, name: str, limits: Limits) -> ChatModel:
        """The model "provider:name"; raises UnknownSpec, MissingPackage or MissingKey."""
        from langchain.chat_models import init_chat_model  # noqa: PLC0415 - takes a second

        service = service_of(provider, name)
        with provider_errors(provider):
            made = init_chat_model(service.model, model_provider=provider, **options_of(provider, name, limits))
        return cls(made, service, limits, ends=provider == "openai")

    @staticmethod
    def can_be(value: object) -> bool:
        """Whether `of` takes it."""
        if "langchain_core" not in sys.modules:  # then nobody can have made one
            return False
        from langchain_core.language_models import BaseChatModel  # noqa: PLC0415

        return isinstance(value, BaseChatModel)

    @classmethod
    def of(cls, model: object, limits: Limits) -> ChatModel:
        """A model that somebody has made, with the options that it has."""
        name = type(model).__name__
        return cls(model, Service(f"langchain:{name}", str(getattr(model, "model_name", "") or name)), limits)

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The answer in pieces, citing evidence by its [key]; BackendError when the service fails."""
        yield from self._said(messages(prompt, self._limits), self._limits.writing, self._limits.tokens * _LETTERS)

    def complete(self, system: str, text: str) -> str:
        """What it replies to a text, at most a few lines of it; BackendError when the service fails."""
        said, length = list[str](), 0
        for piece in self._said([("system", system), ("human", text)], self._limits.rewriting, 1 << 30):
            said.append(piece)
            length += len(piece)
            if length > _REPLY:
                break
        return "".join(said)

    def _said(self, asked: Messages, seconds: float, letters: int) -> Iterator[str]:
        length = 0
        try:
            for piece in within(seconds, lambda stopped: self._answer(asked, seconds, stopped)):
                length += len(piece)
                if length > letters:
                    raise self._failed(self._endless())
                yield piece
        except TimeUp:
            late = "came to no end" if length else "said nothing"
            limit = f"{self._limits.seconds:g} seconds (llm_timeout)"
            raise self._failed(f"{late} within its {limit}; give it longer, or choose a faster one") from None

    def _answer(self, asked: Messages, seconds: float, stopped: Event) -> Iterator[str]:
        """The pieces of the first attempt that says anything; then how it ended is looked at."""
        ending, last = "", ""
        try:
            for piece in self._first(asked, seconds, stopped):
                last = str(piece.text) or last
                ending = _ending(piece) or ending
                yield str(piece.text)
        except Exception as error:  # noqa: BLE001 - each client library has error classes of its own
            log.debug("%s failed (%s)", self.spec, type(error).__name__)
            raise self._failed(fault_of(error, self._service).said) from None
        if ending in _CUT:
            raise self._failed(self._endless())
        if ending in _REFUSED:
            raise self._failed("declined to answer")
        if self._ends and not ending and not _ENDED.search(last):
            raise self._failed("broke off in the middle of its answer" if last else NO_ANSWER)

    def _first(self, asked: Messages, seconds: float, stopped: Event) -> Iterator[Any]:
        """Its pieces, opened anew while a transient fault keeps it from its first word."""
        again = Retrying(
            stop=stop_after_attempt(_ATTEMPTS) | stop_before_delay(seconds),
            wait=self._wait,
            retry=retry_if_exception(lambda error: self._fault(error).transient and not stopped.is_set()),
            sleep=sleep_using_event(stopped),
            reraise=True,
        )
        return again(self._opened, asked)

    def _opened(self, asked: Messages) -> Iterator[Any]:
        """The pieces, the first of them with text already there."""
        pieces, silent = iter(self._model.stream(list(asked))), list[Any]()
        for piece in pieces:
            silent.append(piece)
            if str(piece.text):
                break
        return chain(silent, pieces)

    def _fault(self, error: BaseException) -> Fault:
        return fault_of(error, self._service)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return (self._fault(error).wait if error else 0.0) or _WAIT(state)

    def _endless(self) -> str:
        return f"came to no end within {self._limits.tokens} tokens (llm_max_tokens)"

    def _failed(self, said: str) -> BackendError:
        return BackendError(f"the LLM {self.spec} {said}")


def _ending(piece: Any) -> str:
    """Why the model stopped, in lower case, "" where the piece does not say."""
    said = getattr(piece, "response_metadata", None) or {}
    found = next((said[name] for name in ("finish_reason", "stop_reason", "done_reason") if said.get(name)), "")
    return str(getattr(found, "name", found)).lower()
