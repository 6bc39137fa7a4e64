"""What turns a sentence into its opposite: negations, words of direction, and the two sides of a comparison.

Each check compares a sentence with the sentences it rests on, by the words around: "not robust" contradicts "robust",
"increases the error" contradicts "reduces the error", "A outperforms B" contradicts "B outperforms A". Words alone are
compared; what is said in quite other words is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag.opposites import opposites, stem
from rag.question import is_empty

_TOKEN = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|\d+(?:,\d{3})*(?:\.\d+)?|[^\sA-Za-z\d]")
_NEGATORS = frozenset(
    "not no never nor neither without cannot none nothing nowhere hardly rarely scarcely barely unable".split()
)
_NOT_ONLY = frozenset("only just merely necessarily".split())
_FAILING = re.compile(r"(?:fail|lack|refus)(?:s|ed|ing|ure|ures)?$")
# Words that a negation may be said with instead, anywhere in a source.
_WEAK = re.compile(
    r"(?:un|in|im|ir|il|non|dis|mis)[a-z]{4,}|\w+less|\w+free|avoid\w*|prevent\w*|remov\w*|eliminat\w*|ignor\w*"
    r"|exclud\w*|absen\w*|instead|rather|only|limited|few|fewer|little|less|hard|difficult\w*|challeng\w*|beyond"
    r"|despite|although|however|but|yet|free|bypass\w*|obviat\w*|zero|reduc\w*|suffer\w*|whether|poor\w*|struggl\w*"
    r"|short|problem\w*|issue\w*|negligibl\w*|drop\w*|alternative\w*"
)
# What stands between a negator and the word that it negates.
_BETWEEN = frozenset(
    "a an the be been being is are was were have has had do does did to of in any that very so as such all much more "
    "longer yet also always fully even".split()
)
_REACH = 4  # words behind a negator that it may negate
_NEAR = 5  # words on either side that tell what a word is said of
_ALIKE = 0.7  # share of these that makes two places speak of the same
_PREFIXED = 4  # letters

_PREFIXES = ("un", "in", "im", "ir", "non", "dis", "sub", "mis")
_VERBS = re.compile(
    r"\b(?:(?P<passive>(?:is|are|was|were|be|been)\s(?:\w+ly\s)?)?"
    r"(?:outperform|surpass|exceed|beat|outclass|dominat|outrank|precede|caus|trail)(?:s|es|ed|ing|e|en|d)?(?P<by>\sby)?"
    r"|(?:impl(?:y|ies)|lead(?:s|ing)? to|results? in)"
    r"|(?:is|are|was|were|be|being|performs?|performing)\s(?:\w+\s)?"
    r"(?:better|worse|faster|slower|larger|smaller|higher|lower|stronger|weaker|superior|inferior|more \w+|less \w+)"
    r"\s(?:than|to))\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.]\s|\bthat\b|\bwhich\b|\b(?:on|in|across|by|with|while|when|for|over|at)\b", re.IGNORECASE)
_ARTICLES = frozenset(
    "the a an our its their this these those other both and or we it significantly consistently".split()
)


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as its words are compared: stems in order, those that carry meaning marked, negators marked."""

    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    meant: tuple[bool, ...]
    negates: tuple[bool, ...]
    text: str


@lru_cache(maxsize=4096)
def line(text: str) -> Line:
    """The line of a searched text (rag.text.searched)."""
    tokens = [token.lower() for token in _TOKEN.findall(text)]
    negates = [t in _NEGATORS or t.endswith(("n't", "n’t")) or bool(_FAILING.match(t)) for t in tokens]
    # "not only", "no longer than", "whether or not" negate nothing.
    for i, following in enumerate(tokens[1:]):
        if (
            negates[i]
            and tokens[i] not in {"no", "without"}
            and (following in _NOT_ONLY or tokens[i - 1 : i] == ["or"])
        ):
            negates[i] = False
    meant = [t[0].isalnum() and not is_empty(t) and not n for t, n in zip(tokens, negates, strict=True)]
    return Line(tuple(tokens), tuple(map(stem, tokens)), tuple(meant), tuple(negates), text)


def negation(said: Line, sources: Sequence[Line]) -> str:
    """The word that one of the two negates and the other does not; "" when they agree."""
    for place in _negated(said):
        if _contradicted(said, place, sources):
            return f"not {said.tokens[place]}"
    if any(said.negates) and not any(any(s.negates) or _weakly(s) for s in sources):
        return "a negation"
    for source in sources:
        for place in _negated(source):
            if _contradicted(source, place, [said]) and not _agreed(source, place, sources):
                return source.tokens[place]
    return ""


def direction(said: Line, sources: Sequence[Line]) -> str:
    """The word whose opposite the sources say of the same thing; "" when there is none."""
    for place, sides in _directed(said):
        around, stem = _around(said, place), said.stems[place]
        again = said.stems.count(stem) > max((source.stems.count(stem) for source in sources), default=0)
        same, opposite = 0.0, 0.0
        for source in sources if around else ():
            for other, their in _directed(source):
                shared = _shared(around, _around(source, other))
                if source.stems[other] == stem:
                    same = same if again else max(same, shared)
                elif _kept(source, other, said):
                    continue
                elif sides & their:
                    same = max(same, shared)
                elif any((group, -sign) in their for group, sign in sides):
                    opposite = max(opposite, shared)
        if opposite > same and opposite >= _ALIKE:
            return said.tokens[place]
    return _prefixed(said, sources)


