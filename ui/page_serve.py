"""The two ends of serving: is the address free to take, and when is it over.

It must not know what is served.
"""

from __future__ import annotations

import errno
import os
import signal
import socket
import threading

import click

from ui.errors import PageError


def check_address(host: str, port: int) -> None:
    """Raise a PageError that says what to do unless a server can listen at host, port."""
    if not 0 < port < 65536:
        raise PageError(f"port {port} does not exist; choose one from 1024 to 65535 with --port")
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, proto) as probe:
            # As servers do, so that a port is free the moment its last server has stopped.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise PageError(_why(host, port, error)) from error


def _why(host: str, port: int, error: OSError) -> str:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"this machine has no address {host!r}; choose one with --host, 127.0.0.1 for yourself alone"
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is in use; choose another with --port"
    if error.errno == errno.EACCES:
        return f"port {port} is not yours to take; choose one above 1023 with --port"
    return f"cannot serve on {host}, port {port}: {error}"


def without_proxy(host: str) -> None:
    """Gradio asks its own server whether it is up; a proxy for the web must not stand in between."""
    for name in ("NO_PROXY", "no_proxy"):
        known = [part for part in os.environ.get(name, "").split(",") if part]
        os.environ[name] = ",".join(dict.fromkeys([*known, "127.0.0.1", "localhost", host]))


def until_interrupted(greeting: str = "") -> None:
    """Block until Ctrl-C or SIGTERM; greeting: one line for standard output, "" for none."""
    over = threading.Event()
    before = None
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGTERM, lambda _sig, _frame: over.set())
    try:
        if greeting:
            click.echo(greeting)
        # With a timeout, because on Windows Ctrl-C does not interrupt a wait without one.
        while not over.wait(1):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
