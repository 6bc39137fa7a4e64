"""Tells which LLMs can be used here: whose package is installed, whose key is set, whose service can be reached.

Only the list of models is asked for, of services whose package and key are there; that is free.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from rag.chat_options import service_of
from rag.deadline import TimeUp, within
from rag.errors import BackendError
from rag.faults import fault_of
from rag.limits import DEFAULT_LIMITS, Limits
from rag.llm import DEFAULT_LLM, make_llm
from rag.rewrite import Completes
from rag.specs import PROVIDERS, bare, install_line, needs_name
from rag.thinking import Spoken

_PATIENCE = 2.0  # seconds for a service's list of models
_FEW = 5  # models shown
_LONGEST = 120  # letters of a model's name; a longer one is none


@dataclass(frozen=True, slots=True)
class Access:
    """What stands between an LLM and its use. spec: as one types it, MODEL where a name is to be filled in.

    missing: the pip line that installs its package, "" when it is installed. variable: where its key is looked for, ""
    when it takes none. keyed: whether one is set. reached: whether its service answered, None when it was not asked.
    models: their names, as the service lists them. said: what keeps it from being used, "" when nothing is known to.
    """

    spec: str
    missing: str = ""
    variable: str = ""
    keyed: bool = False
    reached: bool | None = None
    models: tuple[str, ...] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """said: what an LLM replied, on one line. seconds: how long that took, loading a client library not counted."""

    said: str
    seconds: float


@dataclass(frozen=True, slots=True)
class _Service:
    """Where a provider lists its models. variables: those that may hold another address, the first one set counts."""

    module: str
    variables: tuple[str, ...]
    address: str
    path: str
    headers: Callable[[str], Mapping[str, str]]


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


_OPENAI = _Service(
    "langchain_openai", ("OPENAI_API_BASE", "OPENAI_BASE_URL"), "https://api.openai.com/v1", "/models", _bearer
)
_SERVICES: Mapping[str, _Service] = {
    "openai": _OPENAI,
    "anthropic": _Service(
        "langchain_anthropic",
        ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
        "https://api.anthropic.com",
        "/v1/models?limit=1000",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
    ),
    "google_genai": _Service(
        "langchain_google_genai",
        (),
        "https://generativelanguage.googleapis.com",
        "/v1beta/models?pageSize=1000",
        lambda key: {"x-goog-api-key": key},
    ),
    "mistralai": _Service(
        "langchain_mistralai", ("MISTRAL_BASE_URL",), "https://api.mistral.ai/v1", "/models", _bearer
    ),
    "ollama": _Service("langchain_ollama", ("OLLAMA_HOST",), "http://127.0.0.1:11434", "/api/tags", lambda _: {}),
}


def list_llms(in_use: str = DEFAULT_LLM) -> tuple[Access, ...]:
    """Every LLM by the beginning of its spec, and the one in use where that is a server of one's own; in two seconds.

    Raises UnknownSpec when in_use is no LLM's spec.
    """
    specs = [f"{provider}:MODEL" for provider in PROVIDERS]
    own = [in_use] if "@" in in_use else []
    with ThreadPoolExecutor(len(specs) + 1) as pool:
        return (Access(DEFAULT_LLM), *pool.map(access, [*specs, *own]))


def access(spec: str) -> Access:
    """What stands between one LLM and its use, without a word written by it; within two seconds."""
    provider, _, name = spec.partition(":")
    if provider not in PROVIDERS:
        return Access(bare(spec))
    needs_name("LLM", provider, name, "MODEL")
    service, at = service_of(provider, name), _SERVICES[provider]
    missing = "" if find_spec(at.module) else install_line(provider)
    key = os.environ.get(service.variable, "") if service.variable else ""
    known = Access(service.spec, missing, service.variable, bool(key))
    own = name.partition("@")[2]
    if missing:
        return _with(known, said=missing)
    if service.variable and not key and not own:
        return _with(known, said=f"set {service.variable} in the environment")
    url = f"{own or _address(at)}".rstrip("/") + at.path
    try:
        models = tuple(within(_PATIENCE, lambda _: _models(url, at.headers(key))))
        return _with(known, reached=True, models=models)
    except TimeUp:
        return _with(known, reached=False, said=f"did not answer within {_PATIENCE:g} seconds")
    except Exception as error:  # noqa: BLE001 - of HTTP, of its library, or of what was sent for JSON
        return _with(known, reached=False, said=fault_of(error, service).said)


def _with(known: Access, *, said: str = "", reached: bool | None = None, models: tuple[str, ...] = ()) -> Access:
    return Access(known.spec, known.missing, known.variable, known.keyed, reached, models, said)


def _address(at: _Service) -> str:
    """Where the service is, as its own library looks for it."""
    set_to = next((value for variable in at.variables if (value := os.environ.get(variable, ""))), "")
    url = set_to or at.address
    if "://" in url:
        return url
    parts = urlsplit(f"//{url}")  # OLLAMA_HOST may be a host alone, and may say where to listen
    host = "127.0.0.1" if parts.hostname in {None, "0.0.0.0"} else parts.hostname  # noqa: S104 - nothing listens here
    return f"http://{host}:{parts.port or 11434}"


def _models(url: str, headers: Mapping[str, str]) -> Iterator[str]:
    """The names in a service's list of models, which each of them gives in a form of its own."""
    import httpx  # noqa: PLC0415 - a quarter of a second that no other command needs

    answer = httpx.get(url, headers=dict(headers), timeout=_PATIENCE)
    if answer.status_code in {404, 405}:
        return  # a server of chat models need not list them
    answer.raise_for_status()
    said = answer.json()
    listed: list[Any] = next((said[name] for name in ("data", "models") if isinstance(said.get(name), list)), [])
    for model in listed:
        name = next((model[field] for field in ("id", "name", "model") if isinstance(model.get(field), str)), "")
        if 0 < len(name) <= _LONGEST and name.isprintable():
            yield re.sub(r"^models/", "", name)


def try_llm(spec: str, limits: Limits = DEFAULT_LIMITS) -> Trial:
    """What an LLM replies to a few words, and after how many seconds; nothing and none of one that needs no model.

    Raises UnknownSpec, MissingPackage, MissingKey, or BackendError, which names the models there are when this is none.
    """
    llm = make_llm(spec, limits)
    if not isinstance(llm, Completes):
        return Trial("", 0.0)
    start = monotonic()
    try:
        said = llm.complete("You are being tried out.", "Reply with one word: ready")
    except BackendError as error:
        there = access(spec)
        provider, _, name = spec.partition(":")
        wrong = there.models and service_of(provider, name).model not in there.models
        raise BackendError(f"{error}; it lists {shown(there.models)}" if wrong else str(error)) from None
    aloud = "".join(Spoken([said], spec)) or said
    return Trial(" ".join("".join(filter(_is_plain, aloud)).split()), monotonic() - start)


def shown(models: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(models) - _FEW
    return ", ".join(models[:_FEW]) + (f" and {more} more" if more > 0 else "")


def _is_plain(character: str) -> bool:
    return character.isprintable() or character.isspace()
