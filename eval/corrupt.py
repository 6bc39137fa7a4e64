"""Turns a sentence of an abstract into sentences that say something else: one figure, unit, name or direction changed.

Each kind finds every place where it could change something and takes one by chance; where there is none, it gives
nothing. It knows nothing of what is to find the change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from eval.corrupt_figures import numbers, units
from eval.corrupt_names import Names
from eval.corrupt_sense import directions, negations, swaps
from eval.corrupt_text import Found
from rag.types import Paper

KINDS = ("number", "unit", "name", "negation", "direction", "argument swap")


@dataclass(frozen=True, slots=True)
class Corruption:
    """A sentence with one thing changed. kind: one of KINDS; form: a finer name within the kind."""

    kind: str
    form: str
    text: str


def corruptions(sentence: str, names: Names, paper: Paper, seed: str = "") -> tuple[Corruption, ...]:
    """At most one corruption of each kind and form, the same for the same seed. paper: whose sentence it is."""
    makers: Mapping[str, Callable[[Random], Found]] = {
        "number": lambda dice: numbers(sentence, dice),
        "unit": lambda _: units(sentence),
        "name": lambda dice: names.swapped(sentence, paper, dice),
        "negation": lambda _: negations(sentence),
        "direction": lambda _: directions(sentence),
        "argument swap": lambda _: swaps(sentence),
    }
    made = []
    for kind in KINDS:
        dice = Random(f"{seed} {kind} {sentence}")  # noqa: S311
        found = sorted({(form, _read(text)) for form, text in makers[kind](dice) if text != sentence})
        for form in dict.fromkeys(form for form, _ in found):
            made.append(Corruption(kind, form, dice.choice([text for f, text in found if f == form])))
    return tuple(made)


_AN = re.compile(r"\b(?P<a>[Aa])n (?=(?:decrease|decelerat|deteriorat|lower|smaller|larger|trail|worsen)\w*)")
_A = re.compile(
    r"\b(?P<a>[Aa]) (?=(?:increas|improv|earlier|easier|upper|inefficien|insufficien|unsuccess|enhanc|inferior"
    r"|overestimat|underestimat|opposite|efficien|impair|eight|eleven)\w*)"
)


def _read(text: str) -> str:
    """The articles set right: "an decrease" → "a decrease"."""
    return _A.sub(r"\g<a>n ", _AN.sub(r"\g<a> ", text))
