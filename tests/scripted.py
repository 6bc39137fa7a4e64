"""An LLM that says what it was told to, and that comes in by the same door as a real one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
