"""Lets an iterator run for so long and no longer, whatever it does meanwhile.

It runs in a thread of its own, so that a reader is never kept waiting by a server that is silent; when the reader has
gone or the time is up, it is told to stop and closes what it holds open. It must not know what the pieces are.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")

_AHEAD = 64  # pieces that the source may be ahead of its reader
_STEP = 0.2  # seconds after which a source that waits for its reader looks whether there still is one


class TimeUp(Exception):
    """The time was up before the pieces came to their end."""


def within(seconds: float, start: Callable[[threading.Event], Iterator[T]]) -> Iterator[T]:
    """The pieces of `start(stopped)`, for so many seconds from the first `next`; then TimeUp.

    What the source raises is raised here. stopped: set when nobody reads any more.
    """
    end = monotonic() + seconds
    source = _Source(start)
    try:
        source.thread.start()
        while True:
            yield source.next(end - monotonic())
    except StopIteration:
        return
    finally:
        source.stopped.set()


class _End:
    """What comes after the last piece. error: what the source raised."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


class _Source(Generic[T]):
    def __init__(self, start: Callable[[threading.Event], Iterator[T]]) -> None:
        self._start = start
        self._pieces: queue.Queue[T | _End] = queue.Queue(_AHEAD)
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._pump, name="footnote-llm", daemon=True)

    def next(self, seconds: float) -> T:
        """The next piece; StopIteration after the last."""
        try:
            piece = self._pieces.get(timeout=max(seconds, 0))
        except queue.Empty:
            raise TimeUp from None
        if not isinstance(piece, _End):
            return piece
        if piece.error is not None:
            raise piece.error
        raise StopIteration

    def _pump(self) -> None:
        error: BaseException | None = None
        try:
            self._read(self._start(self.stopped))
        except BaseException as raised:  # noqa: BLE001 - raised again where the pieces are read
            error = raised
        self._put(_End(error))

    def _read(self, source: Iterator[T]) -> None:
        try:
            for piece in source:
                self._put(piece)
                if self.stopped.is_set():
                    return
        finally:
            if isinstance(source, Generator):
                source.close()

    def _put(self, piece: T | _End) -> None:
        while not self.stopped.is_set():
            try:
                self._pieces.put(piece, timeout=_STEP)
            except queue.Full:
                continue
            return
