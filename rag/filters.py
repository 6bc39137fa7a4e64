"""Turns a filter as people write it, years, venues, authors and papers, into the store's Filter, and back into words.

The command line, a row of --batch and LangChain's retriever all make theirs here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from rag.errors import UsageError
from vectorstore.filter import Filter, name_words

_KEYS = ("year", "venue", "author", "paper")
_YEARS = re.compile(r"(?P<one>\d{4})|(?P<first>\d{4})?\s*(?:\.\.|-|–)\s*(?P<last>\d{4})?")
_LISTED = 3  # paper ids that are named one by one
Names = str | Sequence[str]


def make_filter(year: str | int | None = None, venue: Names = (), author: Names = (), paper: Names = ()) -> Filter:
    """The filter that is meant; one name or several. Raises UsageError for what is no year, venue, author or id.

    year: 2024, 2020..2022, 2024.. or ..2019, both ends included.
    """
    first, last = (None, None) if year is None else years(str(year))
    venues, authors, papers = _listed(venue), _listed(author), _listed(paper)
    for what, names in (("venue", venues), ("author", authors)):
        for name in names:
            if not name_words(name):
                raise UsageError(f"{what} {name!r} has no word to look for; write a name of two letters or more")
    if not all(papers):
        raise UsageError("paper '' is no id; `footnote papers` lists them")
    return Filter(first, last, venues, authors, papers)


def read_filter(given: object) -> Filter:
    """The filter of a JSON value such as {"year": "2024..", "venue": ["ICML"], "author": "Smith", "paper": ["id"]}."""
    if not isinstance(given, Mapping):
        raise UsageError(f'filter must be an object such as {{"year": "2024..", "venue": ["ICML"]}}, not {given!r}')
    for key in given:
        if key not in _KEYS:
            near = get_close_matches(str(key).lower(), _KEYS, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}? Known" if near else "known"
            raise UsageError(f"{key!r} is no filter; {hint}: {', '.join(_KEYS)}")
    year = given.get("year")
    if not (year is None or isinstance(year, str) or type(year) is int):
        raise UsageError(f"the filter's year must be a text such as 2024 or 2020..2022, not {year!r}")
    return make_filter(year, *(_names(key, given.get(key)) for key in _KEYS[1:]))


def years(text: str) -> tuple[int | None, int | None]:
    """(first, last), both included, None for no bound; UsageError when the text is no year or range."""
    found = _YEARS.fullmatch(text.strip())
    if not found or not any(found.groups()):
        raise UsageError(f"{text!r} is no year; write 2024, 2020..2022, 2024.. or ..2019")
    first, last = (
        int(year) if year else None for year in (found["one"] or found["first"], found["one"] or found["last"])
    )
    if first is not None and last is not None and first > last:
        raise UsageError(f"{text!r} ends before it begins")
    return first, last


def years_text(only: Filter) -> str:
    """The years of a filter as `years` reads them; "" for no bound."""
    first, last = only.first_year, only.last_year
    if first is not None and first == last:
        return f"{first:04}"
    ends = tuple("" if year is None else f"{year:04}" for year in (first, last))
    return "..".join(ends) if any(ends) else ""


def described(only: Filter) -> str:
    """The filter in words, such as "2024 and later, venue ICML"; "" when nothing is filtered."""
    papers = only.papers if len(only.papers) <= _LISTED else (f"one of {len(only.papers):,}",)
    named = (("venue", only.venues), ("author", only.authors), ("paper", papers))
    parts = [_years_said(only), *(f"{what} {_or(names)}" for what, names in named if names)]
    return ", ".join(filter(None, parts))


def _years_said(only: Filter) -> str:
    first, _, last = years_text(only).partition("..")
    if only.last_year is None:
        return f"{first} and later" if first else ""
    if only.first_year is None:
        return f"{last} and earlier"
    return f"{first} to {last}" if last else first


def _or(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _listed(names: Names) -> tuple[str, ...]:
    return tuple(name.strip() for name in ([names] if isinstance(names, str) else names))


def _names(key: str, value: object) -> Names:
    if value is None:
        return ()
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        return cast(Names, value)
    raise UsageError(f"the filter's {key} must be a name or a list of names, not {value!r}")
