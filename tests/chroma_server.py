"""A real Chroma server on a free port of this machine, for as long as a test needs it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

_CHROMA = str(Path(sys.executable).with_name("chroma"))
_PATIENCE = 60  # seconds to come up


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """Where it answers, and its process."""

    port: int
    process: subprocess.Popen[bytes]

    def place(self, name: str) -> str:
        """What stands after --index for an index on it."""
        return f"chroma:http://127.0.0.1:{self.port}/{name}"

    def stop(self) -> None:
        """End it, and wait for that."""
        self.process.terminate()
        self.process.wait(timeout=30)


@contextmanager
def chroma_server(folder: Path) -> Iterator[ChromaServer]:
    """A server that keeps its files in a folder."""
    port = free_port()
    command = [_CHROMA, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        server = ChromaServer(port, process)
        try:
            _wait_for(server)
            yield server
        finally:
            server.stop()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(server: ChromaServer) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            httpx.get(f"http://127.0.0.1:{server.port}/api/v2/heartbeat").raise_for_status()
        except httpx.HTTPError:
            if time.monotonic() > until or server.process.poll() is not None:
                raise
            time.sleep(0.05)
        else:
            return
