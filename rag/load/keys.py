"""Two tables that cost a fraction of a dict's or a list's memory: 64-bit keys → numbers, and numbered places.

They know nothing of papers.
"""

from __future__ import annotations

import re
from array import array
from hashlib import blake2b

__all__ = ["KeyTable", "Places", "key_of"]

_FIRST_SIZE = 4096
_GROWTH = 1.5
_NUMBERED = re.compile(r"(.*?)(\d{1,9})")


def key_of(*parts: str) -> int:
    """64 bits, never 0; among five million keys, one chance in a million that any two are the same."""
    digest = blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


class KeyTable:
    """64-bit keys → the first number each was added with; open addressing, 18 to 27 bytes a key."""

    def __init__(self) -> None:
        self._keys, self._numbers = array("Q"), array("I")
        self._make_room(_FIRST_SIZE)

    def get(self, key: int) -> int | None:
        """The number of the key, None for one that was never added."""
        slot = self._slot(key)
        return self._numbers[slot] if self._keys[slot] else None

    def add(self, key: int, number: int) -> None:
        """Remembers the number, unless the key has one."""
        slot = self._slot(key)
        if not self._keys[slot]:
            self._keys[slot], self._numbers[slot] = key, number
            self._used += 1
            if self._used * 3 > self._size * 2:
                self._grow()

    def _slot(self, key: int) -> int:
        slot = key % self._size
        while self._keys[slot] not in (0, key):
            slot = (slot + 1) % self._size
        return slot

    def _make_room(self, size: int) -> None:
        self._keys, self._numbers = array("Q", bytes(8 * size)), array("I", bytes(4 * size))
        self._size, self._used = size, 0

    def _grow(self) -> None:
        keys, numbers = self._keys, self._numbers
        self._make_room(int(_GROWTH * len(keys)))
        for key, number in zip(keys, numbers, strict=True):
            if key:
                slot = self._slot(key)
                self._keys[slot], self._numbers[slot] = key, number
                self._used += 1


class Places:
    """A list of places such as "papers.csv:17", 8 bytes each."""

    def __init__(self) -> None:
        self._prefixes: dict[str, int] = {}
        self._names: list[str] = []
        self._prefix, self._number = array("I"), array("I")

    def __len__(self) -> int:
        return len(self._prefix)

    def __getitem__(self, index: int) -> str:
        return f"{self._names[self._prefix[index]]}{self._number[index]}"

    def append(self, place: str) -> None:
        """`place` ends in a number without leading zeros."""
        found = _NUMBERED.fullmatch(place)
        prefix, number = (found[1], int(found[2])) if found else (f"{place}:", 0)
        if prefix not in self._prefixes:
            self._prefixes[prefix] = len(self._names)
            self._names.append(prefix)
        self._prefix.append(self._prefixes[prefix])
        self._number.append(number)
