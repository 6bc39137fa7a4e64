"""Answers about scientific papers from their abstracts, each sentence with a reference that can be checked.

from rag import ask, Assistant
ask("Which filter avoids the partition function?").text
with Assistant.open(index="my-index") as bot: bot.ask("…")
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rag.assistant import Assistant
from rag.errors import FootnoteError
from rag.retrieve import NO_FILTER
from rag.types import Answer, Claim, Paper, Quote, Reference, Turn
from vectorstore.filter import Filter

__all__ = ["Answer", "Assistant", "Claim", "Filter", "FootnoteError", "Paper", "Quote", "Reference", "Turn", "ask"]


def ask(
    question: str,
    *,
    index: str | None = None,
    llm: str | None = None,
    history: Sequence[Turn] = (),
    only: Filter = NO_FILTER,
) -> Answer:
    """Answer a question over the default index (or `index`) with the default settings (or `llm`, a spec).

    The index stays open between calls. Raises vectorstore.errors.StoreError when there is no usable index, and
    rag.errors.FootnoteError for anything else.
    """
    return _opened(index, llm).ask(question, history, only)


@lru_cache(maxsize=4)
def _opened(index: str | None, llm: str | None) -> Assistant:
    return Assistant.open(index=index, llm=llm)
