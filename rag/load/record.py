"""What a reader hands on: a Record as the file has it, or a Reject that says what was left out and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Record", "Reject", "shortened"]

_WHAT_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a papers file: where it stands ("file:line"), and its fields by the names the file gives them."""

    where: str
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reject:
    """Something in a papers file that is not a paper of the index.

    where: "file:line" or "file:record 3". what: the record's title, id or first words, shortened. why: one clause
    that fits after "left out, because it", such as "has no abstract".
    """

    where: str
    what: str
    why: str


def shortened(text: str, length: int = _WHAT_LENGTH) -> str:
    """The text on one line, cut at a word with "…" when longer than `length` characters."""
    text = " ".join(text[: 4 * length].split())
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"
