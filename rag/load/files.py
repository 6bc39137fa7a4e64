"""Names of papers files → open text, whatever the compression and the encoding.

A source that cannot be read is a LoadError. What stands in the text, it does not know.
"""

from __future__ import annotations

import codecs
import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from rag.errors import LoadError

__all__ = ["READS", "Meter", "Source", "TextFile", "opened", "sources"]

READS = "plain text, JSONL, JSON, CSV, TSV, BibTeX, RIS and CSL-JSON, also gzipped"
_SUFFIXES = {".txt", ".text", ".md", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".tab", ".bib", ".ris"}
_HEAD = 1 << 16
_SIGNATURES = (
    (b"%PDF", "a PDF"), (b"PK\x03\x04", "a zip archive or Office document"), (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"), (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"), (b"7z\xbc\xaf", "a 7z archive"), (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"\x1f\x8b", "gzip inside gzip"), (b"SQLite format 3", "an SQLite database"), (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"), (b"{\\rtf", "an RTF document"), (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"<!doctype html", "an HTML page"), (b"<html", "an HTML page"), (b"<?xml", "an XML file"),
)  # fmt: skip
_CONTROLS = bytes([*range(8), *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])  # none of them in text
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Source:
    """A papers file by the name the caller gave; path None: standard input."""

    name: str
    path: Path | None


@dataclass(slots=True)
class Meter:
    """How far the reading of some files is. total: their bytes as they lie on disk, 0 when that is not known."""

    total: int = 0
    _before: int = 0
    _current: io.BufferedReader | None = None

    def expect(self, files: Sequence[Source]) -> None:
        """The files that will be read."""
        known = all(source.path is not None for source in files)
        self.total = sum(source.path.stat().st_size for source in files if source.path is not None) if known else 0

    def enter(self, file: io.BufferedReader) -> None:
        """The next file is being read."""
        self._current = file

    def leave(self) -> None:
        """The file has been read."""
        self._before += self._current.tell() if self._current else 0
        self._current = None

    @property
    def fraction(self) -> float | None:
        """Share of the bytes that have been read, 0..1; None when it cannot be told."""
        if not self.total:
            return None
        here = self._current.tell() if self._current and not self._current.closed else 0
        return min(1.0, (self._before + here) / self.total)


@dataclass(frozen=True, slots=True)
class TextFile:
    """An open papers file. head: its first 64 kB, for a look ahead. lines: all of it, from the start."""

    name: str
    head: str
    lines: io.TextIOWrapper


def sources(names: Sequence[str | Path]) -> tuple[Source, ...]:
    """The files to read, folders replaced by the papers files in them, in order of name.

    All are looked at, so that a wrong third name is a LoadError before the first paper and not ten minutes later.
    """
    found = tuple(source for name in names for source in _expanded(name))
    for source in found:
        if source.path is not None:
            with opened(source, None):
                pass
    return found


def _expanded(name: str | Path) -> tuple[Source, ...]:
    if str(name) == "-":
        return (Source("standard input", None),)
    path = Path(name)
    if not path.is_dir():
        return (Source(str(name), path),)
    inside = sorted(child for child in path.iterdir() if child.is_file() and _is_papers_file(child))
    if not inside:
        raise LoadError(f"{name}: the folder has no papers files; Footnote reads {READS}")
    return tuple(Source(str(child), child) for child in inside)


def _is_papers_file(path: Path) -> bool:
    """By its suffix; hidden files and READMEs are not."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    return bool(suffixes) and suffixes[-1] in _SUFFIXES and not path.name.startswith((".", "README"))


@contextmanager
def opened(source: Source, stdin: BinaryIO | None, meter: Meter | None = None) -> Iterator[TextFile]:
    """The source's text. LoadError: it is missing, may not be read, is empty, or is no text."""
    with ExitStack() as stack:
        try:
            raw = _binary(source, stdin, stack)
            if meter and source.path is not None:
                meter.enter(raw)
                stack.callback(meter.leave)
            data = _unpacked(raw)
            head = _filled(data)
        except (OSError, EOFError) as error:
            raise LoadError(_unreadable(source, error)) from error
        _refuse(source.name, head)
        encoding, errors = _encoding(head)
        joined = io.BufferedReader(_Rejoined(head, data), _HEAD)
        lines = io.TextIOWrapper(joined, encoding, errors)
        yield TextFile(source.name, _decoded(head, encoding, errors), lines)
        lines.detach()


def _binary(source: Source, stdin: BinaryIO | None, stack: ExitStack) -> io.BufferedReader:
    if source.path is not None:
        return stack.enter_context(source.path.open("rb"))
    reader: io.BufferedReader = io.BufferedReader(cast(io.RawIOBase, stdin or sys.stdin.buffer))
    stack.callback(reader.detach)  # standard input is the caller's to close
    return reader


def _unpacked(file: io.BufferedReader) -> io.BufferedIOBase:
    if file.peek(2)[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=file)
    return file


def _filled(data: io.BufferedIOBase) -> bytes:
    """Up to 64 kB; a pipe gives them in pieces."""
    head = b""
    while len(head) < _HEAD and (piece := data.read1(_HEAD - len(head))):
        head += piece
    return head


class _Rejoined(io.RawIOBase):
    """What was read ahead, then the rest; a pipe cannot be wound back."""

    def __init__(self, head: bytes, rest: io.BufferedIOBase) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        piece = self._head[: len(buffer)] or self._rest.read1(len(buffer))
        self._head = self._head[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _unreadable(source: Source, error: OSError | EOFError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{source.name}: there is no such file; check the name (the current folder is {Path.cwd()})"
    if isinstance(error, gzip.BadGzipFile | EOFError):
        return f"{source.name}: the gzip data is damaged ({error}); fetch or pack the file again"
    return f"{source.name}: cannot be read ({error}); check its permissions"


def _refuse(name: str, head: bytes) -> None:
    if not head.strip(b"\0 \t\r\n\x0b\x0c\xef\xbb\xbf\xff\xfe"):
        raise LoadError(f"{name}: the file is empty; Footnote reads {READS}")
    start = head[:64].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) or start.startswith(signature):
            raise LoadError(f"{name}: looks like {kind}; Footnote reads {READS}")
    if _encoding(head)[0].startswith("utf-8") and len(head.translate(None, _CONTROLS)) < 0.98 * len(head):
        raise LoadError(f"{name}: looks like a binary file; Footnote reads {READS}")


def _encoding(head: bytes) -> tuple[str, str]:
    """Encoding and error handler, from the first 64 kB."""
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding, "replace" if encoding == "utf-16" else _BYTEWISE
    for encoding, even, odd in (("utf-16-le", 0, 1), ("utf-16-be", 1, 0)):
        if head[odd::2].count(0) > len(head) // 5 and head[even::2].count(0) < len(head) // 50:
            return encoding, "replace"
    return ("gb18030", "replace") if _looks_chinese(head) else ("utf-8", _BYTEWISE)


def _looks_chinese(head: bytes) -> bool:
    """GB 18030 text: no UTF-8, many high bytes, and nearly all of it decodes to ideographs."""
    if sum(byte > 0x7F for byte in head) < len(head) // 4 or "\ufffd" not in head[:-4].decode("utf-8", "replace"):
        return False
    text = head.decode("gb18030", "replace")
    return text.count("\ufffd") < 3 and sum("\u3000" <= sign <= "\u9fff" for sign in text) > len(text) // 3


def _decoded(head: bytes, encoding: str, errors: str) -> str:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    return decoder.decode(head).replace("\r\n", "\n").replace("\r", "\n")


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are no UTF-8 are read as Windows-1252, one by one: a Latin-1 file comes out whole."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_BYTEWISE = "footnote.windows-1252"
codecs.register_error(_BYTEWISE, _as_windows_1252)