def swapped(said: Line, sources: Sequence[Line]) -> str:
    """The comparison whose two sides the sources have the other way round; "" when there is none."""
    ours = _sides(said.text)
    if not ours:
        return ""
    for source in sources:
        theirs = _sides(source.text)
        if not theirs or ours[2] != theirs[2]:
            continue
        left, right = ours[0] - ours[1], ours[1] - ours[0]
        their_left, their_right = theirs[0] - theirs[1], theirs[1] - theirs[0]
        if left & their_right and right & their_left and not left & their_left:
            return next((t for t, s in zip(said.tokens, said.stems, strict=True) if s == ours[2]), ours[2])
    return ""


def meant(said: Line) -> frozenset[str]:
    """The stems that carry meaning, without numbers."""
    return frozenset(s for s, m in zip(said.stems, said.meant, strict=True) if m and not s[0].isdigit())


def overlap(said: Line, source: Line) -> float:
    """The share of the sentence's meaningful words that stand in the source, 0..1."""
    wanted = meant(said)
    return len(wanted & set(source.stems)) / len(wanted) if wanted else 0.0


def _negated(text: Line) -> Iterator[int]:
    """Behind each negator, the place of the word that it negates."""
    for place, negates in enumerate(text.negates):
        if negates:
            reach = range(place + 1, min(len(text.stems), place + 1 + _REACH))
            found = next((i for i in reach if text.tokens[i].isalpha() and text.tokens[i] not in _BETWEEN), None)
            if found is not None:
                yield found


def _negates_at(text: Line, place: int) -> bool:
    """Whether a negator comes shortly before the place."""
    return any(text.negates[max(0, place - _REACH) : place])


def _contradicted(text: Line, place: int, others: Sequence[Line]) -> bool:
    """Whether the same word stands in the others amid the same words, and is nowhere negated there."""
    around = _around(text, place)
    places = [(other, i) for other in others for i, stem in enumerate(other.stems) if stem == text.stems[place]]
    if not places or any(_negates_at(other, i) for other, i in places):
        return False
    return any(_shared(around, _around(other, i)) >= _ALIKE for other, i in places)


def _agreed(text: Line, place: int, sources: Sequence[Line]) -> bool:
    """Whether the sources say somewhere without a negation what is negated here."""
    return any(
        stem == text.stems[place] and not _negates_at(source, i)
        for source in sources
        for i, stem in enumerate(source.stems)
    )


def _shared(around: frozenset[str], other: frozenset[str]) -> float:
    """The share of the words around one place that stand around another; 1 when there are none around either."""
    if not around:
        return float(not other)
    return len(around & other) / len(around)


def _weakly(text: Line) -> bool:
    return any(map(_WEAK.fullmatch, text.tokens))


def _directed(text: Line) -> Iterator[tuple[int, frozenset[tuple[int, int]]]]:
    table = opposites()
    for place, word in enumerate(text.stems):
        sides = table.get(word) or table.get(word.removesuffix("er")) or table.get(word.removesuffix("est"))
        if sides:
            yield place, sides


def _around(text: Line, place: int) -> frozenset[str]:
    """The meaningful stems near a place, without words of direction; numbers count."""
    table = opposites()
    found: list[str] = []
    for step in (-1, 1):
        at, left = place + step, _NEAR
        while 0 <= at < len(text.stems) and left:
            if text.meant[at] and text.stems[at] not in table:
                found.append(text.stems[at])
            left -= 1
            at += step
    return frozenset(found)


def _kept(source: Line, place: int, said: Line) -> bool:
    """Whether the sentence has that very word as often as the source: then it is no other word's opposite."""
    return said.stems.count(source.stems[place]) >= source.stems.count(source.stems[place])


def _prefixed(said: Line, sources: Sequence[Line]) -> str:
    """A word that the sources have, amid the same words, only with "un-", "in-" … or without it; "" when none is."""
    there = {word for source in sources for word in source.stems}
    for place, word in enumerate(said.stems):
        if not said.meant[place] or word in there or len(word) < _PREFIXED:
            continue
        others = {word.removeprefix(p) if word.startswith(p) else p + word for p in _PREFIXES} - {word}
        around = _around(said, place)
        for source in sources:
            for i, other in enumerate(source.stems):
                if other in others and len(other) >= _PREFIXED and _shared(around, _around(source, i)) >= _ALIKE:
                    return said.tokens[place]
    return ""


def _sides(text: str) -> tuple[frozenset[str], frozenset[str], str] | None:
    """The words on either side of the comparison of a sentence, the better first, and its verb."""
    found = _VERBS.search(text)
    if not found:
        return None
    before = _CLAUSE.split(text[: found.start()])[-1]
    after = _CLAUSE.split(text[found.end() :])[0]
    left, right = (
        frozenset(
            s
            for s, t in zip(part.stems, part.tokens, strict=True)
            if t.isalnum() and not t.endswith("ly") and t not in _ARTICLES
        )
        for part in (line(before), line(after))
    )
    verb = stem(re.sub(r"\s(?:than|to|by|in)$", "", found.group().lower()).split()[-1])
    return (right, left, verb) if found["passive"] and found["by"] else (left, right, verb)
