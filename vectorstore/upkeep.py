"""Keeps the two halves of an index level: makes words again from Chroma's rows, and notices when they disagree.

Chroma's rows hold all that is known of a paper; the words can always be made from them. On a server the rows carry a
revision, which changes when a run of writes begins and when it ends: so other machines know that their mirror of the
words is behind, or that a run was killed somewhere.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from uuid import uuid4

from vectorstore import lock, tables
from vectorstore.errors import StoreLocked
from vectorstore.lexical import LexicalIndex
from vectorstore.passage import Record
from vectorstore.place import Place

if TYPE_CHECKING:
    from vectorstore.dense import DenseIndex

_BEGUN = "begun "  # before the revision of a run that has not ended
_PATIENCE = 60.0  # seconds to wait for another process to make the words
log = logging.getLogger(__name__)


class Upkeep:
    """The halves of one index, and the place that they are at."""

    def __init__(self, dense: DenseIndex, words: LexicalIndex, place: Place) -> None:
        self._dense = dense
        self._words = words
        self._place = place
        self._file = _identity(place.folder)

    def keep_up(self) -> None:
        """Bring the words level with Chroma's rows, when they were lost or another machine has written."""
        until = monotonic() + _PATIENCE
        while self._behind():
            try:
                with lock.writing(self._place.folder, patience=0.5):
                    if self._behind():
                        self._reread()
            except StoreLocked:
                if monotonic() > until:
                    raise

    def warn(self) -> None:
        """Log a warning when words and vectors do not agree in number though nothing is being written."""
        if self._level():
            return
        try:
            with lock.writing(self._place.folder):
                level = self._level()
        except StoreLocked:
            return
        if not level:
            where = self._place.text
            log.warning("words and vectors of the index at %s differ: footnote index --check --index %s", where, where)

    def begin(self) -> None:
        """Before a run of writes, by its only writer on this machine: know what is there."""
        if self._file != _identity(self._place.folder):
            raise StoreLocked(f"the index at {self._place.text} was rebuilt just now by another process; run it again")
        revision = self._dense.revision if self._place.host else ""
        if revision.startswith(_BEGUN):
            log.warning(
                "a run of %s did not end; if it is still going on, stop this one", revision.split(maxsplit=2)[2]
            )
        if revision.startswith(_BEGUN) or self._behind():
            self._reread()

    def announce(self) -> None:
        """Before the first write of a run: let other machines know of it, should it be killed."""
        if self._place.host and not self._dense.revision.startswith(_BEGUN):
            me = f"process {os.getpid()} on {socket.gethostname()}, since {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
            self._mark(f"{_BEGUN}{uuid4().hex} {me}")

    def end(self) -> None:
        """After a run of writes: let other machines know that there is something new."""
        if self._place.host and self._dense.revision.startswith(_BEGUN):
            self._mark(uuid4().hex)

    def restore_words(self, paper_ids: Sequence[str]) -> frozenset[str]:
        """Make the words of those papers again that are whole in Chroma; their ids."""
        whole = [(found, passages) for found, passages in self._dense.records(paper_ids) if isinstance(found, Record)]
        self._words.settle([record for record, _ in whole], [p for _, passages in whole for p in passages])
        return frozenset(record.paper_id for record, _ in whole)

    def _mark(self, revision: str) -> None:
        self._dense.mark(revision)
        self._words.mark(revision)

    def _behind(self) -> bool:
        if self._place.host and self._dense.revision != self._words.revision:
            return True
        return not self._words.counts()[0] and not self._words.pending() and bool(self._dense.count())

    def _reread(self) -> None:
        revision = self._dense.revision  # before the rows: a write that comes between is seen the next time
        if not self._place.host:
            log.warning("the words of the index at %s were lost; making them from its vectors", self._place.text)
        self._words.replace(self._dense.records(), revision)

    def _level(self) -> bool:
        vectors = self._dense.count()
        return (
            vectors == self._words.counts()[1]
            or bool(self._words.pending())
            or (bool(self._place.host) and self._dense.revision.startswith(_BEGUN))
        )


def _identity(folder: Path) -> tuple[int, int]:
    """Which file stands there, whatever its name."""
    found = (folder / tables.NAME).stat()
    return found.st_dev, found.st_ino
