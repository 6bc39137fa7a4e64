"""Files of questions in, files of results out, for the --batch of `ask` and `search`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

from rag.errors import FootnoteError, UsageError
from rag.filters import read_filter
from ui.cli_json import json_text
from vectorstore.filter import Filter


@dataclass(frozen=True, slots=True)
class Row:
    """A question of the file. where: its file and line. follows: the id of the question before it. only: its filter."""

    id: str
    question: str
    where: str
    follows: str | None = None
    only: Filter | None = None


@contextmanager
def opened_batch(name: str, out: str) -> Iterator[tuple[Iterable[Row | UsageError], Callable[[object], None]]]:
    """The rows of a JSONL file of questions, and a function that writes one result as a line of JSON, at once.

    name, out: - for standard input and output. A bad row becomes an error that says where it stands.
    """
    refuse_overwriting("--out", out, [name])
    with (
        nullcontext(sys.stdin) if name == "-" else _opened(name) as source,
        nullcontext(sys.stdout) if out == "-" else _created(out) as target,
    ):

        def write(value: object) -> None:
            target.write(json_text(value, target.encoding) + "\n")
            target.flush()

        yield _rows(source, "standard input" if name == "-" else name), write


def _rows(source: TextIO, name: str) -> Iterator[Row | UsageError]:
    for number, line in enumerate(source, 1):
        if line.strip():
            yield _row(line, f"{name}:{number}")


def _opened(name: str) -> TextIO:
    try:
        return Path(name).open(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise UsageError(f"the questions {name} cannot be read: {error.strerror}") from error


def _row(line: str, where: str) -> Row | UsageError:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        return UsageError(f"{where}: not JSON: {error.msg}, at column {error.colno}")
    except (ValueError, RecursionError):
        return UsageError(f"{where}: not JSON that can be read: nested too deep, or a number too long")
    question = row.get("question") if isinstance(row, dict) else None
    if not isinstance(question, str) or not question.strip():
        return UsageError(f'{where}: not a question; a line is {{"id": "1", "question": "…"}}')
    name, follows = (str(row[key]) if row.get(key) is not None else None for key in ("id", "follows"))
    try:
        only = read_filter(row["filter"]) if row.get("filter") is not None else None
    except UsageError as error:
        return UsageError(f"{where}: {error}")
    return Row(name or where, question, where, follows, only)


def each_row(rows: Iterable[Row | UsageError], handle: Callable[[Row], None]) -> None:
    """Handle each good row; say each bad one, and end with status 1 if there were any."""
    bad = 0
    for row in rows:
        try:
            if isinstance(row, UsageError):
                raise row
            handle(row)
        except FootnoteError as error:
            bad += 1
            where = "" if isinstance(row, UsageError) else f"{row.where}: "
            click.echo(f"footnote: {where}{error}", err=True)
    if bad:
        raise click.exceptions.Exit(1)


def refuse_overwriting(option: str, target: str, sources: Iterable[str]) -> None:
    """UsageError when the file that an option names is one of those that are read."""
    if Path(target).is_file() and any(Path(s).is_file() and Path(s).samefile(target) for s in sources):
        raise UsageError(f"{option} {target} would overwrite what is read; name another file")


def _created(name: str) -> TextIO:
    try:
        return Path(name).open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror}") from error
