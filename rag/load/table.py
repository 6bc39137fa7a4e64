"""CSV and TSV text with a header → Records, a row at a time, whichever of "," ";" tab "|" divides its columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence

from .fields import KNOWN_ABSTRACTS, is_abstract
from .files import TextFile
from .record import Record, Reject, shortened
from .sniff import delimiter

__all__ = ["read"]

_LONGEST_FIELD = 1 << 24  # csv's own limit of 128 kB is smaller than some full texts


def read(file: TextFile) -> Iterator[Record | Reject]:
    """One Record a row, where: the line that the row begins on. A header that names no abstract is one Reject."""
    csv.field_size_limit(_LONGEST_FIELD)
    mark = delimiter(file.head.lstrip().split("\n", 1)[0])
    rows = csv.reader((line.replace("\0", "") for line in file.lines), delimiter=mark, skipinitialspace=True)
    header: list[str] = []
    line = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield Reject(f"{file.name}:{line}", "this row", f"cannot be read as a table's row: {error}")
            row = []
        if row is None:
            return
        if any(map(str.strip, row)):
            if header:
                yield _record(f"{file.name}:{line}", header, row)
            elif _names_abstract(row):
                header = [cell.strip() for cell in row]
            else:
                yield Reject(f"{file.name}:{line}", "the whole table", _no_column(row))
                return
        line = rows.line_num + 1


def _names_abstract(header: Sequence[str]) -> bool:
    return any(map(is_abstract, header))


def _no_column(header: Sequence[str]) -> str:
    columns = ", ".join(f'"{shortened(cell, 30)}"' for cell in header)
    return f"has no column of abstracts: its columns are {columns}; known names are {', '.join(KNOWN_ABSTRACTS)}"


def _record(where: str, header: Sequence[str], row: Sequence[str]) -> Record | Reject:
    if len(row) > len(header) and any(cell.strip() for cell in row[len(header) :]):
        why = f"has {len(row)} columns where the header has {len(header)}"
        return Reject(where, shortened(" | ".join(row)), why)
    return Record(where, dict(zip(header, row, strict=False)))
