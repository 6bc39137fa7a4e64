"""Turns a filter into the bar that shows it above the conversation, and what is typed there into a filter.

Only what the collection says of its papers can be filtered by; where it says nothing there is no bar. Gradio is not
known here, and every text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from rag.filters import described, make_filter, years_text
from rag.types import Scope
from ui.page_talk import Answerer, papers
from vectorstore.filter import Filter

LONGEST = 200  # characters of a field
# Field → its label, and an example of what may stand there.
_FIELDS = {
    "year": ("Years", "2024, 2020..2022, 2024.."),
    "venue": ("Venues", "ICML; NeurIPS"),
    "author": ("Authors", "Smith; Ada Lovelace"),
}


def typed_filter(typed: Mapping[str, object]) -> Filter:
    """The filter that was typed, names apart by semicolons or commas; UsageError says what is no year or name."""
    said = {field: str(typed.get(field, ""))[:LONGEST].strip() for field in _FIELDS}
    names = {
        field: [n for part in re.split("[;,]", said[field]) if (n := part.strip())] for field in ("venue", "author")
    }
    return make_filter(said["year"] or None, names["venue"], names["author"])


def without(only: Filter, field: str) -> Filter:
    """The filter with one field taken off."""
    kept = {name: text for name, text in _typed(only).items() if name != field}
    return typed_filter(kept)


def filter_bar(assistant: Answerer, only: Filter, typed: Mapping[str, object] | None = None, problem: str = "") -> str:
    """What holds and how many papers it leaves, and the form that changes it. problem: what is wrong with `typed`."""
    fields = [field for field in _FIELDS if field in assistant.stated]
    if not fields:
        return ""
    said = typed if typed is not None else _typed(only)
    inputs = "".join(_input(field, str(said.get(field, ""))[:LONGEST]) for field in fields)
    notice = f'<p class="notice" role="alert">{escape(problem)}</p>' if problem else ""
    scope = assistant.scope(only)
    return (
        f'<div class="filters"><details{" open" if problem else ""}><summary>Filter papers</summary>'
        f'<form class="filter-form" novalidate>{inputs}<button type="submit">Apply</button></form></details>'
        f"{_held(only, scope) if scope else ''}{notice}</div>"
    )


def _input(field: str, value: str) -> str:
    label, example = _FIELDS[field]
    return (
        f'<label>{label}<input name="{field}" value="{escape(value)}" placeholder="{escape(example)}"'
        f' maxlength="{LONGEST}" autocomplete="off" spellcheck="false"></label>'
    )


def _held(only: Filter, scope: Scope) -> str:
    years = Filter(only.first_year, only.last_year)
    said = _typed(only) | {"year": described(years)}
    chips = "".join(_chip(field, text) for field, text in said.items() if text)
    left = f"answers from {papers(scope.papers_left)}" if scope.papers_left else "no paper meets this"
    return f'<div class="held" role="status">{chips}<span>{left}</span></div>'


def _chip(field: str, text: str) -> str:
    label = escape(f"Take off: {_FIELDS[field][0]} {text}")
    return (
        f'<button type="button" class="chip" data-off="{field}" aria-label="{label}">{escape(text)}'
        ' <span aria-hidden="true">×</span></button>'
    )


def _typed(only: Filter) -> dict[str, str]:
    """The filter as it would be typed."""
    return {"year": years_text(only), "venue": "; ".join(only.venues), "author": "; ".join(only.authors)}
