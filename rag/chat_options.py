"""What each provider's chat model calls the limits it is given: (provider, name, Limits) → its keyword arguments.

Retrying is done in one place, by us; so the libraries' own is switched off wherever it can be.
"""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import urlsplit

from rag.errors import UnknownSpec
from rag.faults import Service
from rag.limits import Limits
from rag.specs import KEY_OF_OWN, PROVIDERS, bare

# Models that think before they answer; their thoughts count as tokens of the answer, and OpenAI's take no temperature.
_THINKS = re.compile(
    r"^(?:o\d|gpt-5|gemini-(?:2\.5|[3-9])|magistral)|(?:^|[/_-])(?:gpt-oss|qwen3|qwq|deepseek-r\d|r1)|think|reason",
    re.IGNORECASE,
)
_FIXED_TEMPERATURE = re.compile(r"^(?:o\d|gpt-5)")
_THOUGHT = 4000  # tokens


def service_of(provider: str, name: str) -> Service:
    """Who is called by "provider:name"; UnknownSpec when an address in it is none."""
    model, at, url = name.partition("@")
    variable, spec = PROVIDERS[provider][1], bare(f"{provider}:{name}")
    if at:
        if provider != "openai" or not model or "://" not in url or not _place(url):
            raise UnknownSpec(
                f"{spec!r} names no server; a server of your own is called by openai:MODEL@http://HOST:PORT/v1"
            )
        variable = KEY_OF_OWN
    elif provider == "ollama":
        url = os.environ.get("OLLAMA_HOST", "") or "127.0.0.1:11434"
    return Service(spec, model, _place(url), variable)


def options_of(provider: str, name: str, limits: Limits) -> dict[str, Any]:
    """The keyword arguments of the provider's LangChain class, its model's name not among them."""
    model, _, url = name.partition("@")
    tokens = limits.tokens + (_THOUGHT if _THINKS.search(model) else 0)
    warm: dict[str, Any] = {} if provider == "openai" and _FIXED_TEMPERATURE.match(model) else {"temperature": 0.0}
    patience: dict[str, Any] = {"timeout": limits.seconds, "max_retries": 0}
    if url:
        # LangChain would rename max_tokens to a word that many servers do not know.
        own = {"base_url": url, "api_key": os.environ.get(KEY_OF_OWN) or "none", "extra_body": {"max_tokens": tokens}}
        return {**warm, **patience, **own}
    if provider == "ollama":
        context = limits.context + tokens - limits.tokens
        waits = {"timeout": limits.seconds}
        return {**warm, "num_predict": tokens, "num_ctx": context, "client_kwargs": waits}
    if provider == "google_genai":
        return {**warm, "timeout": limits.seconds, "max_retries": 1, "max_output_tokens": tokens}
    if provider == "mistralai":
        return {**warm, "timeout": int(limits.seconds), "max_retries": 1, "max_tokens": tokens}
    return {**warm, **patience, "max_tokens": tokens}


def _place(url: str) -> str:
    """Host and port of an address, "" for none."""
    parts = urlsplit(url if "//" in url else f"//{url}")
    host = parts.hostname or ""
    try:
        return f"{host}:{parts.port}" if parts.port else host
    except ValueError:
        return host
