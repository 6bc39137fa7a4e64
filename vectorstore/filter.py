"""Which papers a search may find, as a value that turns into Chroma's `where` and into SQL.

Both engines get it before they search, so that a filter never leaves fewer hits than there are.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

Where = dict[str, object]


@dataclass(frozen=True, slots=True)
class Filter:
    """Papers from first_year to last_year, both included; of any of the venues; by any of the authors; among papers.

    What is None or empty does not filter. A venue or author is met by every name that holds all its words, whatever
    their case, accents and order: "icml" by "ICML 2024", "smith" by "Jane Smith". A paper without a year is in no
    year; a venue or author without a word of two letters is met by nothing.
    """

    first_year: int | None = None
    last_year: int | None = None
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Filter()

    def where(self) -> Where | None:
        """As Chroma takes it; None when nothing is filtered."""
        parts: list[Where] = []
        if self.first_year is not None:
            parts.append({"year": {"$gte": self.first_year}})
        if self.last_year is not None:
            parts.append({"year": {"$lte": self.last_year}})
        for field, asked in self._names():
            parts.append(_joined("$or", [_holds(field, keys) for keys in asked]))
        if self.papers:
            parts.append({"paper_id": {"$in": list(self.papers)}})
        return _joined("$and", parts) if parts else None

    def sql(self) -> tuple[str, tuple[object, ...]]:
        """As a condition on the table `p` of papers, with its parameters; ("1", ()) when nothing is filtered."""
        parts, values = ["1"], list[object]()
        for condition, year in (("p.year >= ?", self.first_year), ("p.year <= ?", self.last_year)):
            if year is not None:
                parts.append(condition)
                values.append(year)
        for field, asked in self._names():
            held = [" and ".join([f"instr(p.{field}, ?)"] * len(keys)) or "0" for keys in asked]
            parts.append(f"({' or '.join(held)})")
            values += [f" {key} " for keys in asked for key in keys]
        if self.papers:
            parts.append("p.id in (select value from json_each(?))")
            values.append(json.dumps(self.papers))
        return " and ".join(parts), tuple(values)

    def _names(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """(field, what has to stand in it for each of the names), for the fields that are filtered."""
        venues = ("venue_words", [name_words(name) for name in self.venues])
        authors = ("author_words", [_pairs(name) or name_words(name) for name in self.authors])
        return [(field, asked) for field, asked in (venues, authors) if asked]


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name without case and accents; single letters, as of initials, are left out."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    found = re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c)))
    return tuple(word for word in found if len(word) > 1 or not word.isascii())


def author_keys(names: Sequence[str]) -> tuple[str, ...]:
    """What an author can be found by: each word of a name, and each two words of one name, in alphabetical order.

    The pairs keep "Jane Smith" from being met by a paper of Jane Doe and John Smith.
    """
    return tuple(sorted({key for name in names for key in (*name_words(name), *_pairs(name))}))


def _pairs(name: str) -> tuple[str, ...]:
    return tuple("+".join(pair) for pair in combinations(sorted(set(name_words(name))), 2))


def _holds(field: str, keys: Sequence[str]) -> Where:
    # A name without words is met by nothing, as in SQL.
    return _joined("$and", [{field: {"$contains": key}} for key in keys or ("\0",)])


def _joined(operator: str, parts: Sequence[Where]) -> Where:
    return parts[0] if len(parts) == 1 else {operator: list(parts)}
