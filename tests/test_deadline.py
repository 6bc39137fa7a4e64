"""An iterator that may run for so long and no longer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from rag.deadline import TimeUp, within


def plainly(pieces: Iterator[int]) -> Callable[[threading.Event], Iterator[int]]:
    return lambda _: pieces


def test_all_pieces_come_in_their_order() -> None:
    assert list(within(60, plainly(iter(range(500))))) == list(range(500))


def test_what_the_source_raises_comes_after_its_pieces() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise KeyError("two")

    pieces = within(60, plainly(failing()))
    assert next(pieces) == 1
    with pytest.raises(KeyError, match="two"):
        next(pieces)


def test_the_time_is_up() -> None:
    def waiting(stopped: threading.Event) -> Iterator[int]:
        yield 1
        stopped.wait(200)
        yield 2

    pieces = within(0.2, waiting)
    assert next(pieces) == 1
    with pytest.raises(TimeUp):
        next(pieces)


@pytest.mark.parametrize("read", [0, 1, 100])
def test_a_source_is_closed_when_its_reader_goes(read: int) -> None:
    closed = threading.Event()

    def endless(_: threading.Event) -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    pieces = within(60, endless)
    for _ in range(read):
        next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert closed.wait(30) is (read > 0)  # before the first piece there is no source


def test_a_reader_that_rests_keeps_its_source_waiting() -> None:
    made: list[int] = []

    def counting(_: threading.Event) -> Iterator[int]:
        for number in range(10_000):
            made.append(number)
            yield number

    pieces = within(60, counting)
    next(pieces)
    threading.Event().wait(0.3)
    assert len(made) < 200
    assert sum(1 for _ in pieces) == 9_999
