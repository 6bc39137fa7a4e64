"""`footnote llms`: what is said of each LLM, over real HTTP, and what a trial says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from time import monotonic

import pytest

import rag.llms
from eval.llm_server import always, say, served, status
from rag.errors import BackendError, MissingKey, MissingPackage, UnknownSpec
from rag.limits import Limits
from rag.llms import Access, access, list_llms, shown, try_llm
from ui.cli import status as footnote

SECRET = "sk-sesame-1234567890"
SHORT = Limits(seconds=8, tokens=60)


@contextmanager
def lists(body: object, code: int = 200) -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    """A service that lists models; its address, and what it was asked with. body: JSON, or text as it is."""
    asked: list[tuple[str, dict[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            said = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


@contextmanager
def dripping() -> Iterator[str]:
    """A service whose list never comes to an end, though something comes all the time."""
    over = Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            try:
                while not over.wait(0.2):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            over.set()
            server.shutdown()


def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every package were there: what is asked of a service does not need it."""
    monkeypatch.setattr(rag.llms, "find_spec", lambda _: object())


def test_every_llm_is_listed_and_none_is_ready_without_its_key() -> None:
    listed = {one.spec: one for one in list_llms()}
    assert list(listed) == [
        "quote",
        "openai:MODEL",
        "anthropic:MODEL",
        "google_genai:MODEL",
        "mistralai:MODEL",
        "ollama:MODEL",
    ]
    assert listed["quote"] == Access("quote")
    assert listed["openai:MODEL"].said == "set OPENAI_API_KEY in the environment"
    assert listed["openai:MODEL"].reached is None, "asked without a key"


def test_a_package_that_is_missing_comes_with_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag.llms, "find_spec", lambda _: None)
    one = access("google_genai:gemini")
    assert one.missing == 'pip install "footnote-qa[google]"'
    assert one.reached is None


def test_models_of_a_server_of_ones_own_are_listed() -> None:
    with lists({"object": "list", "data": [{"id": "one"}, {"id": "two"}]}) as (url, asked):
        one = access(f"openai:one@{url}/v1")
    assert (one.reached, one.models, one.said) == (True, ("one", "two"), "")
    assert asked[0][0] == "/v1/models"
    assert "authorization" not in asked[0][1]


def test_the_server_in_use_is_in_the_list() -> None:
    with lists({"data": [{"id": "one"}]}) as (url, _):
        assert list_llms(f"openai:one@{url}/v1")[-1].models == ("one",)


def test_the_key_for_openai_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with lists({"data": []}) as (url, asked):
        access(f"openai:one@{url}/v1")
        monkeypatch.setenv("OPENAI_COMPATIBLE_KEY", "own")
        access(f"openai:one@{url}/v1")
    assert [headers.get("authorization") for _, headers in asked] == [None, "Bearer own"]


@pytest.mark.parametrize(
    ("provider", "key", "address", "path", "header", "body", "names"),
    [
        ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/models", "authorization", {"data": [{"id": "a"}]}, ("a",)),
        (
            "anthropic",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "/v1/models?limit=1000",
            "x-api-key",
            {"data": [{"id": "a"}]},
            ("a",),
        ),
        (
            "mistralai",
            "MISTRAL_API_KEY",
            "MISTRAL_BASE_URL",
            "/models",
            "authorization",
            {"data": [{"id": "a"}]},
            ("a",),
        ),
        ("ollama", "", "OLLAMA_HOST", "/api/tags", "", {"models": [{"name": "qwen3:4b"}]}, ("qwen3:4b",)),
    ],
)
def test_each_provider_is_asked_in_its_own_way(
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    key: str,
    address: str,
    path: str,
    header: str,
    body: object,
    names: tuple[str, ...],
) -> None:
    installed(monkeypatch)
    if key:
        monkeypatch.setenv(key, SECRET)
    with lists(body) as (url, asked):
        monkeypatch.setenv(address, url)
        one = access(f"{provider}:MODEL")
    assert (one.reached, one.models) == (True, names)
    assert asked[0][0] == path
    assert not header or SECRET in asked[0][1][header]


