"""Where a setting comes from, and what is said when it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.limits import Limits
from rag.settings import Settings
from ui.cli import status

PLACES = ("argument", "FOOTNOTE_K", ".env", "footnote.toml", "default")


def set_k(place: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if place == "FOOTNOTE_K":
        monkeypatch.setenv("FOOTNOTE_K", str(value))
    elif place == ".env":
        Path(".env").write_text(f"FOOTNOTE_K={value}\n", "utf-8")
    elif place == "footnote.toml":
        Path("footnote.toml").write_text(f"k = {value}\n", "utf-8")


@pytest.mark.parametrize("first", range(len(PLACES)))
def test_the_first_place_that_sets_it_wins(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for n, place in enumerate(PLACES[first:], first):
        set_k(place, 10 + n, monkeypatch)
    settings = Settings.read(k=10 if first == 0 else None)
    assert settings.k == (10 + first if first < 4 else 6)
    assert settings.sources["k"] == PLACES[first]
    assert settings.is_set("k") is (first < 4)


def test_without_anything_all_is_default() -> None:
    settings = Settings.read()
    assert set(settings.sources.values()) == {"default"}
    assert (settings.embedder, settings.llm, settings.host, settings.port) == ("minilm", "quote", "127.0.0.1", 7860)
    assert Path(settings.index).parts[-2:] == ("footnote", "index")


def test_each_setting_comes_from_its_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_LLM", "ollama:x")
    Path(".env").write_text("FOOTNOTE_PORT=81\nOTHER=1\n", "utf-8")
    Path("footnote.toml").write_text('index = "here"\nport = 82\n', "utf-8")
    settings = Settings.read(host="::1")
    assert (settings.llm, settings.port, settings.index, settings.host) == ("ollama:x", 81, "here", "::1")
    chosen = {name: source for name, source in settings.sources.items() if source != "default"}
    assert chosen == {"llm": "FOOTNOTE_LLM", "port": ".env", "index": "footnote.toml", "host": "argument"}


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_K", "")
    assert Settings.read().sources["k"] == "default"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("~/papers", str(Path.home() / "papers")),
        ("chroma:http://host:8000/name", "chroma:http://host:8000/name"),
        ("a/../b", "a/../b"),
    ],
)
def test_an_index_is_kept_as_named_but_for_the_home_folder(given: str, kept: str) -> None:
    Path("footnote.toml").write_text(f'index = "{given}"\n', "utf-8")
    assert Settings.read().index == kept


WRONG = [
    # (file, what stands in it, what has to be said)
    ("footnote.toml", b'k = "many"', ("k must be a whole number", "'many'", "footnote.toml")),
    ("footnote.toml", b"k = 2.5", ("k must be a whole number", "2.5", "footnote.toml")),
    ("footnote.toml", b"k = 0", ("k must be at least 1, not 0", "footnote.toml")),
    ("footnote.toml", b"port = -1", ("port must be at least 0, not -1", "footnote.toml")),
    ("footnote.toml", b"colour = 1", ("footnote.toml sets 'colour', which is not a setting", "embedder, host, index")),
    ("footnote.toml", b"k = ", ("footnote.toml cannot be read", "Invalid value")),
    ("footnote.toml", b"\xff", ("footnote.toml cannot be read",)),
    ("footnote.toml", b'index = ""', ("index must be", "''", "footnote.toml")),
    ("footnote.toml", b"[llm]\na = 1", ("llm must be", "{'a': 1}", "footnote.toml")),
    ("footnote.toml", b"index = 5", ("index must be", "5", "footnote.toml")),
    ("footnote.toml", b'unsupported = "hide"', ("unsupported must be mark or drop, not 'hide'", "footnote.toml")),
    (".env", b"FOOTNOTE_LLM_TIMEOUT=0", ("llm_timeout must be at least 1", ".env")),
    (".env", b"FOOTNOTE_K=x", ("k must be a whole number", "'x'", ".env")),
    (".env", b"\xff=", (".env cannot be read",)),
]


@pytest.mark.parametrize(("file", "content", "said"), WRONG)
def test_what_is_wrong_is_said_with_its_place(file: str, content: bytes, said: tuple[str, ...]) -> None:
    Path(file).write_bytes(content)
    with pytest.raises(UsageError) as caught:
        Settings.read()
    message = str(caught.value)
    assert "\n" not in message
    for part in said:
        assert part in message


def test_a_wrong_variable_and_a_wrong_argument_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"index must be .* \(from argument\)"):
        Settings.read(index="")
    monkeypatch.setenv("FOOTNOTE_PORT", "http")
    with pytest.raises(UsageError, match=r"port must be a whole number, not 'http' \(from FOOTNOTE_PORT\)"):
        Settings.read()


def test_rows_tell_every_setting() -> None:
    rows = Settings.read(k=9).rows()
    assert [name for name, *_ in rows] == [
        *("index", "embedder", "llm", "llm_timeout", "llm_max_tokens", "llm_context", "unsupported", "verifier"),
        *("k", "reranker", "rerank_ms", "host", "port"),
    ]
    assert ("k", "9", "argument", "papers read for an answer") in rows


def test_a_chat_model_s_limits_are_settings() -> None:
    assert Settings.read().limits == Limits() == Limits(120, 700, 4096)
    assert Settings.read(llm_timeout=5, llm_max_tokens=50, llm_context=900).limits == Limits(5, 50, 900)
    with pytest.raises(UsageError, match="at least 400 have to be left for the question"):
        _ = Settings.read(llm_max_tokens=700, llm_context=1099).limits


def test_an_address_is_shown_without_what_may_be_a_secret() -> None:
    rows = Settings.read(llm="openai:m@https://ada:pass@host:8080/v1?key=sesame").rows()
    assert ("llm", "openai:m@https://host:8080/v1", "argument", "what writes the answer") in rows


def test_config_masks_keys(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-indeed-1234")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "short-key")
    Path("footnote.toml").write_text("k = 9\n", "utf-8")
    assert status(["config"]) == 0
    out = capsys.readouterr().out
    assert "OPENAI_API_KEY        set (…1234)\n" in out
    assert "ANTHROPIC_API_KEY     set\n" in out
    assert "GOOGLE_API_KEY        not set\n" in out
    assert "secret" not in out
    assert "short-key" not in out
    assert "k              9\n               from footnote.toml: papers read for an answer\n" in out
