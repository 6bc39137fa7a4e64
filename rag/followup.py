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
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = re.compile(
    rf"\bthe (?P<place>{'|'.join(_PLACES)}|last)"
    r"(?: (?:one|paper|study|work|article|of (?:them|these|those))\b|\s*[?.!]*\s*$)",
    re.IGNORECASE,
)
_MARKER = re.compile(r"\[(\d{1,3})\]")
_SHORT = 3  # content words; a question with fewer rarely says what it is about


@dataclass(frozen=True, slots=True)
class Standalone:
    """question: as it was asked. context: what it leaves unsaid, "" when it stands alone. papers: those that the last
    answer cited, when the question leans on it. chosen: whether the question names them, "the second one" or "[2]", so
    that it is asked of no others.
    """

    question: str
    context: str = ""
    papers: tuple[str, ...] = ()
    chosen: bool = False

    @property
    def whole(self) -> str:
        """The question with its context, as it is searched."""
        return f"{self.question} ({self.context})" if self.context else self.question


def standalone(question: str, history: Sequence[Turn]) -> Standalone:
    """The question, and when it does not stand alone the last question's words and the last answer's papers."""
    asked = [turn.text for turn in history if turn.role == "user"]
    told = [turn.paper_ids for turn in history if turn.role == "assistant" and turn.paper_ids]
    if asked and told and (chosen := _chosen(question, told)):
        return Standalone(question, _subject(asked), chosen, chosen=True)
    if not asked or not leans(question):
        return Standalone(question)
    return Standalone(question, _subject(asked), told[-1] if told else ())


def _chosen(question: str, told: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The papers that the question names by their numbers in the conversation, or by their place in the last answer."""
    numbered = list(dict.fromkeys(paper_id for ids in told for paper_id in ids))
    numbers = [int(number) for number in _MARKER.findall(question)]
    if by_number := tuple(numbered[n - 1] for n in numbers if 0 < n <= len(numbered)):
        return by_number
    found = _ORDINAL.search(question)
    if not found:
        return ()
    place = found["place"].lower()
    at = len(told[-1]) - 1 if place == "last" else _PLACES.index(place)
    return told[-1][at : at + 1] if len(told[-1]) > 1 else ()


def leans(question: str) -> bool:
    """Whether an English question needs the conversation to be understood."""
    if names(question) and not re.match(r"\s*(?:and|but|what about|how about)\b", question, re.IGNORECASE):
        return False
    return bool(_LEANS.search(question)) or len(content_words(question)) < _SHORT


def _subject(asked: Sequence[str]) -> str:
    """The last question that did not itself lean on another."""
    return next((question for question in reversed(asked) if not leans(question)), asked[0]).rstrip(" ?.!")
