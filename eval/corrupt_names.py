"""Turns a sentence into ones with another paper's name in the place of one of its own."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from eval.corrupt_text import Found, masked
from rag.types import Paper

_TOKEN = re.compile(r"(?<![\w¤$\\./@-])[A-Za-z][A-Za-z0-9]*(?:[-+.][A-Za-z0-9]+)*\+*(?![\w¤$/@])")
_COMMON = frozenset("AI ML DL US UK EU USA ID OK IID II III IV VI VII VIII IX XI OR AND NOT NP".split())
_ADJECTIVE = ("ian", "ean", "ic", "ese", "ish", "an")


def _shape(name: str) -> str:
    """acronym, mixed (CamelCase or with digits) or proper; "" when it is no name."""
    if name in _COMMON or len(name) < 2 or len(name) > 20:
        return ""
    if re.fullmatch(r"[A-Z]{2,}s?", name):
        return "acronym"
    if re.search(r"\d|[a-z][A-Z]|[A-Z]{2,}[a-z]{2,}|[A-Z]{2}.*[-+.]|[-+.][A-Z]{2}", name) and re.search(r"[A-Z]", name):
        return "mixed with digits" if re.search(r"\d", name) else "mixed"
    if re.fullmatch(r"[A-Z][a-z]{3,}", name):
        return "proper, adjective" if name.endswith(_ADJECTIVE) else "proper"
    return ""


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Name-like words with their places, without what lower-case words are joined to them: "GAN-based" → "GAN"."""
    for match in _TOKEN.finditer(masked(text)):
        parts = re.split(r"(?=-)", match.group())
        while len(parts) > 1 and parts[-1][1:].islower():
            parts.pop()
        yield "".join(parts), match.start()


@dataclass(slots=True)
class Names:
    """The names of many papers by shape, for one to stand in another's place."""

    _by_shape: dict[str, list[str]] = field(default_factory=dict)
    _proper: frozenset[str] = frozenset()

    @classmethod
    def of(cls, abstracts: Iterable[str]) -> Names:
        """Proper names are those capitalised words that never stand in lower case in any abstract."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        lower: set[str] = set()
        for text in abstracts:
            lower.update(re.findall(r"\b[a-z]+\b", text))
            for name, start in _tokens(text):
                if (shape := _shape(name)) and (not shape.startswith("proper") or _within(text, start, name)):
                    found[shape][name] += 1
        proper = {
            n for s in found if s.startswith("proper") for n, c in found[s].items() if c > 1 and n.lower() not in lower
        }
        kept = {s: sorted(n for n in found[s] if not s.startswith("proper") or n in proper) for s in found}
        return cls(kept, frozenset(proper))

    def swapped(self, sentence: str, paper: Paper, dice: Random) -> Found:
        """Each name of the sentence, wherever it stands in it, replaced by one of a like shape that the paper lacks."""
        own = f"{paper.title} {paper.abstract} {sentence}".lower()
        for name, start in _tokens(sentence):
            shape = _shape(name)
            if not shape or sentence[start - 1 : start] == "(":  # "(CNN)" behind the words that it stands for
                continue
            if shape.startswith("proper") and (name not in self._proper or not _within(sentence, start, name)):
                continue
            others = [n for n in self._by_shape.get(shape, ()) if _alike(n, name) and n.lower() not in own]
            if others:
                whole = rf"(?<![\w-]){re.escape(name)}(?!\w|[-.]?[A-Z\d])"
                yield shape.partition(",")[0], re.sub(whole, dice.choice(others), sentence)


def _alike(one: str, other: str) -> bool:
    same_article = (one[0].lower() in "aeiou") == (other[0].lower() in "aeiou")
    return same_article and abs(len(one) - len(other)) <= 2 and one.endswith("s") == other.endswith("s")


def _within(text: str, start: int, name: str) -> bool:
    """Whether a capitalised word stands alone between words that are not: no first word, no part of a longer name."""
    before, after = text[:start], text[start + len(name) :]
    return bool(re.search(r"[a-z,;)] $", before)) and not re.match(r"[\s-]+[A-Z]|['’.]", after)
