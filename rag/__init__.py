"""Answers about scientific papers from their abstracts, each sentence with a reference that can be checked.

from rag import ask, Assistant
ask("Which filter avoids the partition function?").text
with Assistant.open(index="my-index") as bot: bot.ask("…")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.assistant import Assistant
from rag.errors import FootnoteError
from rag.retrieve import NO_FILTER
from rag.types import Answer, Claim, Paper, Quote, Reference, Turn
from rag.write import Unsupported
from vectorstore.filter import Filter

__all__ = ["Answer", "Assistant", "Claim", "Filter", "FootnoteError", "Paper", "Quote", "Reference", "Turn", "ask"]


def ask(
    question: str,
    *,
    index: str | None = None,
    llm: object = None,
    history: Sequence[Turn] = (),
    only: Filter = NO_FILTER,
    unsupported: Unsupported | None = None,
) -> Answer:
    """Answer a question over the default index (or `index`) with the default settings.

    llm: a spec, an LLM, or any chat model of LangChain's. unsupported: "mark" or "drop" a sentence that its quotes do
    not support. The index stays open between calls, for the last few that differ in these arguments. Raises
    vectorstore.errors.StoreError when there is no usable index, and rag.errors.FootnoteError for anything else.
    """
    return _opened(index, llm if llm is None or isinstance(llm, str) else _Same(llm), unsupported).ask(
        question, history, only
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Same:
    """A value that is equal to itself alone, whether it can be hashed or not; while it is kept, so is its id."""

    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=4)
def _opened(index: str | None, llm: str | _Same | None, unsupported: Unsupported | None) -> Assistant:
    return Assistant.open(index=index, llm=llm.value if isinstance(llm, _Same) else llm, unsupported=unsupported)
