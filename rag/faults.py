"""Turns what a client library raises into what went wrong, in plain words, and whether trying again can help.

Every provider's library has error classes of its own, over one of several HTTP libraries. What they share is read
here: a status somewhere in the chain of causes, and the names of classes. Nothing that a server or a library wrote is
repeated: it may hold a key, or whatever a stranger likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TRANSIENT = frozenset({408, 409, 425, 429}) | frozenset(range(500, 600))
NO_ANSWER = "sent something that is no answer; is it a chat model's server?"
_LATEST = 600.0  # seconds; a longer Retry-After is none
# Classes by their names, those of an error itself before those that they are kinds of; the first row that fits holds.
_BROKEN = re.compile(
    r"RemoteProtocolError|ReadError|WriteError|NetworkError|ConnectionResetError|ConnectionAbortedError"
    r"|BrokenPipeError|IncompleteRead|ChunkedEncodingError|ProtocolError|ServerDisconnectedError"
)
_UNREACHED = re.compile(r"ConnectError|ConnectTimeout|ConnectionRefusedError|gaierror|ConnectionError")
_SLOW = re.compile(r"\w*Timeout\w*")
_LOST = re.compile(r"APIConnectionError")
_MALFORMED = re.compile(r"JSONDecodeError|APIResponseValidationError|UnicodeDecodeError|ValidationError")
_FAILED = re.compile(r"APIError|ServerError|ResponseError|SDKError")


@dataclass(frozen=True, slots=True)
class Service:
    """What is called. spec: as shown. model: its name there. place: host and port of a server of one's own, "" for a
    provider's. variable: where its key is, "" when none is needed.
    """

    spec: str
    model: str
    place: str = ""
    variable: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """said: what happened and what to do, without the service's name. transient: whether trying again can help.
    wait: seconds that the server asks to wait, 0 when it does not say.
    """

    said: str
    transient: bool
    wait: float = 0.0


def fault_of(error: BaseException, service: Service) -> Fault:
    """What an error of a client library means."""
    chain = tuple(_chain(error))
    status = next((found for one in chain if (found := _status(one))), 0)
    if status:
        return Fault(_said(status, service), status in _TRANSIENT, _retry_after(chain))
    own = {type(one).__name__ for one in chain}
    kinds = {kind.__name__ for one in chain for kind in type(one).__mro__}
    broken = Fault("broke off the connection", transient=True)
    slow = Fault("did not answer in time; give it longer (llm_timeout) or choose a faster one", transient=False)
    rows: tuple[tuple[re.Pattern[str], set[str], Fault], ...] = (
        (_BROKEN, own, broken),
        (_UNREACHED, kinds, Fault(_unreached(service), transient=True)),
        (_SLOW, kinds, slow),
        (_LOST, kinds, broken),
        (_MALFORMED, kinds, Fault(NO_ANSWER, transient=False)),
        (_FAILED, kinds, Fault("failed on its side; try again later", transient=True)),
    )
    fitting = (fault for pattern, names, fault in rows if any(map(pattern.fullmatch, names)))
    return next(fitting, Fault(NO_ANSWER, transient=False))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _status(error: BaseException) -> int:
    """The HTTP status that an error carries, 0 for none."""
    holders = (error, getattr(error, "response", None))
    found = [getattr(holder, name, None) for holder in holders for name in ("status_code", "code")]
    return next((value for value in found if isinstance(value, int) and 400 <= value < 600), 0)


def _retry_after(chain: tuple[BaseException, ...]) -> float:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        try:
            seconds = float(headers.get("retry-after", ""))
        except (TypeError, ValueError, AttributeError):
            continue  # a date, which servers of models do not send, or no header
        return seconds if 0 <= seconds <= _LATEST else 0.0
    return 0.0


def _said(status: int, service: Service) -> str:
    known = {
        401: f"does not accept the key: {_key(service)}",
        403: f"may not be used with this key: {_key(service)}",
        404: f"does not exist: {_missing(service)}",
        429: "takes no more questions for now: too many in a short time, or no credit is left",
        **dict.fromkeys((400, 413, 422), "refused the question: set llm_context to what the model holds"),
    }
    if status in known:
        return known[status]
    if status in _TRANSIENT:
        return f"failed on its side (status {status}); try again later"
    return f"refused the question (status {status})"


def _key(service: Service) -> str:
    return f"check {service.variable} in the environment" if service.variable else "check what its server asks for"


def _missing(service: Service) -> str:
    if service.place:
        return f"the server at {service.place} has no model {service.model!r}, or its address lacks “/v1”"
    return f"there is no model {service.model!r}, or this key may not use it"


def _unreached(service: Service) -> str:
    if service.place:
        return f"cannot be reached: nothing answers at {service.place}; start the server, or choose another LLM"
    return "cannot be reached; check the network, or choose another LLM"
