"""The ways authors are written → "Given Family", in the source's order. It knows no record and no file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["authors_of", "family_of", "in_order"]

_OTHERS = re.compile(r"^(?:et\.? ?al\.?|and others|others|…|\.\.\.)$", re.IGNORECASE)
_ET_AL = re.compile(r"[,;]?\s+et\.? al\.?$", re.IGNORECASE)
_AND = re.compile(r"\s+(?:and|&)\s+|(?<=,)\s*and\s+")
_INITIALS = re.compile(r"(?:[A-Z]\.?[ -]?){1,4}")
_SUFFIX = re.compile(r"(?:Jr|Sr|I{2,3}|IV)\.?", re.IGNORECASE)
_GIVEN = (
    "given",
    "first",
    "firstname",
    "forename",
    "givenname",
    "first_name",
    "given_name",
    "firstName",
    "givenName",
)
_FAMILY = (
    "family",
    "last",
    "lastname",
    "surname",
    "familyname",
    "last_name",
    "family_name",
    "lastName",
    "familyName",
)
_WHOLE = (
    "name",
    "literal",
    "fullname",
    "full_name",
    "fullName",
    "display_name",
    "displayName",
    "raw_author_name",
)
_NESTED = ("author", "person")


def authors_of(value: object) -> tuple[str, ...]:
    """The names in a string, a list of strings, or a list of objects with name, given and family, first and last."""
    if isinstance(value, str):
        return _cleaned(_separated(value))
    if isinstance(value, Mapping):
        return _cleaned([_of_object(value)])
    if isinstance(value, Sequence):
        return _cleaned([_of_item(item) for item in value])
    return ()


def family_of(author: str) -> str:
    """The last word of "Given Family"; enough to tell two papers of one title apart."""
    return author.rpartition(" ")[2]


def in_order(name: str) -> str:
    """ "Family, Given" and "Family, Jr, Given" → "Given Family"."""
    parts = [part.strip() for part in name.split(",") if part.strip()]
    if len(parts) > 1 and _SUFFIX.fullmatch(parts[1]):
        parts = [f"{parts[0]} {parts[1]}", *parts[2:]]
    return " ".join([*parts[1:], *parts[:1]])


def _cleaned(names: Sequence[str]) -> tuple[str, ...]:
    ordered = (" ".join(in_order(name).split()) for name in names if not _OTHERS.match(name.strip()))
    return tuple(name for name in ordered if name)


def _of_item(item: object) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, Mapping):
        return _of_object(item)
    if isinstance(item, Sequence) and item and all(isinstance(part, str) for part in item):
        return f"{item[0]}, {' '.join(item[1:2])}"  # arXiv's authors_parsed: [family, given, suffix]
    return ""


def _of_object(item: Mapping[str, object]) -> str:
    def first(names: Sequence[str]) -> str:
        return next((text.strip() for name in names if isinstance(text := item.get(name), str) and text.strip()), "")

    particle = first(("non-dropping-particle", "dropping-particle", "von"))
    parts = [first(_GIVEN), first(("middle",)) or _middle(item), particle, first(_FAMILY), first(("suffix",))]
    if parts[3]:
        return " ".join(filter(None, parts))
    nested = next((inner for name in _NESTED if isinstance(inner := item.get(name), Mapping)), None)
    return first(_WHOLE) or (_of_object(nested) if nested is not None else first(_NESTED))


def _middle(item: Mapping[str, object]) -> str:
    middle = item.get("middle")
    return " ".join(filter(None, (str(part) for part in middle))) if isinstance(middle, list) else ""


def _separated(text: str) -> list[str]:
    """The names of one string: "A; B", "A and B", "A, B, C", "A, B and C", "Family, Given and Family, Given"."""
    text = _ET_AL.sub("", " ".join(text.split())).rstrip(";, ")
    if ";" in text:
        return text.split(";")
    parts = [part for part in _AND.split(text) if part.strip(" ,")]
    if len(parts) > 1 and all(_is_one_name(part) for part in parts):
        return parts
    return [name for part in parts for name in _at_commas(part)]


def _is_one_name(part: str) -> bool:
    """Without a comma, or "Family, Given" with a family name of one or two words ("van Rossum, Guido")."""
    pieces = [piece.strip() for piece in part.split(",")]
    if len(pieces) == 1 or (len(pieces) == 3 and _SUFFIX.fullmatch(pieces[1])):
        return True
    words = pieces[0].split()
    return len(pieces) == 2 and (len(words) == 1 or words[0].islower())


def _at_commas(text: str) -> list[str]:
    pieces = [piece.strip() for piece in text.split(",") if piece.strip()]
    if len(pieces) > 1 and len(pieces) % 2 == 0 and all(_INITIALS.fullmatch(piece) for piece in pieces[1::2]):
        return [f"{family}, {given}" for family, given in zip(pieces[::2], pieces[1::2], strict=True)]
    if len(pieces) == 2 and len(pieces[0].split()) == 1:
        return [text]
    return pieces
