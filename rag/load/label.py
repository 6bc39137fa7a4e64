"""An abstract without a title → a label of its own words, at most twelve.

In this order: the system it names and what that is ("MCP-Injector: drop-in, protocol-aware fault-injection
middleware"), a name with a fitting acronym, a term it coins, the best of what it proposes, studies or shows, and
else the phrase it repeats most. The lists are for English; another language gets its first words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, dropwhile, takewhile
from math import log

from rag.text import formulas, searched, shown

from .keys import KeyTable, key_of
from .named import (
    MADE,
    SHOWN,
    STUDIED,
    Reading,
    coined,
    divides,
    repeated,
    subject,
    system,
    with_acronym,
)
from .phrases import LONGEST, capitalised, cut, trimmed
from .wordlists import DULL, EMPTY_STARTS, FUNCTION_WORDS, PREPOSITIONS, QUESTION_WORDS

__all__ = ["Labels", "label_of"]

_EMPHASISED = re.compile(
    r"\\(?:emph|textit|textbf|textsl)\{([^{}$]{4,80})\}|(?<![\w*])\*{1,2}([^*\s][^*$]{2,80}[^*\s])\*{1,2}(?![\w*])"
    r"|(?<!\w)_([^_\s][^_$]{2,80}[^_\s])_(?!\w)|<(?:i|b|em|strong)>([^<>]{4,80})<"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\"”)]*\s+(?=[A-Z“\"(])")
_WORD = re.compile(r"[A-Za-z][\w\-+']*")
_WE_DO = re.compile(r"^(?:[Ii]n this \w+,? )?[Ww]e (?:\w+ly )?\w+ (?:that )?")
_LED_BY = re.compile(r"(?:[\w-]+ )*$")
_SHORTEST_TERM = 6  # characters: shorter emphasised words are "not", "all"
_LONGEST_SIGNS = 30  # of a script without spaces


class Labels:
    """Gives labels that differ from one another within a run."""

    def __init__(self) -> None:
        self._taken = KeyTable()

    def label(self, abstract: str, raw: str = "") -> str:
        """A label for a shown abstract; `raw`, the text with its mark-up, tells what the authors emphasise."""
        variants = _variants(label_of(abstract, raw), abstract)
        label = next(name for name in variants if self._taken.get(key_of(name.lower())) is None)
        self._taken.add(key_of(label.lower()), 0)
        return label


def _variants(label: str, abstract: str) -> Iterator[str]:
    """The label, then with a word of the abstract that it lacks, the most repeated first, then with a number."""
    yield label
    stem = " ".join(trimmed(label.split()[: LONGEST - 1]))
    held = {word.lower() for word in _WORD.findall(label)}
    for word, _ in Counter(_content_words(abstract)).most_common(40):
        if word.lower() not in held:
            yield f"{stem} ({word})"
    yield from (f"{stem} ({number})" for number in count(2))


def label_of(abstract: str, raw: str = "") -> str:
    """A label of at most twelve words; never empty for a text that has a word."""
    text = _without_formulas(abstract)
    reading = Reading(tuple(_SENTENCE.split(text)), tuple(_emphasised(raw)))
    for find in _FINDERS:
        label = _at_most(LONGEST, find(reading))
        if len(label) > 2 and (" " in label or not label.islower()):
            return capitalised(label)
    return _first_words(text)


def _at_most(longest: int, label: str) -> str:
    words = label.split()
    return label if len(words) <= longest else " ".join(trimmed(words[:longest])).replace("(", "")


def _without_formulas(text: str) -> str:
    """Formulas that are part of a word as words ("l2-norm"); others become "§", which ends a phrase."""
    pieces, end = [], 0
    for start, stop in formulas(text):
        spoken = searched(text[start:stop])
        after = text[stop : stop + 1]
        part = text[:start].endswith("-") or not (after.isspace() or after in ",.;:)")
        pieces += [text[end:start], spoken if part and len(spoken) < 12 and " " not in spoken else " § "]
        end = stop
    return " ".join("".join([*pieces, text[end:]]).split())


def _emphasised(raw: str) -> Iterator[str]:
    for found in _EMPHASISED.finditer(raw):
        phrase = shown(next(filter(None, found.groups())))
        words = phrase.split()
        whole = len(trimmed(words)) == len(words) and words[0].lower() not in FUNCTION_WORDS
        if whole and len(words) < 7 and len(phrase) >= _SHORTEST_TERM:
            yield phrase


def _told(reading: Reading) -> str:
    """The best of the phrases that the authors say they propose, study or show."""
    uses = Counter(word.lower() for sentence in reading.sentences for word in _content_words(sentence))
    scored = {"": 0.0}
    for pattern, weight in ((MADE, 2.0), (STUDIED, 2.0), (SHOWN, 0.0)):
        for place, sentence in enumerate(reading.sentences):
            for found in pattern.finditer(sentence):
                if _says_enough(phrase := cut(found["rest"])):
                    early = 1.5 * (1 - place / len(reading.sentences))
                    scored.setdefault(phrase, _worth(phrase, uses) + weight + early)
    return max(scored, key=lambda phrase: scored[phrase])


def _says_enough(phrase: str) -> bool:
    words = phrase.lower().split()
    told = [word for word in words if word not in DULL | FUNCTION_WORDS]
    if len(words) < 3 or len(told) < 2 or words[0] in EMPTY_STARTS or words[0].endswith("ly"):
        return False
    return words[0] not in FUNCTION_WORDS or words[0] in QUESTION_WORDS


def _worth(phrase: str, uses: Counter[str]) -> float:
    """More for words that the abstract repeats; less for a beginning that says nothing ("method that …")."""
    words = list(dict.fromkeys(word.lower() for word in _content_words(phrase) if word.lower() not in DULL))
    first = next(iter(phrase.lower().split()), "")
    return sum(log(1 + uses[word]) for word in words[:7]) - 1.5 * (first in DULL)


def _topic(reading: Reading) -> str:
    """A term that is emphasised and repeated, else the phrase that is, with the words about it."""
    text = " ".join(reading.sentences).lower()
    terms = (term for term in reading.emphasised if text.count(term.lower()) > 2)
    term = next(terms, "") or repeated(reading.sentences)
    if not term or len(term.split()) > 3:
        return term
    sentence = next((held for held in reading.sentences if term.lower() in held.lower()), term)
    at = max(sentence.lower().find(term.lower()), 0)
    led = _LED_BY.findall(sentence[:at])[0].split()
    kept = list(takewhile(lambda word: not divides(word) and word.lower() not in DULL, reversed(led)))[:3]
    return cut(" ".join([*reversed(kept), sentence[at:]]), 10)


def _content_words(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if word.lower() not in FUNCTION_WORDS and len(word) > 3)


def _first_words(text: str) -> str:
    text = _WE_DO.sub("", text)
    words = list(dropwhile(lambda word: word.lower() in PREPOSITIONS, text.split())) or text.split()
    phrase = cut(" ".join(words)) or " ".join(words[:LONGEST])
    shortened = phrase if len(phrase) <= 120 else phrase[:_LONGEST_SIGNS] + "…"
    return capitalised(shortened)


_FINDERS: tuple[Callable[[Reading], str], ...] = (system, with_acronym, coined, subject, _told, _topic)
