"""Turns an iterator that may block for minutes into one that never does.

The source runs in a thread of its own; the reader gets its newest item, or None when nothing new came in time.
So a page can be stopped while a model is silent, and a model that writes faster than a page can show costs the
page nothing. It must not know what the items are.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

# Seconds. An eye sees about 15 steps a second as even; a stop is felt as immediate within a quarter second.
STEP = 0.07
PATIENCE = 0.25


class Relay(Generic[T]):
    """Reads `start()` in a thread until it ends, fails, or `halt` is set; then closes it there."""

    def __init__(self, start: Callable[[], Iterator[T]], halt: threading.Event) -> None:
        self._start = start
        self._halt = halt
        self._items: queue.SimpleQueue[T] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._pump, name="footnote-answer", daemon=True)

    def newest(self) -> Iterator[T | None]:
        """The newest item about every STEP seconds, None after PATIENCE without one; raises what the source raised.

        Unless `halt` is set, the last item of the source is always among them.
        """
        self._thread.start()
        while not self._halt.is_set():
            over = not self._thread.is_alive()
            item = self._latest(0 if over else PATIENCE)
            if item is None and over:
                break
            yield item
        if self._error is not None:
            raise self._error

    def _latest(self, patience: float) -> T | None:
        """Takes everything that has come and keeps the last of it."""
        try:
            item = self._items.get(timeout=patience)
        except queue.Empty:
            return None
        self._thread.join(STEP)
        while not self._items.empty():
            item = self._items.get_nowait()
        return item

    def _pump(self) -> None:
        try:
            self._read(self._start())
        except BaseException as error:  # noqa: BLE001 - raised again where the items are read
            self._error = error

    def _read(self, source: Iterator[T]) -> None:
        try:
            for item in source:
                self._items.put(item)
                if self._halt.is_set():
                    return
        finally:
            if isinstance(source, Generator):
                source.close()
