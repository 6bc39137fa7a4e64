"""The wire to chat models: what is sent, what is tried again, what is said when it fails; over real HTTP."""

from __future__ import annotations

import logging
import traceback
from typing import Any

import pytest
from fakes import KeywordEmbedder
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from eval.llm_server import Behaviour, always, cut, echo, endless, events, hang_up, say, served, silent, status, then
from rag.chat_model import ChatModel
from rag.chat_options import options_of
from rag.errors import BackendError, MissingKey, MissingPackage, UnknownSpec, UsageError
from rag.faults import Service, fault_of
from rag.limits import Limits
from rag.llm import LLM, as_llm, make_llm
from rag.prompt import build_prompt
from rag.quote import QuoteLLM
from rag.rewrite import Completes
from rag.types import Paper, Prompt, Quote

SHORT = Limits(seconds=6, tokens=60)
SECRET = "sk-sesame-1234567890"


def prompt(papers: tuple[Paper, ...], question: str = "How many particles does it need?") -> Prompt:
    first = papers[0]
    text = "It needs 40 particles, where others need 400."
    start = first.abstract.index(text)
    return Prompt(question, (first,), (Quote(first.id, text, start, start + len(text)),), (1.0,))


def llm_at(url: str, limits: Limits = SHORT) -> ChatModel:
    made = make_llm(f"openai:any@{url}", limits)
    assert isinstance(made, ChatModel)
    return made


def said(papers: tuple[Paper, ...], *plan: Behaviour, limits: Limits = SHORT) -> tuple[str, int]:
    """What comes out, and how many requests it took."""
    with served(then(plan[:-1], plan[-1])) as (url, asked):
        return "".join(llm_at(url, limits).stream(prompt(papers))), len(asked.bodies)


def failure(papers: tuple[Paper, ...], *plan: Behaviour, limits: Limits = SHORT) -> tuple[BackendError, str, int]:
    """The error, what was said before it, and how many requests it took."""
    with served(then(plan[:-1], plan[-1])) as (url, asked):
        pieces: list[str] = []
        with pytest.raises(BackendError) as caught:
            pieces.extend(iter_into(pieces, llm_at(url, limits), prompt(papers)))
        return caught.value, "".join(pieces), len(asked.bodies)


def iter_into(pieces: list[str], llm: ChatModel, asked: Prompt) -> list[str]:
    for piece in llm.stream(asked):
        pieces.append(piece)
    return []


# --- what is sent -------------------------------------------------------------------------------------------------


