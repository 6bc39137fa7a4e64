"""Settings: from arguments, then FOOTNOTE_* variables, then a .env file, then footnote.toml, then defaults.

Read once at each entry point and handed down as arguments; nothing below reads the environment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dotenv import dotenv_values
from platformdirs import user_data_path

from rag.embed import DEFAULT_EMBEDDER
from rag.errors import UsageError
from rag.limits import DEFAULT_LIMITS, Limits
from rag.llm import DEFAULT_LLM
from rag.rerank import DEFAULT_RERANKER
from rag.specs import KEYS, bare
from rag.verifier import DEFAULT_VERIFIER

FILE = "footnote.toml"

_ASKED = 400  # tokens: the rules, a question and a sentence or two


@dataclass(frozen=True, slots=True)
class Setting:
    """What can be set. name: as in footnote.toml; the variable is FOOTNOTE_<NAME>. least: of a number. among: the
    words that it may be, () for any.
    """

    name: str
    default: str | int
    help: str
    least: int = 0
    among: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"FOOTNOTE_{self.name.upper()}"


def _table() -> tuple[Setting, ...]:
    return (
        Setting("index", str(user_data_path("footnote") / "index"), "folder of the index"),
        Setting("embedder", DEFAULT_EMBEDDER, "what turns text into vectors; an index keeps the one that made it"),
        Setting("llm", DEFAULT_LLM, "what writes the answer"),
        Setting(
            "llm_timeout", int(DEFAULT_LIMITS.seconds), "seconds that a chat model may take for an answer", least=1
        ),
        Setting("llm_max_tokens", DEFAULT_LIMITS.tokens, "tokens that an answer may have", least=16),
        Setting(
            "llm_context",
            DEFAULT_LIMITS.context,
            "tokens that question, abstracts and answer may have together",
            least=512,
        ),
        Setting("unsupported", "mark", "sentences that their references do not support", among=("mark", "drop")),
        Setting("verifier", DEFAULT_VERIFIER, "an entailment model that is asked of each sentence besides"),
        Setting("k", 6, "papers read for an answer", least=1),
        Setting("reranker", DEFAULT_RERANKER, "what puts the papers found in order once more"),
        Setting("rerank_ms", 1500, "milliseconds that it may take", least=1),
        Setting("host", "127.0.0.1", "address that the page is served on"),
        Setting("port", 7860, "port that the page is served on", least=0),
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting's value, and `sources`: name → where it comes from ("argument", a variable, a file, "default")."""

    index: str
    embedder: str
    llm: str
    llm_timeout: int
    llm_max_tokens: int
    llm_context: int
    unsupported: Literal["mark", "drop"]
    verifier: str
    k: int
    reranker: str
    rerank_ms: int
    host: str
    port: int
    sources: Mapping[str, str]

    @classmethod
    def read(cls, **arguments: object) -> Settings:
        """The settings that hold here and now; arguments that are None count as not given."""
        found: dict[str, str | int] = {}
        sources: dict[str, str] = {}
        places = _places(arguments)
        for setting in _table():
            source, value = next(
                ((where, values[setting.name]) for where, values in places if setting.name in values),
                ("default", setting.default),
            )
            sources[setting.name] = source or setting.variable
            found[setting.name] = _checked(setting, value, sources[setting.name])
        return cls(**found, sources=sources)  # type: ignore[arg-type]

    def is_set(self, name: str) -> bool:
        """Whether somebody chose the value."""
        return self.sources[name] != "default"

    @property
    def limits(self) -> Limits:
        """What a chat model may take; UsageError when an answer leaves no room for what it is to be about."""
        if self.llm_context < self.llm_max_tokens + _ASKED:
            raise UsageError(
                f"llm_context is {self.llm_context} tokens and llm_max_tokens {self.llm_max_tokens}: "
                f"at least {_ASKED} have to be left for the question and the abstracts"
            )
        return Limits(self.llm_timeout, self.llm_max_tokens, self.llm_context)

    def rows(self) -> tuple[tuple[str, str, str, str], ...]:
        """(name, value, source, what it is) of each setting."""
        return tuple((s.name, bare(str(getattr(self, s.name))), self.sources[s.name], s.help) for s in _table())


def _places(arguments: Mapping[str, object]) -> tuple[tuple[str, Mapping[str, object]], ...]:
    """(where, setting → value), first things first; "" stands for the environment, where each has its own variable."""
    given = {name: value for name, value in arguments.items() if value is not None}
    variables = {s.name: os.environ[s.variable] for s in _table() if os.environ.get(s.variable)}
    dotenv = _dotenv(Path(".env"))
    from_dotenv = {s.name: dotenv[s.variable] for s in _table() if dotenv.get(s.variable)}
    return (("argument", given), ("", variables), (".env", from_dotenv), (FILE, _toml(Path(FILE))))


def export_keys() -> None:
    """Put the providers' keys of a .env file into the environment, where their libraries look; what is set stays."""
    for variable in KEYS:
        if key := _dotenv(Path(".env")).get(variable):
            os.environ.setdefault(variable, key)


def _dotenv(path: Path) -> Mapping[str, str | None]:
    try:
        return dotenv_values(path) if path.is_file() else {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error


def _toml(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        return {}
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    known = {setting.name for setting in _table()}
    if unknown := sorted(set(values) - known):
        raise UsageError(f"{path} sets {unknown[0]!r}, which is not a setting; known: {', '.join(sorted(known))}")
    return values


def _checked(setting: Setting, value: object, source: str) -> str | int:
    if isinstance(setting.default, str):
        return _text(setting, value, source)
    try:
        number = int(str(value))
    except ValueError:
        raise UsageError(f"{setting.name} must be a whole number, not {value!r} (from {source})") from None
    if number < setting.least:
        raise UsageError(f"{setting.name} must be at least {setting.least}, not {number} (from {source})")
    return number


def _text(setting: Setting, value: object, source: str) -> str:
    if not isinstance(value, str | Path) or not str(value).strip():
        raise UsageError(f"{setting.name} must be a word or a name, not {value!r} (from {source})")
    if setting.among and value not in setting.among:
        raise UsageError(f"{setting.name} must be {' or '.join(setting.among)}, not {value!r} (from {source})")
    # In a command line the shell has replaced the ~; in a file nobody has.
    home = setting.name == "index" and str(value).startswith("~")
    return str(Path(value).expanduser()) if home else str(value)
