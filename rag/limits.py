"""How much an LLM may take: time, tokens of an answer, tokens of what it is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """seconds: from the call to the end of the answer, retries included. tokens: of an answer. context: tokens that
    the rules, the evidence, the question and the answer may have together; a small local server holds 4,096.
    """

    seconds: float = 120.0
    tokens: int = 700
    context: int = 4096
