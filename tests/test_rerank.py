"""Rerankers: a real cross-encoder of random weights, scripted ones that come in by the same door, and the time cap."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from cross_encoders import cross_encoder
from fakes import KeywordEmbedder

import rag.minilm
from rag.assistant import Assistant
from rag.errors import BackendError, FootnoteError, ModelError, UnknownSpec
from rag.quote import QuoteLLM
from rag.rerank import DEPTH, make_reranker, reranked
from rag.settings import Settings
from rag.text import search_words
from rag.types import Turn
from ui.cli import status
from vectorstore.passage import Bibliography, Hit, Passage, Vector
from vectorstore.store import VectorStore

FILTER = "Which filter avoids the partition function?"


class Scripted:
    """Scores a text by `rule`. asked: the batches that it was given so far, question first."""

    spec = "scripted"

    def __init__(self, rule: Callable[[str], float], before: Callable[[], object] = lambda: None) -> None:
        self.rule = rule
        self.before = before
        self.asked: list[tuple[str, ...]] = []

    def score(self, question: str, texts: Sequence[str]) -> Vector:
        self.before()
        self.asked.append((question, *texts))
        return np.array([self.rule(text) for text in texts], dtype=np.float32)


class Clock:
    """Stands still but for `pass_by`."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


def number_in(text: str) -> float:
    return float(text.rsplit(" ", 1)[-1])


def hits(count: int, untitled: bool = False) -> tuple[Hit, ...]:
    """Best first: number n scores 100 − n, and its text ends in n."""
    sources = [Bibliography(f"p{n}", "Title", untitled=untitled) for n in range(count)]
    return tuple(Hit(Passage(s.paper_id, f"text {n}", 0, 6, s), 100.0 - n, 0.5, 1.0) for n, s in enumerate(sources))


def places(found: Sequence[Hit]) -> list[int]:
    return [int(hit.passage.paper_id[1:]) for hit in found]


# --- the order ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 16, 29, 30])
def test_all_hits_are_put_in_the_rerankers_order(count: int) -> None:
    given = hits(count)
    scripted = Scripted(number_in)
    found = reranked(given, "Why?", scripted, 10_000)
    assert found == tuple(reversed(given))  # the same hits: none lost, their own scores kept
    assert [len(batch) - 1 for batch in scripted.asked] == [min(8, count - n) for n in range(0, count, 8)]


def test_hits_beyond_the_depth_are_not_read_and_stay_below() -> None:
    scripted = Scripted(number_in)
    assert places(reranked(hits(40), "Why?", scripted, 10_000)) == [*reversed(range(30)), *range(30, 40)]
    assert sum(len(batch) - 1 for batch in scripted.asked) == DEPTH == 30


def test_equal_scores_keep_the_order_and_no_number_comes_last() -> None:
    assert places(reranked(hits(12), "Why?", Scripted(lambda _: 0.5), 10_000)) == list(range(12))
    odd = Scripted(lambda text: float("nan") if number_in(text) < 2 else number_in(text))
    assert places(reranked(hits(4), "Why?", odd, 10_000)) == [3, 2, 0, 1]


def test_it_reads_title_and_passage_as_they_are_searched() -> None:
    scripted = Scripted(number_in)
    reranked(hits(1), "Is $\\alpha$ < 1?", scripted, 10_000)
    reranked(hits(1, untitled=True), "Why?", scripted, 10_000)
    assert scripted.asked == [("Is alpha < 1?", "Title. text 0"), ("Why?", "text 0")]


@pytest.mark.parametrize(
    ("limit_ms", "batches"),
    [(1, 1), (999, 1), (1_999, 1), (2_001, 2), (2_999, 2), (3_001, 3), (60_000, 4)],
)
def test_it_stops_when_the_time_is_used_up(limit_ms: int, batches: int) -> None:
    """A batch takes one second, and the next is begun only if it is likely to end in time."""
    clock = Clock()
    slow = Scripted(number_in, lambda: clock.pass_by(1))
    found = reranked(hits(40), "Why?", slow, limit_ms, clock)
    assert len(slow.asked) == batches
    read = min(8 * batches, DEPTH)
    assert places(found) == [*reversed(range(read)), *range(read, 40)]