def test_an_answer_comes_in_pieces(papers: tuple[Paper, ...]) -> None:
    with served(always(echo())) as (url, asked):
        llm = llm_at(url)
        pieces = [piece for piece in llm.stream(prompt(papers)) if piece]
    assert len(pieces) > 3
    assert "".join(pieces) == "It needs 40 particles, where others need 400 [1]."
    assert llm.spec == f"openai:any@{url}"
    (body,) = asked.bodies
    assert (body["model"], body["stream"], body["temperature"], body["max_tokens"]) == ("any", True, 0.0, 60)
    messages: Any = body["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert "[1] It needs 40 particles" in messages[1]["content"]


@pytest.mark.parametrize(("own", "sent"), [(None, "Bearer none"), (SECRET, f"Bearer {SECRET}")])
def test_a_server_of_one_s_own_never_gets_the_key_for_openai(
    own: str | None, sent: str, papers: tuple[Paper, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-alone")
    if own:
        monkeypatch.setenv("OPENAI_COMPATIBLE_KEY", own)
    with served(always(echo())) as (url, asked):
        list(llm_at(url).stream(prompt(papers)))
    assert asked.keys == [sent]


def test_a_text_is_completed(papers: tuple[Paper, ...]) -> None:
    with served(always(say("Which filter", " is it?"))) as (url, asked):
        llm = llm_at(url)
        assert isinstance(llm, Completes)
        assert llm.complete("You rewrite.", "that one") == "Which filter is it?"
    messages: Any = asked.bodies[0]["messages"]
    assert [message["content"] for message in messages] == ["You rewrite.", "that one"]


def test_a_completion_without_end_is_cut(papers: tuple[Paper, ...]) -> None:
    with served(always(endless())) as (url, _):
        assert 1600 < len(llm_at(url).complete("You rewrite.", "that one")) < 2000


# --- what is tried again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        *(status(code) for code in (408, 409, 429, 500, 502, 503, 529)),
        status(429, retry_after="0.1"),
        hang_up,
        cut(""),
    ],
)
def test_a_passing_fault_is_not_noticed(fault: Behaviour, papers: tuple[Paper, ...]) -> None:
    assert said(papers, fault, fault, echo()) == ("It needs 40 particles, where others need 400 [1].", 3)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
def test_what_cannot_help_is_not_tried_again(code: int, papers: tuple[Paper, ...]) -> None:
    assert failure(papers, status(code))[1:] == ("", 1)


def test_it_is_tried_four_times(papers: tuple[Paper, ...]) -> None:
    error, _, tries = failure(papers, status(503, retry_after="0.01"))
    assert tries == 4
    assert str(error).endswith("failed on its side (status 503); try again later")


def test_it_is_not_tried_again_when_the_time_would_be_up(papers: tuple[Paper, ...]) -> None:
    assert failure(papers, status(503, retry_after="60"))[2] == 1


def test_once_it_has_spoken_it_is_not_asked_again(papers: tuple[Paper, ...]) -> None:
    error, before, tries = failure(papers, cut("It needs 40 particles [1]. And"), echo())
    assert (before, tries) == ("It needs 40 particles [1]. And", 1)
    assert "broke off" in str(error)


# --- what is said when it fails -----------------------------------------------------------------------------------

SAID = [
    (status(401), "does not accept the key: check OPENAI_COMPATIBLE_KEY in the environment"),
    (status(403), "may not be used with this key"),
    (status(404), "has no model 'any', or its address lacks “/v1”"),
    (status(400), "set llm_context"),
    (status(418), "refused the question (status 418)"),
    (status(429, retry_after="0.01"), "takes no more questions for now"),
    (cut(cleanly=True), "broke off in the middle of its answer"),
    (events("{not json"), "sent something that is no answer"),
    (events('{"hello": 1}'), "sent something that is no answer"),
    (status(200, "<html>", content_type="text/html"), "sent something that is no answer"),
    (say("It needs", ending="length"), "came to no end within 60 tokens (llm_max_tokens)"),
    (endless(), "came to no end within 60 tokens (llm_max_tokens)"),
    (say("It", ending="content_filter"), "declined to answer"),
]


@pytest.mark.parametrize(("behaviour", "words"), SAID)
def test_a_fault_is_said_in_one_plain_line(behaviour: Behaviour, words: str, papers: tuple[Paper, ...]) -> None:
    message = str(failure(papers, behaviour)[0])
    assert message.startswith("the LLM openai:any@http://127.0.0.1:")
    assert words in message
    assert "\n" not in message
    assert len(message) < 200


def test_a_server_that_is_not_there_is_named(papers: tuple[Paper, ...]) -> None:
    with served(always(echo())) as (url, _):
        pass
    place = url.removeprefix("http://").removesuffix("/v1")
    with pytest.raises(BackendError, match=rf"nothing answers at {place}; start the server"):
        list(llm_at(url).stream(prompt(papers)))


@pytest.mark.parametrize(
    ("behaviour", "words"), [(silent(3600), "said nothing within"), (endless(pause=0.1), "came to no end within")]
)
def test_its_time_is_bounded(behaviour: Behaviour, words: str, papers: tuple[Paper, ...]) -> None:
    error, *_ = failure(papers, behaviour, limits=Limits(seconds=1.2, tokens=10_000))
    assert f"{words} its 1.2 seconds (llm_timeout)" in str(error)


def test_nothing_that_a_server_says_and_no_key_is_repeated(
    papers: tuple[Paper, ...], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_KEY", SECRET)
    caplog.set_level(logging.DEBUG, "rag")
    body = f'{{"error": {{"message": "Incorrect key {SECRET}. Visit evil.example"}}}}'
    for code in (401, 404, 500):
        error, *_ = failure(papers, status(code, body, retry_after="0.01"))
        shown = "".join(traceback.format_exception(error)) + caplog.text
        assert "sesame" not in shown
        assert "evil" not in shown


def test_a_password_in_an_address_is_never_shown(papers: tuple[Paper, ...]) -> None:
    with served(always(status(401))) as (url, asked):
        llm = llm_at(url.replace("//", "//ada:sesame@") + "?key=open")
        with pytest.raises(BackendError) as caught:
            list(llm.stream(prompt(papers)))
    assert llm.spec == f"openai:any@{url}"
    assert "sesame" not in str(caught.value)
    assert len(asked.bodies) <= 1


def test_who_stops_reading_hangs_up(papers: tuple[Paper, ...]) -> None:
    with served(always(endless(pause=0.01))) as (url, asked):
        pieces = llm_at(url, Limits(seconds=200, tokens=100_000)).stream(prompt(papers))
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        assert asked.gone.wait(30)


# --- errors of other libraries, by their shape --------------------------------------------------------------------


class ResponseError(Exception):
    """As Ollama's library has it."""

    status_code = 404


class ClientError(Exception):
    """As Google's has it."""

    code = 429


class ReadTimeout(Exception):
    """As several have it."""


def wrapped(error: Exception) -> Exception:
    try:
        try:
            raise error
        except Exception as inner:
            raise RuntimeError("outer") from inner
    except RuntimeError as outer:
        return outer


@pytest.mark.parametrize(
    ("error", "words", "transient"),
    [
        (ResponseError(), "there is no model 'm'", False),
        (wrapped(ClientError()), "takes no more questions", True),
        (ReadTimeout(), "did not answer in time", False),
        (ConnectionRefusedError(), "cannot be reached; check the network", True),
        (wrapped(ConnectionResetError()), "broke off the connection", True),
        (KeyError("choices"), "sent something that is no answer", False),
    ],
)
def test_errors_are_told_by_their_shape(error: Exception, words: str, transient: bool) -> None:
    fault = fault_of(error, Service("p:m", "m"))
    assert words in fault.said
    assert fault.transient is transient


# --- which LLM ----------------------------------------------------------------------------------------------------

OPTIONS = [
    # (provider, name, what has to be among the options, what must not be)
    ("openai", "gpt-4.1", {"max_tokens": 60, "temperature": 0.0, "timeout": 6, "max_retries": 0}, ()),
    ("openai", "o3-mini", {"max_tokens": 4060}, ("temperature",)),
    ("openai", "gpt-5", {"max_tokens": 4060}, ("temperature",)),
    ("openai", "m@http://h/v1", {"extra_body": {"max_tokens": 60}, "base_url": "http://h/v1"}, ("max_tokens",)),
    ("anthropic", "claude", {"max_tokens": 60, "timeout": 6, "max_retries": 0}, ()),
    ("google_genai", "gemini-2.0", {"max_output_tokens": 60, "timeout": 6}, ("max_tokens",)),
    ("mistralai", "small", {"max_tokens": 60, "timeout": 6}, ()),
    ("ollama", "llama3", {"num_predict": 60, "num_ctx": 4096, "client_kwargs": {"timeout": 6}}, ("max_tokens",)),
    ("ollama", "qwen3:4b", {"num_predict": 4060, "num_ctx": 8096}, ()),
]


@pytest.mark.parametrize(("provider", "name", "has", "lacks"), OPTIONS)
def test_limits_go_by_each_provider_s_names(
    provider: str, name: str, has: dict[str, Any], lacks: tuple[str, ...]
) -> None:
    options = options_of(provider, name, SHORT)
    assert has.items() <= options.items()
    assert not options.keys() & set(lacks)


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("openai:gpt-4.1", MissingKey, "set OPENAI_API_KEY in the environment"),
        ("openai", UnknownSpec, "openai:MODEL"),
        ("openai:m@", UnknownSpec, "openai:MODEL@http://HOST:PORT/v1"),
        ("openai:@http://127.0.0.1:1/v1", UnknownSpec, "openai:MODEL@http://HOST:PORT/v1"),
        ("openai:m@localhost:8080", UnknownSpec, "openai:MODEL@http://HOST:PORT/v1"),
        ("ollama:m@http://127.0.0.1:1", UnknownSpec, "openai:MODEL@http://HOST:PORT/v1"),
        ("anthropic:claude", MissingPackage, 'pip install "footnote-qa[anthropic]"'),
        ("openia:gpt", UnknownSpec, "did you mean openai?"),
    ],
)
def test_a_wrong_spec_is_said_to_be_so(spec: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        make_llm(spec)
    assert words in str(caught.value)


def test_what_can_be_an_llm(papers: tuple[Paper, ...]) -> None:
    quote = QuoteLLM()
    assert as_llm(quote) is quote
    assert as_llm("quote").spec == "quote"
    fake: LLM = as_llm(FakeListChatModel(responses=["It needs 40 particles [1]."]))
    assert fake.spec == "langchain:FakeListChatModel"
    assert "".join(fake.stream(prompt(papers))) == "It needs 40 particles [1]."
    for wrong in (5, object(), KeywordEmbedder(), build_prompt):
        with pytest.raises(UsageError, match="an LLM is a spec"):
            as_llm(wrong)
