"""BibTeX and RIS text → Records, by bibtexparser and rispy. Which field means what, it does not know."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Protocol

from rag.text import formulas, shown

from .files import TextFile
from .record import Record, Reject, shortened

__all__ = ["read_bibtex", "read_ris"]

_RIS_TAG = re.compile(r"^\ufeff?\s*([A-Z][A-Z0-9]) {1,2}-(?: |$)")
_LINES_SHOWN = 4

# bibtexparser logs what this module reports as Rejects; without a handler, logging would print it.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())


class _Field(Protocol):
    key: str
    value: object


class _Entry(Protocol):
    key: str
    fields: list[_Field]


def read_bibtex(file: TextFile) -> Iterator[Record | Reject]:
    """One Record an entry, @string names put in, authors apart; an entry that does not parse is a Reject."""
    from bibtexparser import model, parse_string  # noqa: PLC0415 – only BibTeX files need it

    for block in parse_string(file.lines.read()).blocks:
        where = f"{file.name}:{(block.start_line or 0) + 1}"
        if isinstance(block, model.Entry):
            yield Record(where, _bibtex_fields(block))
        elif isinstance(block, model.DuplicateBlockKeyBlock):
            first = (block.previous_block.start_line or 0) + 1
            yield Reject(where, block.key, f"has the same key as {file.name}:{first}")
        elif isinstance(block, model.DuplicateFieldKeyBlock):
            fields = ", ".join(sorted(block.duplicate_keys))
            yield Reject(where, shortened(block.raw or ""), f"has a field twice: {fields}")
        elif isinstance(block, model.ParsingFailedBlock):
            yield Reject(where, shortened(block.raw or ""), "does not parse as BibTeX; check its braces and commas")


def _bibtex_fields(entry: _Entry) -> dict[str, object]:
    fields: dict[str, object] = {"id": entry.key}
    for field in entry.fields:
        name = field.key.lower()
        if name in ("author", "editor"):
            fields[name] = _bibtex_names(str(field.value))
        elif name != "id":
            links = name in ("url", "doi", "eprint", "pdf")
            fields[name] = str(field.value).replace("\\_", "_") if links else _unbraced(str(field.value))
    return fields


def _bibtex_names(value: str) -> list[str]:
    from bibtexparser.middlewares import names  # noqa: PLC0415 – see above

    parsed = (
        names.parse_single_name_into_parts(name, strict=False) for name in names.split_multiple_persons_names(value)
    )
    return [_unbraced(" ".join([*name.first, *name.von, *name.last, *name.jr])) for name in parsed]


def _unbraced(value: str) -> str:
    """Shown text without the braces that keep capitals: "{BERT}: …" → "BERT: …"."""
    text, pieces, end = shown(value), [], 0
    for start, stop in formulas(text):
        pieces += [re.sub("[{}]", "", text[end:start]), text[start:stop]]
        end = stop
    return "".join([*pieces, re.sub("[{}]", "", text[end:])])


def read_ris(file: TextFile) -> Iterator[Record | Reject]:
    """One Record from each TY to its ER, or to the next TY where ER was forgotten."""
    started, lines = 0, list[str]()
    for number, line in enumerate(file.lines, 1):
        tagged = _RIS_TAG.match(line)
        tag = tagged[1] if tagged else ""
        if tag in ("TY", "ER") and lines:
            yield _ris_record(f"{file.name}:{started}", lines)
            lines = []
        if tag == "TY":
            started = number
        if tag != "ER" and (tag == "TY" or lines) and line.strip():
            lines.append(_RIS_TAG.sub(r"\1  - ", line).rstrip())
    if lines:
        yield _ris_record(f"{file.name}:{started}", lines)


def _ris_record(where: str, lines: list[str]) -> Record | Reject:
    import rispy  # noqa: PLC0415 – only RIS files need it

    what = shortened(" ".join(lines[:_LINES_SHOWN]))
    try:
        found = rispy.loads("\n".join([*lines, "ER  - "]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return Reject(where, what, f"does not parse as RIS: {error}")
    fields: Mapping[str, object] = found[0] if found else {}
    return Record(where, fields) if fields else Reject(where, what, "does not parse as RIS")
