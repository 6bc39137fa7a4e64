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
    asked: Standalone, found: Sequence[tuple[Paper, Hit]], relevance: Relevance, history: Sequence[Turn]
) -> Prompt:
    """The prompt over the papers found, best first; each of the sentences is a piece of evidence with a key."""
    return Prompt(
        question=asked.question,
        papers=tuple(paper for paper, _ in found),
        evidence=tuple(sentence.quote for sentence in relevance.sentences),
        relevance=tuple(sentence.score for sentence in relevance.sentences),
        hits=tuple(hit for _, hit in found),
        history=tuple(history),
        context=asked.context,
    )


def led_in(title: str, text: str) -> str:
    """A paper's sentence behind its title."""
    return f"{title}{'' if title.endswith(('.', '?', '!', ':')) else ':'} {text}"
