"""Turns a follow-up into a question that stands alone, by carrying over what the conversation is about.

It knows the turns of a conversation, and nothing of stores or LLMs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.question import content_words, names
from rag.types import Turn

_LEANS = re.compile(
    r"^\s*(?:and|but|so|also|then|what about|how about|what else|any(?:thing)? else|why(?: not)?\s*\?*$|really\b|ok\b)"
    r"|\b(?:it|its|they|them|their|theirs|this|that|these|those|he|she|the (?:authors?|former|latter|same|first|second|"
    r"third|other|method|approach|paper|study|work|result|results|model|system|data ?set)|there)\b",
    re.IGNORECASE,
)
_SHORT = 3  # content words; a question with fewer rarely says what it is about


@dataclass(frozen=True, slots=True)
class Standalone:
    """question: as it was asked. context: what it leaves unsaid, "" when it stands alone. papers: those that the last
    answer cited, when the question leans on it.
    """

    question: str
    context: str = ""
    papers: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The question with its context, as it is searched."""
        return f"{self.question} ({self.context})" if self.context else self.question


def standalone(question: str, history: Sequence[Turn]) -> Standalone:
    """The question, and when it does not stand alone the last question's words and the last answer's papers."""
    asked = [turn.text for turn in history if turn.role == "user"]
    if not asked or not _leans(question):
        return Standalone(question)
    cited = next((turn.paper_ids for turn in reversed(history) if turn.role == "assistant" and turn.paper_ids), ())
    return Standalone(question, _subject(asked), cited)


def _leans(question: str) -> bool:
    if names(question) and not re.match(r"\s*(?:and|but|what about|how about)\b", question, re.IGNORECASE):
        return False
    return bool(_LEANS.search(question)) or len(content_words(question)) < _SHORT


def _subject(asked: Sequence[str]) -> str:
    """The last question that did not itself lean on another."""
    return next((question for question in reversed(asked) if not _leans(question)), asked[0]).rstrip(" ?.!")
