"""Turns a question and what was found for it into the Prompt that an LLM is given.

One sentence says that the abstracts do not answer, shared by prompts, parser and tests.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.followup import Standalone
from rag.relevance import Relevance
from rag.types import Paper, Prompt, Turn
from vectorstore.passage import Hit

ABSTENTION = "The abstracts don't say."


def build_prompt(
    asked: Standalone,
    hits: Sequence[Hit],
    papers: Sequence[Paper],
    relevance: Relevance,
    history: Sequence[Turn],
) -> Prompt:
    """The prompt over the papers found, best first; each of their sentences is a piece of evidence with a key."""
    return Prompt(
        question=asked.question,
        papers=tuple(papers),
        evidence=tuple(sentence.quote for sentence in relevance.sentences),
        relevance=tuple(sentence.score for sentence in relevance.sentences),
        hits=tuple(hits),
        history=tuple(history),
        context=asked.context,
    )
