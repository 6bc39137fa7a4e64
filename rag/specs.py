"""Turns a spec, a short string such as "ollama:qwen3:4b", into its provider and the name it gives it.

A table from provider to factory is all that a kind of model needs; what may be wrong with a spec is said here once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

from rag.errors import MissingKey, MissingPackage, UnknownSpec

T = TypeVar("T")

# provider → the extra that brings its package, and the variable that holds its key ("" for none).
PROVIDERS: Mapping[str, tuple[str, str]] = {
    "openai": ("openai", "OPENAI_API_KEY"),
    "anthropic": ("anthropic", "ANTHROPIC_API_KEY"),
    "google_genai": ("google", "GOOGLE_API_KEY"),
    "mistralai": ("mistral", "MISTRAL_API_KEY"),
    "ollama": ("ollama", ""),
}
KEY_OF_OWN = "OPENAI_COMPATIBLE_KEY"  # for a server of one's own, which must not be sent the key for OpenAI
KEYS = (*(variable for _, variable in PROVIDERS.values() if variable), KEY_OF_OWN)


def make(kind: str, spec: str, table: Mapping[str, Callable[[str], T]]) -> T:
    """What the table's factory makes of the spec's name; UnknownSpec lists what there is. kind: "embedder", "LLM"."""
    provider, _, name = spec.partition(":")
    if provider not in table:
        near = get_close_matches(provider.lower(), table, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}? Known" if near else "known"
        raise UnknownSpec(f"no {kind} is called {spec!r}; {hint}: {', '.join(table)}")
    return table[provider](name)


def needs_name(kind: str, provider: str, name: str, example: str) -> str:
    """The name, or UnknownSpec that shows what a whole spec looks like."""
    if not name:
        raise UnknownSpec(f"the {kind} {provider!r} needs a name: {provider}:{example}")
    return name


def takes_no_name(kind: str, provider: str, name: str) -> None:
    """Nothing, or UnknownSpec when there is a name where none belongs."""
    if name:
        raise UnknownSpec(f"the {kind} {provider!r} takes no name, so not '{provider}:{name}'")


def bare(spec: str) -> str:
    """The spec as it may be shown: without user, password and query in an address of a server, which may hold keys."""
    before, at, url = spec.partition("@")
    if not at or "//" not in url:
        return spec
    parts = urlsplit(url)
    return f"{before}@{urlunsplit((parts.scheme, parts.netloc.rpartition('@')[2], parts.path, '', ''))}"


def install_line(provider: str) -> str:
    """The pip line that installs a provider's package."""
    return f'pip install "footnote-qa[{PROVIDERS[provider][0]}]"'


@contextmanager
def provider_errors(provider: str) -> Iterator[None]:
    """Say a missing package or key of a LangChain provider in Footnote's own words."""
    variable = PROVIDERS[provider][1]
    try:
        yield
    except ImportError as error:
        raise MissingPackage(f"{provider} needs one more package: {install_line(provider)}") from error
    except Exception as error:
        # Each provider has an error class of its own for a missing key; all of them name the variable.
        if variable and (variable in str(error) or "api_key" in str(error)):
            raise MissingKey(f"{provider} needs a key: set {variable} in the environment") from None
        raise
