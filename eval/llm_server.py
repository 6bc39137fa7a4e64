"""A chat model's server that misbehaves on purpose: OpenAI's protocol over real HTTP, one way of failing a request.

    with served(iter([status(503), echo()])) as (url, asked): …  # "openai:any@" + url

What it says when it works are sentences of the evidence that it was shown, with their markers. It knows nothing of how
answers are made of that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Event, Lock, Thread

_OFFERED = re.compile(r"^(\[\d+\]) (.+)$", re.MULTILINE)


@dataclass(slots=True)
class Asked:
    """What came in: each request's body and Authorization header. gone: set when a client hung up while it spoke."""

    bodies: list[dict[str, object]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    gone: Event = field(default_factory=Event)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer under way. send: a piece of text. over: set when the server is closed. prompt: what was asked."""

    handler: _Handler
    over: Event
    prompt: str

    def send(self, text: str, ending: str | None = None) -> None:
        """A piece of the answer, or, with ending, its end."""
        delta = {"content": text} if text else {}
        self.raw(json.dumps({**_HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": ending}]}))

    def raw(self, line: str) -> None:
        """One event of the stream, whatever stands in it."""
        self.handler.chunk(f"data: {line}\n\n".encode())

    def end(self, ending: str = "stop") -> None:
        """The end of an answer."""
        self.send("", ending)
        self.raw("[DONE]")
        self.handler.chunk(b"")


Behaviour = Callable[[Reply], None]
_HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "any"}


# --- ways to answer -----------------------------------------------------------------------------------------------


def say(*pieces: str, ending: str = "stop", pause: float = 0.0) -> Behaviour:
    """These pieces, so many seconds apart."""

    def behave(reply: Reply) -> None:
        reply.handler.begin()
        for piece in pieces:
            reply.over.wait(pause)
            reply.send(piece)
        reply.end(ending)

    return behave


def echo(sentences: int = 2) -> Behaviour:
    """The first sentences of the evidence, each with its marker, in pieces of a few letters."""

    def behave(reply: Reply) -> None:
        said = " ".join(f"{text.rstrip('.')} {key}." for key, text in _OFFERED.findall(reply.prompt)[:sentences])
        say(*re.findall(r".{1,9}", said or "Nothing was offered."))(reply)

    return behave


def silent(seconds: float) -> Behaviour:
    """An answer whose first word takes so long."""

    def behave(reply: Reply) -> None:
        reply.over.wait(seconds)
        echo()(reply)

    return behave


def endless(pause: float = 0.0) -> Behaviour:
    """Sentence after sentence, none like another, for ever."""

    def behave(reply: Reply) -> None:
        reply.handler.begin()
        for number in count(1):
            if reply.over.wait(pause):
                return
            reply.send(f"And then there are {number} more of these things. ")

    return behave


def cut(*pieces: str, cleanly: bool = False) -> Behaviour:
    """These pieces (of the evidence, when none are given), then a lost connection; cleanly: a stream that only ends."""

    def behave(reply: Reply) -> None:
        reply.handler.begin()
        offered = [
            f"{text.rstrip('.')} {key}. And besides this, the pap" for key, text in _OFFERED.findall(reply.prompt)
        ]
        for piece in pieces or offered[:1]:
            reply.send(piece)
        if cleanly:
            reply.handler.chunk(b"")
        else:
            reply.handler.hang_up()

    return behave


def status(code: int, body: str = '{"error": {"message": "no"}}', **headers: str) -> Behaviour:
    """A refusal. headers: retry_after="1" and the like."""

    def behave(reply: Reply) -> None:
        reply.handler.whole(code, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return behave


def events(*lines: str) -> Behaviour:
    """A stream of these lines, which need not be JSON."""

    def behave(reply: Reply) -> None:
        reply.handler.begin()
        for line in lines:
            reply.raw(line)
        reply.handler.chunk(b"")

    return behave


def hang_up(reply: Reply) -> None:
    """The connection is lost before anything was said."""
    reply.handler.hang_up()


# --- the server ---------------------------------------------------------------------------------------------------


@contextmanager
def served(schedule: Iterator[Behaviour], models: Sequence[str] = ()) -> Iterator[tuple[str, Asked]]:
    """The address of a server, "http://127.0.0.1:PORT/v1", that behaves so, one by one, and what it was asked.

    models: the names that it lists.
    """
    asked, over, turn = Asked(), Event(), Lock()

    class Handler(_Handler):
        def do_GET(self) -> None:
            self.whole(200, json.dumps({"object": "list", "data": [{"id": name} for name in models]}), {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with turn:
                asked.bodies.append(body)
                asked.keys.append(self.headers.get("authorization", ""))
                behave = next(schedule)
            try:
                behave(Reply(self, over, body["messages"][-1]["content"]))
            except OSError:
                asked.gone.set()
                self.close_connection = True

    server = _Server(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", asked
    finally:
        over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """That clients hang up is what they are here for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def begin(self) -> None:
        """The head of a stream."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, content: bytes) -> None:
        """A piece of the body; an empty one ends it."""
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def whole(self, code: int, body: str, headers: dict[str, str]) -> None:
        """An answer in one piece."""
        self.send_response(code)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def hang_up(self) -> None:
        """Close the connection at once."""
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(2)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the library's
        """Nothing is printed."""


def always(behaviour: Behaviour) -> Iterator[Behaviour]:
    """The same for ever."""
    while True:
        yield behaviour


def then(first: Sequence[Behaviour], rest: Behaviour) -> Iterator[Behaviour]:
    """These one after the other, then the same for ever."""
    yield from first
    yield from always(rest)
