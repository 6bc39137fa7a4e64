"""Turns a question and what was found for it into the Prompt that an LLM is given.

One sentence says that the abstracts do not answer, shared by prompts, parser and tests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.followup import Standalone
from rag.relevance import Relevance
from rag.text import words
from rag.types import Paper, Prompt, Turn
from vectorstore.passage import Hit

ABSTENTION = "The abstracts don't say."
FENCE = "abstracts-"  # how the tag around the evidence begins; eight hexadecimal digits follow
# What models write instead of it, of the papers or of themselves.
_ABSTAINS = re.compile(
    r"(?:(?:unfortunately|sorry|based on [^,]{3,60}|from [^,]{3,60}),?\s+)?(?:"
    r"(?:the|these|this|none of the)\s+(?:\w+\s+){0,3}"
    r"(?:abstracts?|sentences?|papers?|context|texts?|passages?|information|sources?|evidence)\b(?:\s+\w+){0,3}?\s+"
    r"(?:(?:do|does|did) not|don['’]t|doesn['’]t|didn['’]t|say nothing|provides? no|contains? no|mentions? no)"
    r"|(?:it|this|that) is not (?:\w+ ){0,2}(?:said|stated|mentioned|specified|provided|given|answered)"
    r"|there is no (?:\w+ ){0,2}(?:information|mention|answer|evidence)"
    r"|i(?:['’]m sorry|['’]m| am sorry| am)?,?\s*(?:but )?(?:i )?(?:do not|don['’]t|cannot|can['’]t|could not|unable)\b"
    r")",
    re.IGNORECASE,
)


# What models write that will not answer at all; it says nothing about the abstracts.
_REFUSES = re.compile(
    r"\b(?:help|assist)(?: you)? with (?:that|this|your)\b|\bas an? (?:ai|language model)\b"
    r"|\bagainst my (?:guidelines|rules)"
    r"|\b(?:cannot|can['’]t|unable to|not able to|won['’]t) (?:comply|fulfil|discuss|engage|provide (?:that|this))",
    re.IGNORECASE,
)
_OF_ITSELF = re.compile(r"\W*(?:i\b|as an?\b|sorry|unfortunately)", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Whether a sentence says that the model will not answer, whatever the abstracts say."""
    return bool(_REFUSES.search(text) and _OF_ITSELF.match(text))


def is_abstention(text: str) -> bool:
    """Whether a sentence, without markers, says that the abstracts do not answer, however a model words it."""
    said = words(text)
    return said == words(ABSTENTION) or bool(_ABSTAINS.match(text.strip("*_ ")))


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
