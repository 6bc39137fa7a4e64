"""An LLM that says what it was told to, and that comes in by the same door as a real one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag.errors import BackendError
from rag.types import Prompt


class ScriptedLLM:
    """Streams `pieces`, whatever it is asked. prompts: those that it was given so far."""

    spec = "scripted"

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = tuple(pieces)
        self.prompts: list[Prompt] = []

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The pieces, one by one."""
        self.prompts.append(prompt)
        yield from self.pieces


class RewritingLLM(ScriptedLLM):
    """The same, which also completes texts: it says `reply`, or raises it. asked: (system, text) of each so far."""

    def __init__(self, pieces: Sequence[str], reply: str | BackendError) -> None:
        super().__init__(pieces)
        self.reply = reply
        self.asked: list[tuple[str, str]] = []

    def complete(self, system: str, text: str) -> str:
        """The reply."""
        self.asked.append((system, text))
        if isinstance(self.reply, BackendError):
            raise self.reply
        return self.reply
