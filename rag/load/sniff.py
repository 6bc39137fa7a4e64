"""The beginning of a papers file, and its name where that does not tell → the name of its format.

It reads nothing and knows no fields but the names a table's header may have.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePath

from .fields import is_known

__all__ = ["delimiter", "format_of"]

_BIBTEX = re.compile(r"^[ \t]*@[A-Za-z]+\s*[{(]", re.MULTILINE)
_RIS = re.compile(r"^TY  ?-", re.MULTILINE)
_BY_SUFFIX = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "table", ".tsv": "table", ".tab": "table",
    ".bib": "bibtex", ".ris": "ris",
}  # fmt: skip
_LOOK_AT = 50


def format_of(head: str, name: str) -> str:
    """ "jsonl", "json", "bibtex", "ris", "table" or "plain"; the content decides, then the suffix."""
    start = head.lstrip()
    if start.startswith("{") or re.match(r"\[\s*[\[{\"\]]", start):
        return "jsonl" if _one_value_a_line(start) else "json"
    if _RIS.search(head):
        return "ris"
    if _BIBTEX.search(head):
        return "bibtex"
    if _is_table(start):
        return "table"
    return _BY_SUFFIX.get(PurePath(name.lower().removesuffix(".gz")).suffix, "plain")


def _one_value_a_line(start: str) -> bool:
    """Whether most of the first lines are objects of their own; one of them may be broken."""
    lines = [line.strip() for line in start.splitlines() if line.strip()]
    if len(lines) == 1:
        return False
    if not start.endswith("\n"):
        lines = lines[:-1]
    lines = lines[:_LOOK_AT]
    return sum(map(_is_object, lines)) * 2 > len(lines) or (lines[0] not in "[{" and _is_object(lines[0]))


def _is_object(line: str) -> bool:
    if not line.startswith("{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_table(start: str) -> bool:
    header = start.split("\n", 1)[0]
    mark = delimiter(header)
    return mark in header and len(header) < 2000 and any(is_known(cell) for cell in header.split(mark))


def delimiter(header: str) -> str:
    """Of "," ";" tab and "|" the one that cuts the header into the most names that are known, else the most cells."""

    def score(mark: str) -> tuple[int, int]:
        cells = header.split(mark)
        return sum(map(is_known, cells)), len(cells)

    return max(",;\t|", key=score)
