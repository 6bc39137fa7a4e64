"""What can go wrong with an index.

StoreError                what every error of this package is
├── StoreMissing          there is no index at that place
├── StoreMismatch         the index was made with another embedder, chunking or schema
├── StoreLocked           another process is writing to the index
└── StoreUnusable         the place cannot be read or written, or does not answer
"""

from __future__ import annotations

from pathlib import Path
from shutil import disk_usage

_LITTLE = 4 << 20  # bytes; what is left of a disk on which a batch found no room


class StoreError(Exception):
    """Base of every error of `vectorstore`; its message is one line: what, where, what to do."""


class StoreMissing(StoreError):
    """There is no index at the place that was named."""


class StoreMismatch(StoreError):
    """The index exists, but what made it is not what now opens it."""


class StoreLocked(StoreError):
    """Another process is writing to the index; the message names it."""


class StoreUnusable(StoreError):
    """The place cannot be read or written, or no server answers there."""

    @classmethod
    def at(cls, where: object, error: Exception, folder: Path | None = None) -> StoreUnusable:
        """An engine's own error, on one line with what can be done. folder: on the disk that may be full."""
        what = " ".join(str(error).split()) or type(error).__name__
        return cls(f"the index at {where} cannot be used: {what}; {_advice(str(where), what, folder)}")


def _advice(where: str, what: str, folder: Path | None) -> str:
    # Chroma says only that it failed to write; so the disk is asked.
    if "is full" in what or "No space left" in what or (folder and _free(folder) < _LITTLE):
        return "the disk is full: make room, and run it again; what is indexed so far is kept"
    if where.startswith("chroma:"):
        return "see that the Chroma server runs, and that its disk has room"
    return "if it is damaged, rebuild it: footnote index --rebuild PAPERS"


def _free(folder: Path) -> int:
    try:
        return disk_usage(folder).free
    except OSError:
        return _LITTLE
