"""Turns a question into the words that carry its meaning."""

from __future__ import annotations

import re
from typing import Literal

from rag.text import search_words

# Function words, and words that questions about papers are asked with whatever they are about.
_EMPTY = frozenset(
    "a about above after again all also am an and any are as at be because been before being between both but by can"
    " could did do does doing don down during each few for from further had has have having he her here hers him his"
    " how however i if in into is it its itself just let like ll me more most my no nor not now of off on once only or"
    " other our out over own per please s same she should so some such t than that the their them then there these"
    " they this those through to too under until up us very via was we were what whats when where whether which while"
    " who whom whose why will with would you your"
    " abstract abstracts anyone answer article articles author authors describe described describes discuss explain"
    " find found give gives know list me mention mentioned need number paper papers publication publications question"
    " report reported reports researchers say says show something study studies tell text work works".split()
)


def is_empty(word: str) -> bool:
    """Whether a word of a question carries no meaning of its own."""
    return word in _EMPTY


def content_words(question: str) -> tuple[str, ...]:
    """The question's words without the empty ones, in order; all its words when nothing would be left."""
    found = search_words(question)
    kept = tuple(word for word in found if word not in _EMPTY)
    return kept or found


_NUMBER_ASKED = re.compile(
    r"\bhow (?:many|much|often|large|big|far|long|few|fast|small|low|high|wide|deep)\b|\bper ?cent|\bpercentage|"
    r"\b(?:what|which)\b.{0,30}\b(?:share|fraction|proportion|portion|number|rate|figure|factor|count|size|amount|"
    r"accuracy|score|gain|speed-?up|reduction|increase|drop|year)\b",
    re.IGNORECASE,
)


def asks_for_number(question: str) -> bool:
    """Whether the answer to the question is likely to hold a figure."""
    return bool(_NUMBER_ASKED.search(question))


Kind = Literal["fact", "explain", "which", "papers", "compare"]

_COMPARE = re.compile(
    r"\bcompar|\bdiffer(?:s|ence|ences|ent|ently)?\b|\bversus\b|\bvs\b\.?|\bcontrast|\bin common\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?:which|what|any|are there|list|find|name|show me|looking for|need|recommend|suggest)\b.{0,40}"
    r"\b(?:papers?|articles?|works?|stud(?:y|ies)|publications?|abstracts?|citations?|references?|contributions?)\b"
    r"|\bwho (?:studies|works|proposes|introduces|shows)\b"
    r"|\bwhich (?:of|method|approach|technique|algorithm|system|model|filter|framework|data ?set|benchmark|law)s?\b",
    re.IGNORECASE,
)
_PAPERS = re.compile(
    r"\b(?:which|what|any|list|find|show|all|other|many|are there)\b.{0,40}"
    r"\b(?:papers|articles|works|studies|publications|abstracts|contributions)\b"
    r"|^\W*(?:papers|articles|works|studies|publications)\b",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(
    r"\bwhy\b|\bhow (?:do|does|did|can|could|is|are|was|were|come|would|should)\b|\bexplain"
    r"|\bwhat (?:is|are) the (?:idea|reason|cause|point|difference|intuition|problem)\b|\bwhat makes\b"
    r"|\bin what (?:way|sense)\b|\bdescribe\b|\bsummar|\bwhat is .+ about\b",
    re.IGNORECASE,
)


def kind_of(question: str) -> Kind:
    """What the question asks for: a comparison, several papers, one paper or method, an explanation, or else a fact."""
    if _COMPARE.search(question):
        return "compare"
    if _PAPERS.search(question):
        return "papers"
    if _WHICH.search(question):
        return "which"
    return "explain" if _EXPLAIN.search(question) else "fact"


_NAME = re.compile(r"(?<![\w-])(?=[\w-]*(?:[A-Z][\w-]*[A-Z0-9]|[a-z][A-Z]|\d[\w-]*[A-Za-z]))[\w][\w.+-]*[\w+]")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+(?:[ -][A-Z][a-z]+)*(?![\w-])")
_ASKED = re.compile(
    r"\bhow many ([a-z][\w-]+(?: [a-z][\w-]+)??)"
    r"(?= (?:do|does|did|is|are|was|were|has|have|had|can|per|of|in|on|for|to|a|an|the)\b|\?|$)",
    re.IGNORECASE,
)


def names(question: str) -> tuple[str, ...]:
    """What looks like a name in the question: acronyms, names with digits, capitalised words within a sentence."""
    found = [m.group() for m in _NAME.finditer(question)] + [m.group() for m in _CAPITALISED.finditer(question)]
    return tuple(dict.fromkeys(name for name in found if content_words(name) and not name.isdigit()))


def asked_noun(question: str) -> str:
    """What "how many" asks to be counted; "" when it is not asked."""
    found = _ASKED.search(question)
    noun = found.group(1) if found else ""
    return noun if noun and not set(search_words(noun)) & _EMPTY else ""


_NUMERAL = re.compile(
    r"\d|\b(?:no|none|zero|one|single|both|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|"
    r"hundreds?|thousands?|millions?|billions?|half|third|quarter|pair|couple|several|few|many)\b",
    re.IGNORECASE,
)


def holds_number(text: str) -> bool:
    """Whether the text says how many of anything, in figures or in words."""
    return bool(_NUMERAL.search(text))