def test_where_ollama_listens_is_where_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch)
    with lists({"models": []}) as (url, asked):
        monkeypatch.setenv("OLLAMA_HOST", f"0.0.0.0:{url.rpartition(':')[2]}")
        assert access("ollama:x").reached is True
    assert asked


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ({"error": SECRET}, 401, "does not accept the key"),
        ({"error": SECRET}, 500, "failed on its side"),
        ("<html>a router's page</html>", 200, "sent something that is no answer"),
        ([1, 2], 200, "sent something that is no answer"),
    ],
)
def test_what_is_wrong_with_a_service_is_said_without_its_words(body: object, code: int, said: str) -> None:
    with lists(body, code) as (url, _):
        one = access(f"openai:one@{url}/v1")
    assert one.reached is False
    assert said in one.said
    assert SECRET not in one.said


def test_a_server_that_does_not_list_its_models_is_there_all_the_same() -> None:
    with lists("no such page", 404) as (url, _):
        assert access(f"openai:one@{url}/v1").reached is True


def test_a_service_is_not_waited_for() -> None:
    with dripping() as url:
        start = monotonic()
        one = access(f"openai:one@{url}/v1")
    assert one.reached is False
    assert "within 2 seconds" in one.said
    assert monotonic() - start < 20, "the bound does not hold"  # 2 s, and what a busy machine adds


def test_nobody_answers() -> None:
    one = access("openai:one@http://127.0.0.1:9/v1")
    assert one.reached is False
    assert "nothing answers at 127.0.0.1:9" in one.said


def test_a_trial_gives_the_reply() -> None:
    with served(always(say("<think>hm</think>Ready,\x1b[31m\nof course."))) as (url, _):
        trial = try_llm(f"openai:any@{url}", SHORT)
    assert trial.said == "Ready,[31m of course."
    assert trial.seconds > 0


def test_a_trial_of_quote_needs_nothing() -> None:
    assert try_llm("quote", SHORT).said == ""


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("openai:x", MissingKey),
        ("mistralai:x", MissingPackage),
        ("opnai:x", UnknownSpec),
        ("openai:", UnknownSpec),
        ("openai:x@nowhere", UnknownSpec),
    ],
)
def test_a_trial_of_what_cannot_be_called_says_why(spec: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        try_llm(spec, SHORT)


def test_a_trial_that_fails_says_what_went_wrong() -> None:
    with served(always(status(401))) as (url, _), pytest.raises(BackendError, match="does not accept the key"):
        try_llm(f"openai:any@{url}", SHORT)


def test_a_wrong_name_comes_with_the_right_ones() -> None:
    with served(always(status(404)), models=("one", "two")) as (url, _):
        with pytest.raises(BackendError, match=r"it lists one, two$"):
            try_llm(f"openai:any@{url}", SHORT)
        with pytest.raises(BackendError) as caught:
            try_llm(f"openai:one@{url}", SHORT)
    assert "lists" not in str(caught.value)


def test_long_lists_are_shortened() -> None:
    assert shown(tuple("abcdefg")) == "a, b, c, d, e and 2 more"
    assert shown(("a",)) == "a"


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert footnote(["llms"]) == 0
    out = capsys.readouterr().out
    assert "quote               ready; needs no model" in out
    assert "openai:MODEL        no key: set OPENAI_API_KEY" in out
    assert "In use: quote." in out


def test_the_command_gives_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert footnote(["llms", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed[0]["spec"] == "quote"
    assert listed[1]["variable"] == "OPENAI_API_KEY"


def test_the_command_shows_no_key_in_an_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with lists({"data": [{"id": "one"}]}) as (url, _):
        monkeypatch.setenv("FOOTNOTE_LLM", f"openai:one@{url.replace('//', f'//me:{SECRET}@')}/v1")
        assert footnote(["llms"]) == 0
    out = capsys.readouterr().out
    assert SECRET not in out
    assert f"openai:one@{url}/v1" in out


def test_the_command_tries_one(capsys: pytest.CaptureFixture[str]) -> None:
    with served(always(say("Ready."))) as (url, _):
        assert footnote(["llms", f"openai:any@{url}"]) == 0
        assert "answered in" in capsys.readouterr().out
        assert footnote(["llms", "--json", f"openai:any@{url}"]) == 0
        assert json.loads(capsys.readouterr().out)["said"] == "Ready."
    assert footnote(["llms", "openai:any@http://127.0.0.1:9/v1"]) == 1
    assert "nothing answers at 127.0.0.1:9" in capsys.readouterr().err
    assert footnote(["llms", "quote"]) == 0
    assert capsys.readouterr().out == "quote needs no model\n"
