"""A run of English words from where a phrase begins → the phrase, cut where a title would end.

No grammar, only word lists: what follows "we propose a …" is a noun phrase until a word that cannot stand in one.
It knows no abstract and no paper.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .wordlists import (
    ADJECTIVE_ENDS,
    ALSO_NOUNS,
    DETERMINERS,
    DULL,
    EMPTY_ENDS,
    FILLERS,
    FUNCTION_WORDS,
    HARD_STOPS,
    LOOSE,
    PREPOSITIONS,
    QUESTION_WORDS,
    VAGUE,
    VERBS,
)

__all__ = ["LONGEST", "capitalised", "cut", "initials_fit", "trimmed"]

LONGEST = 12  # words of a label
_READ_AHEAD = 40  # words
_LEADS_ON = frozenset({"that", "which", "to", "and"})
_PUNCTUATION = re.compile(r"[,;:.!?\"“”()\[\]§…]|—")
_ASIDE = re.compile(r" \([^()]{1,30}\)")
_LEAD_IN = re.compile(
    r"^(?:to \w+ |using |implement(?:s|ing)? )?(?:(?:the|this|our|a|an) )?(?:[\w-]+ )?"
    r"(?:problem|task|question|issue|idea|notion|concept|use|possibility|aim|goal|challenge)s? (?:of|as) "
    r"|^(?:to \w+|using|implement(?:s|ing)?) "
)


def cut(text: str, longest: int = LONGEST) -> str:
    """The phrase that `text` begins with, at most `longest` words; "" when there is none.

    It ends at punctuation, a relative clause or a finite verb; when that is too late, before a preposition. A phrase
    that says little by then ("an algorithm that …") goes on through the clause.
    """
    text = _LEAD_IN.sub("", _ASIDE.sub("", text))
    words = _until_stop(text, clauses=text.lower().startswith(tuple(f"{word} " for word in QUESTION_WORDS)))
    said = [word for word in words if word.lower().strip(",") not in DULL | FUNCTION_WORDS | FILLERS]
    if len(said) < 2 or words[-1].lower() in PREPOSITIONS:
        words = _until_stop(text, clauses=True)
    while words and words[0].lower().strip(",") in DETERMINERS | FILLERS:
        words = words[1:]
    if len(words) > longest:
        words = words[: _boundary(words, longest)]
    return " ".join(trimmed(words))


def _until_stop(text: str, *, clauses: bool) -> list[str]:
    """The words up to the first that ends the phrase; `clauses`: relative clauses and verbs do not end it."""
    kept: list[str] = []
    words = text.split()[:_READ_AHEAD]
    for place, word in enumerate(words):
        following = words[place + 1].lower().strip(",.") if place + 1 < len(words) else ""
        if kept and _sets_apart(word, clauses=clauses):
            break
        if not (clauses and kept) and _is_stop(word.lower(), following, first=not kept):
            break
        bare = word.strip("\"'“”‘’(")
        found = _PUNCTUATION.search(bare)
        adjectives = (
            found and bare[found.start() :] == "," and _lists_adjectives(kept, bare, words[place + 1 : place + 2])
        )
        if found and not adjectives:
            kept += [bare[: found.start()]] * (found.start() > 0)
            break
        kept.append(bare)
    return kept


def _sets_apart(word: str, *, clauses: bool) -> bool:
    """Whether the word begins a parenthesis or a quotation, is a dash, or points at something outside the phrase."""
    pointing = word.lower() in VAGUE and not (clauses and word == "it")
    return word[0] in '(["“' or word in ("–", "-") or pointing


def _lists_adjectives(kept: Sequence[str], bare: str, following: Sequence[str]) -> bool:
    """ "a drop-in, protocol-aware middleware": the comma divides adjectives, not clauses."""
    if following and all(word.strip(",").lower() in FILLERS | DETERMINERS for word in (*kept, bare)):
        return True
    if not following or len(kept) > 2 or following[0] in FUNCTION_WORDS or following[0][:1].isupper():
        return False
    return not following[0].endswith((".", ",")) and ("-" in following[0] or following[0].endswith(ADJECTIVE_ENDS))


def _is_stop(word: str, following: str, *, first: bool) -> bool:
    bare = word.strip(",.;:")
    if bare in ("and", "or", "to", "but"):
        return following in VERBS - ALSO_NOUNS or following in HARD_STOPS or _opens_clause(bare, following)
    return bare in HARD_STOPS or (not first and bare in VERBS - ALSO_NOUNS)


def _opens_clause(word: str, following: str) -> bool:
    return word == "and" and (following.endswith("ly") or following in DETERMINERS)


def _boundary(words: Sequence[str], longest: int) -> int:
    """Where to cut: before the last preposition that leaves three words or more, "of" only if there is no other."""
    places = [i for i in range(3, longest + 1) if words[i].lower() in PREPOSITIONS | _LEADS_ON]
    better = [i for i in places if words[i].lower() not in ("of", "and", "between")]
    return max(better or places or [longest])


def trimmed(words: Sequence[str]) -> tuple[str, ...]:
    """Without function words, loose participles or punctuation at the end."""
    kept = list(words)
    while kept and (loose := _loose_end(kept)):
        del kept[-loose:]
    if kept and kept[-1].lower() in EMPTY_ENDS:
        places = [i for i, word in enumerate(kept) if word.lower() in PREPOSITIONS and i > 1]
        return trimmed(kept[: places[-1]]) if places else tuple(kept)
    if kept:
        kept[-1] = kept[-1].rstrip(",;:.–—-")
    return tuple(kept)


def _loose_end(words: Sequence[str]) -> int:
    """How many words at the end lead on to something that is cut off: "of the", "likely", "to solve", "by using"."""
    last, before = words[-1].lower().strip(",.;:"), words[-2].lower() if len(words) > 1 else ""
    if last in FUNCTION_WORDS | LOOSE or not any(map(str.isalpha, last)):
        return 1
    if before == "to" or (before in ("by", "without") and last.endswith("ing")):
        return 2
    participle = last.endswith("ed") and "-" not in last and last not in ("feed", "speed", "need", "seed", "embed")
    return int(participle and len(words) > 3)


def capitalised(label: str) -> str:
    """With a capital at the start, unless the first word has its own way ("k-means", "iBOT", "l2-norm")."""
    first = label.split(" ", 1)[0]
    if len(first.split("-")[0]) < 2 or any(sign.isupper() or sign.isdigit() for sign in first[1:]):
        return label
    return label[:1].upper() + label[1:]


def initials_fit(words: Sequence[str], acronym: str) -> bool:
    """Whether the acronym's letters stand in the words, in order, from the first on ("Score Kalman Filter", SKF)."""
    letters = [sign for sign in acronym.lower() if sign.isalpha()]
    text = "".join(words).lower()
    if not letters or not words or words[0][:1].lower() != letters[0]:
        return False
    at = -1
    for letter in letters:
        at = text.find(letter, at + 1)
        if at < 0:
            return False
    significant = [word for word in words if word.lower() not in FUNCTION_WORDS]
    return len(significant) <= len(letters) + 1
