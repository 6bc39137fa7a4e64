"""Names of papers files → Papers and Rejects, one by one, in the order of the files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from rag.text import shown, words
from rag.types import Paper

from . import jsons, plain, references, table
from .duplicates import Seen
from .fields import KNOWN_ABSTRACTS, Draft, drafted, is_known
from .files import Meter, Source, TextFile, opened, sources
from .identity import paper_id
from .label import Labels
from .record import Record, Reject, shortened
from .sniff import format_of

__all__ = ["load_papers"]

_READERS: Mapping[str, Callable[[TextFile], Iterator[Record | Reject]]] = {
    "jsonl": jsons.read_lines,
    "json": jsons.read_whole,
    "table": table.read,
    "plain": plain.read,
    "bibtex": references.read_bibtex,
    "ris": references.read_ris,
}
_SHORTEST_ABSTRACT = 5  # words
_HEADING = re.compile(r"^\s*abstract\s*(?:[:.—–]|-+\s)\s*(?=\S)", re.IGNORECASE)


def load_papers(
    names: Sequence[str | Path], *, stdin: BinaryIO | None = None, meter: Meter | None = None
) -> Iterator[Paper | Reject]:
    """The papers of the files, and what was left out of them and why.

    names: files; a folder stands for the papers files in it, "-" for `stdin` (the process's own when None). meter: is
    kept at how far the reading is.
    LoadError, on the call itself: a file is missing, unreadable, empty or no text. The corpus is never held in
    memory, except for JSON and BibTeX files, which have to be read whole.
    """
    files = sources(names)
    meter = meter or Meter()
    meter.expect(files)
    return _papers(files, stdin, meter)


def _papers(files: Sequence[Source], stdin: BinaryIO | None, meter: Meter) -> Iterator[Paper | Reject]:
    seen, labels = Seen(), Labels()
    for file in files:
        for record in _records(file, stdin, meter):
            yield record if isinstance(record, Reject) else _paper(record, seen, labels)


def _records(source: Source, stdin: BinaryIO | None, meter: Meter) -> Iterator[Record | Reject]:
    with opened(source, stdin, meter) as file:
        try:
            yield from _READERS[format_of(file.head, file.name)](file)
        except (OSError, EOFError, zlib.error) as error:
            yield Reject(file.name, "the rest of the file", f"cannot be read: {error}")


def _paper(record: Record, seen: Seen, labels: Labels) -> Paper | Reject:
    draft = drafted(record.fields)
    title, abstract = shown(draft.title), _HEADING.sub("", shown(draft.abstract))
    if len(words(abstract)) < _SHORTEST_ABSTRACT:
        return Reject(
            record.where, shortened(title or draft.own_id or abstract or "an untitled record"), _no_abstract(record)
        )
    paper = _filled(draft, title or labels.label(abstract, draft.abstract), abstract, untitled=not title)
    if why := seen.duplicate(paper, draft.arxiv, record.where):
        return Reject(record.where, shortened(paper.title), why)
    return paper


def _filled(draft: Draft, title: str, abstract: str, *, untitled: bool) -> Paper:
    return Paper(
        id=paper_id(draft),
        title=title,
        abstract=abstract,
        authors=tuple(filter(None, map(shown, draft.authors))),
        year=draft.year,
        venue=shown(draft.venue),
        url=draft.url,
        doi=draft.doi,
        untitled=untitled,
    )


def _no_abstract(record: Record) -> str:
    """Names a field that may hold the abstract under a name that is not known."""
    unknown = [name for name, value in record.fields.items() if not is_known(str(name)) and _is_prose(value)]
    if not unknown:
        return "has no abstract"
    names = ", ".join(KNOWN_ABSTRACTS)
    return f'has no abstract (is it "{shortened(str(unknown[0]), 40)}"? An abstract is known by the names {names})'


def _is_prose(value: object) -> bool:
    return isinstance(value, str) and len(value.split()) > 2 * _SHORTEST_ABSTRACT
