"""JSON text → Records: one value a line, or a list, an object that holds a list, id → record, or one record.

CSL-JSON is a JSON list. Which field means what, it does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from .fields import folded, is_known, record_lists
from .files import TextFile
from .record import Record, Reject, shortened

__all__ = ["read_lines", "read_whole"]

_BETWEEN = re.compile(r"[\s,\ufeff]*")
_DECODER = json.JSONDecoder()


def read_lines(file: TextFile) -> Iterator[Record | Reject]:
    """JSONL, a line at a time; a broken line is a Reject and the next one is read."""
    for number, whole in enumerate(file.lines, 1):
        line = whole.strip().removesuffix(",")
        if line in ("", "[", "]"):
            continue
        where = f"{file.name}:{number}"
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            yield Reject(where, shortened(line), f"is not valid JSON: {error.msg}, at column {error.colno}")
        except (ValueError, RecursionError) as error:
            yield Reject(where, shortened(line), f"is not valid JSON: {error}")
        else:
            yield _record(where, value)


def read_whole(file: TextFile) -> Iterator[Record | Reject]:
    """One JSON value, or several one after the other; what stands before a broken place goes in."""
    text = file.lines.read().rstrip()
    at = _BETWEEN.match(text).end()  # type: ignore[union-attr]
    inside_list = text.startswith("[", at)
    at = _BETWEEN.match(text, at + inside_list).end()  # type: ignore[union-attr]
    line, counted = 1, 0
    while at < len(text) and not (inside_list and text[at] == "]"):
        line, counted = line + text.count("\n", counted, at), at
        where = f"{file.name}:{line}"
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield _broken(file.name, error, text[at : at + 400])
            return
        yield from [_record(where, value)] if inside_list else _unpacked(where, value)
        at = _BETWEEN.match(text, end).end()  # type: ignore[union-attr]


def _broken(name: str, error: ValueError | RecursionError, what: str) -> Reject:
    line = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return Reject(f"{name}{line}", shortened(what), f"is not valid JSON: {reason}; the rest of the file is not read")


def _record(where: str, value: object) -> Record | Reject:
    if isinstance(value, Mapping):
        return Record(where, value)
    return Reject(where, shortened(str(value)), "is not an object with named fields")


def _unpacked(where: str, value: object) -> Iterator[Record | Reject]:
    """The records that a single value stands for."""
    file = where.rpartition(":")[0]
    if not isinstance(value, Mapping):
        yield _record(where, value)
    elif isinstance(listed := record_lists(value), list):
        yield from (_record(f"{file}:record {number}", item) for number, item in enumerate(listed, 1))
    elif _is_by_id(value):
        for number, (key, item) in enumerate(value.items(), 1):
            yield _record(f"{file}:record {number}", {"id": key, **item})
    elif columns := _columns(value):
        for number, row in enumerate(columns, 1):
            yield _record(f"{file}:record {number}", row)
    else:
        yield _record(where, value)


def _is_by_id(value: Mapping[str, object]) -> bool:
    """{"some-id": {"title": …}, …}"""
    return bool(value) and all(
        isinstance(item, Mapping) and any(is_known(str(name)) for name in item) and not is_known(key)
        for key, item in value.items()
    )


def _columns(value: Mapping[str, object]) -> list[dict[str, object]]:
    """{"title": […], "abstract": […]} and pandas' {"title": {"0": …}, …}, row by row; [] when it is neither."""
    columns = {name: list(held.values()) if isinstance(held, Mapping) else held for name, held in value.items()}
    abstracts = next((held for name, held in columns.items() if folded(name) in ("abstract", "text", "summary")), None)
    if not isinstance(abstracts, list) or not all(
        isinstance(held, list) and len(held) == len(abstracts) for held in columns.values()
    ):
        return []
    names = list(columns)
    rows = zip(*(held for held in columns.values() if isinstance(held, list)), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]
