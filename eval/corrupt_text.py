"""What corruptions share: a sentence without its formulas, and a match in it replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rag.text import formulas

Found = Iterator[tuple[str, str]]  # (form, the sentence changed)

HIDDEN = "¤"  # stands for each character of a formula or an address, which are left alone
_URL = re.compile(r"(?:https?://|www\.)\S+|\b\w+\.(?:com|org|io|net|edu)\b\S*")
_SIMPLE_FORMULA = re.compile(r"\$\s*\d[\d.,{}]*\s*(?:\\times|\{\\times\}|\\%|%|x|×|k|K|M|B)?\s*\$")


def masked(text: str) -> str:
    """The text with formulas and addresses hidden, at the same places; a formula that is a mere figure stays."""
    spans = [span for span in formulas(text) if not _SIMPLE_FORMULA.fullmatch(text[slice(*span)])]
    for start, end in [*spans, *(match.span() for match in _URL.finditer(text))]:
        text = text[:start] + HIDDEN * (end - start) + text[end:]
    return text


def put(sentence: str, match: re.Match[str], other: str, group: int | str = 0) -> str:
    """The sentence with a match replaced; a capital at its beginning stays one."""
    start, end = match.span(group)
    if sentence[start:end][:1].isupper() and not sentence[start:end].isupper():
        other = other[:1].upper() + other[1:]
    return sentence[:start] + other + sentence[end:]


def in_formula(sentence: str, place: int) -> bool:
    """Whether a place of a sentence lies within a formula."""
    return any(start < place < end for start, end in formulas(sentence))
