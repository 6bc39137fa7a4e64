"""What a reasoning model says aloud, without what it thinks: <think>…</think> is taken out of a stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_TAG = re.compile(r"<(?P<end>/?)(?:think|thinking|thought|reasoning)>\s*", re.IGNORECASE)
_COMING = re.compile(r"</?[a-z]{0,9}$", re.IGNORECASE)
# Models whose template opens the thought for them, so that only its end is in the stream.
_THINKS = re.compile(r"(?<![a-z])(?:r1|qwq)(?![a-z])|think|reason", re.IGNORECASE)


class Spoken:
    """The pieces without thoughts. Iterate it until it ends; when `restarted` is then true, all before was a thought:
    forget it and iterate again.
    """

    def __init__(self, pieces: Iterable[str], spec: str = "") -> None:
        """spec: of the model; of one that is known to think, nothing is said before its thought has ended."""
        self._pieces = iter(pieces)
        self._rest = ""
        self._hold = bool(_THINKS.search(spec))
        self._thinking = False
        self._over = False
        self.restarted = False

    def __iter__(self) -> Iterator[str]:
        self.restarted = False
        held: list[str] = []
        for text in self._read():
            if self.restarted:
                return
            if self._hold:
                held.append(text)
            else:
                yield text
        yield from held

    def _read(self) -> Iterator[str]:
        while True:
            yield from self._tags()
            if self.restarted or self._over:
                return
            piece = next(self._pieces, None)
            self._over = piece is None
            self._rest += piece or ""

    def _tags(self) -> Iterator[str]:
        while tag := _TAG.search(self._rest):
            before, self._rest = self._rest[: tag.start()], self._rest[tag.end() :]
            if tag["end"] and not self._thinking:
                self.restarted, self._hold = True, False
                yield ""
                return
            if not self._thinking:
                yield before
            self._thinking = not tag["end"]
            self._hold = self._hold and self._thinking
        coming = None if self._over else _COMING.search(self._rest)
        cut = coming.start() if coming else len(self._rest)
        text, self._rest = self._rest[:cut], self._rest[cut:]
        if text and not self._thinking:
            yield text
