"""One writer at a time: a lock in the index's folder that says who holds it, and is free when its holder dies."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from vectorstore.errors import StoreLocked, StoreUnusable

NAME = "writer.lock"
HOLDER = "writer.txt"


@contextmanager
def writing(folder: Path, patience: float = 0) -> Iterator[None]:
    """Be the folder's only writer for the body; StoreLocked, naming the holder, when there is another.

    patience: seconds to wait for the other to end.
    """
    lock = FileLock(str(folder / NAME), timeout=patience)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise StoreLocked(f"the index at {folder} is being written by {_holder(folder)}; wait for it to end") from None
    except OSError as error:
        raise StoreUnusable.at(folder, error) from error
    try:
        with suppress(OSError):  # on a full disk the lock holds without a name
            (folder / HOLDER).write_text(_me(), "utf-8")
        yield
    finally:
        (folder / HOLDER).unlink(missing_ok=True)
        lock.release()


def _me() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may run as a user that has no name
        user = "somebody"
    return f"process {os.getpid()} of {user} on {socket.gethostname()}, since {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def _holder(folder: Path) -> str:
    try:
        return (folder / HOLDER).read_text("utf-8") or "another process"
    except OSError:
        return "another process"