def test_a_reranker_that_fails_leaves_the_order_of_what_it_has_not_read(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def second_time_fails() -> None:
        calls.append(1)
        if len(calls) == 2:
            raise BackendError("the reranker scripted failed: Told to")

    with caplog.at_level(logging.WARNING):
        found = reranked(hits(20), "Why?", Scripted(number_in, second_time_fails), 10_000)
    assert places(found) == [*reversed(range(8)), *range(8, 20)]
    assert "the reranker scripted failed: Told to; the papers stay" in caplog.text


# --- the assistant ------------------------------------------------------------------------------------------------


@pytest.fixture
def store(store_folder: Path) -> Iterator[VectorStore]:
    """In a folder alone: the order is made above the store."""
    with VectorStore.open(store_folder, search_words) as opened:
        yield opened


def test_answers_and_searches_rest_on_the_new_order(store: VectorStore) -> None:
    question = "Which model or filter is good?"
    plain = Assistant(store, KeywordEmbedder(), QuoteLLM())
    before = plain.search(question, 5).hits
    last = before[-1].passage.source.title
    favour = Scripted(lambda text: float(text.startswith(last)))
    bot = Assistant(store, KeywordEmbedder(), QuoteLLM(), k=2, reranker=favour)
    assert bot.search(question, 5).hits == (before[-1], *before[:-1])
    assert bot.search(question, 1).hits == (before[-1],)  # it was not among the best before
    answer = bot.ask(question)
    assert answer.hits == (before[-1], before[0])
    assert answer.timings_ms["rerank"] >= 0
    assert "rerank" not in plain.ask(question).timings_ms


def test_the_papers_of_the_conversation_stay_in_sight(store: VectorStore) -> None:
    history = (Turn("user", "What does the particle filter need?"), Turn("assistant", "It needs 40 [1].", ("filter",)))
    against = Scripted(lambda text: -float("particle" in text))
    bot = Assistant(store, KeywordEmbedder(), QuoteLLM(), k=1, reranker=against)
    found = [hit.passage.paper_id for hit in bot.ask("And what of its error?", history).hits]
    assert len(found) == 2
    assert found[-1] == "filter"


def test_one_batch_is_read_however_short_the_time(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_RERANK_MS", "1")
    scripted = Scripted(lambda _: 0.0, lambda: time_passes(0.01))
    with Assistant.open(index=sample_index, llm="quote", reranker=scripted) as bot:
        assert len(bot.search(FILTER, 19).hits) == 19
        assert len(scripted.asked) == 1
        monkeypatch.setenv("FOOTNOTE_RERANK_MS", "60000")
    with Assistant.open(index=sample_index, llm="quote", reranker=scripted) as bot:
        bot.search(FILTER, 19)
        assert len(scripted.asked) == 1 + 3


def time_passes(seconds: float) -> None:
    from time import sleep

    sleep(seconds)


# --- specs and a real one -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder(tmp_path_factory.mktemp("tiny"))


TEXTS = ["The filter needs no partition function.", "A drug against cancer.", "filter " * 1000, ""]


def test_a_cross_encoder_scores_as_sentence_transformers_does(tiny: Path) -> None:
    from sentence_transformers import CrossEncoder

    reranker = make_reranker(f"st:{tiny}")
    assert reranker is not None
    assert reranker.spec == f"st:{tiny}"
    scores = reranker.score(FILTER, TEXTS)
    assert (scores.shape, scores.dtype) == ((4,), np.float32)
    assert np.ptp(scores) > 0.001
    ranked = CrossEncoder(str(tiny)).rank(FILTER, TEXTS)
    assert [row["corpus_id"] for row in ranked] == np.argsort(-scores, kind="stable").tolist()
    assert reranker.score(FILTER, []).shape == (0,)


def test_a_cross_encoder_can_be_asked_from_several_threads(tiny: Path) -> None:
    reranker = make_reranker(f"st:{tiny}")
    assert reranker is not None
    alone = reranker.score(FILTER, TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: reranker.score(FILTER, TEXTS), range(12)):
            assert scores == pytest.approx(alone, abs=1e-5)


def test_the_command_line_takes_one(
    tiny: Path, sample_index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX", str(sample_index))
    found = {}
    for spec in ("none", "", f"st:{tiny}"):
        assert status(["search", FILTER, "--json", "-k", "19", "--reranker", spec]) == 0
        found[spec] = json.loads(capsys.readouterr().out)["hits"]
    by_id = {spec: sorted(rows, key=lambda row: str(row["paper_id"])) for spec, rows in found.items()}
    assert found[""] == found["none"] != found[f"st:{tiny}"]
    assert by_id["none"] == by_id[f"st:{tiny}"]  # the order alone is another
    monkeypatch.setenv("FOOTNOTE_RERANKER", f"st:{tiny}")
    assert status(["ask", FILTER, "--json"]) == 0
    assert "rerank" in json.loads(capsys.readouterr().out)["timings_ms"]


WRONG = [
    ("stt:x", UnknownSpec, r"^no reranker is called 'stt:x'; did you mean st\? Known: none, st$"),
    ("qqq", UnknownSpec, r"^no reranker is called 'qqq'; known: none, st$"),
    ("none:x", UnknownSpec, r"^the reranker 'none' takes no name, so not 'none:x'$"),
    ("st:", UnknownSpec, r"^the reranker 'st' needs a name: st:NAME_OR_FOLDER$"),
    ("st:/no/such/folder", ModelError, r"^sentence-transformers cannot load '/no/such/folder'"),
    (f"st:{rag.minilm.model_folder()}", ModelError, r"is no reranker: a BertModel has no head that scores$"),
]


@pytest.mark.parametrize(("spec", "error", "message"), WRONG)
def test_a_wrong_spec_says_what_to_do(spec: str, error: type[FootnoteError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        make_reranker(spec)
    assert "\n" not in str(caught.value)


def test_a_model_of_several_classes_is_no_reranker(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path, "entailment", "neutral", "contradiction")
    with pytest.raises(ModelError, match="is no reranker: it gives 3 scores to a text, not one"):
        make_reranker(f"st:{folder}")


@pytest.mark.parametrize("spec", ["", "none"])
def test_none_is_none(spec: str) -> None:
    assert make_reranker(spec) is None


def test_the_settings_of_a_reranker(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (Settings.read().reranker, Settings.read().rerank_ms) == ("none", 1500)
    monkeypatch.setenv("FOOTNOTE_RERANKER", "st:x")
    monkeypatch.setenv("FOOTNOTE_RERANK_MS", "0")
    with pytest.raises(FootnoteError, match=r"rerank_ms must be at least 1, not 0 \(from FOOTNOTE_RERANK_MS\)"):
        Settings.read()
    monkeypatch.setenv("FOOTNOTE_RERANK_MS", "20")
    assert (Settings.read().reranker, Settings.read().rerank_ms) == ("st:x", 20)


def test_without_one_nothing_is_imported(sample_index: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from ui.cli import status; status(sys.argv[1:4]);"
        "print(sorted({m.partition('.')[0] for m in list(sys.modules)} & set(sys.argv[4:])))"
    )
    asked = ["torch", "transformers", "sentence_transformers", "chromadb"]
    line = [sys.executable, "-c", code, "search", FILTER, f"--index={sample_index}", *asked]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1. The Score Kalman Filter")
    assert done.stdout.splitlines()[-1] == "['chromadb']"  # the list is not always empty
