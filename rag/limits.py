"""How much an LLM may take: time, tokens of an answer, tokens of what it is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """seconds: that the LLM may take for one answer, retries and the rewriting of the question included. tokens: of an
    answer. context: tokens that the rules, the evidence, the question and the answer may have together; a small local
    server holds 4,096.
    """

    seconds: float = 120.0
    tokens: int = 700
    context: int = 4096

    @property
    def writing(self) -> float:
        """Seconds for the answer itself."""
        return self.seconds - self.rewriting

    @property
    def rewriting(self) -> float:
        """Seconds for rewriting the question; the rules do it where an LLM takes longer."""
        return min(30.0, self.seconds / 4)


DEFAULT_LIMITS = Limits()
