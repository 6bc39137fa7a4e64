"""Verifiers: what their word changes and what not; a real entailment model of random weights; wrong specs."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from answers import check
from cross_encoders import cross_encoder
from langchain_core.language_models.fake_chat_models import FakeListChatModel

from rag.assistant import Assistant
from rag.cite import Citer, Numbering
from rag.errors import BackendError, FootnoteError, ModelError, UnknownSpec
from rag.settings import Settings
from rag.types import Claim, Paper, Prompt, Quote
from rag.verifier import EntailmentVerifier, Verdict, Verifier, make_verifier
from ui.cli import status

TEXT = "It needs 40 particles, where others need 400."
PAPER = Paper("filter", "A particle filter", TEXT)
PROMPT = Prompt("How many?", (PAPER,), (Quote("filter", TEXT, 0, len(TEXT)),), (1.0,))
SAME, OTHER_WORDS, WRONG = "It needs 40 particles [1].", "A tenth suffices here [1].", "It needs 41 particles [1]."


class Says:
    """Always the same verdict. asked: what it was given."""

    spec = "st:oracle"

    def __init__(self, verdict: str) -> None:
        self.verdict = verdict
        self.asked: list[tuple[str, str]] = []

    def judge(self, cited: str, said: str) -> Verdict:
        self.asked.append((cited, said))
        if self.verdict == "fails":
            raise BackendError("the verifier st:oracle failed: RuntimeError")
        return cast("Verdict", self.verdict)


def claim(text: str, verifier: Verifier | None, prompt: Prompt = PROMPT) -> Claim:
    ((_, made),) = Citer(prompt, Numbering(), verifier).claims([text])
    return made


@pytest.mark.parametrize(
    ("text", "verdict", "supported", "reason"),
    [
        (SAME, "entailment", True, ""),
        (SAME, "neutral", False, "what it cites does not say so, going by st:oracle"),
        (SAME, "contradiction", False, "what it cites says the opposite, going by st:oracle"),
        (SAME, "fails", True, ""),
        (OTHER_WORDS, "entailment", True, ""),
        (OTHER_WORDS, "neutral", False, "what it cites does not say so, going by st:oracle"),
        (OTHER_WORDS, "fails", False, "too little of it stands in what it cites"),
        (WRONG, "entailment", False, "the number 41 does not stand in what it cites"),
    ],
)
def test_its_word_counts_where_nothing_else_is_wrong(text: str, verdict: str, supported: bool, reason: str) -> None:
    made = claim(text, Says(verdict))
    assert (made.supported, made.reason) == (supported, reason)
    assert made.references == (1,)


def test_it_reads_what_is_cited_and_what_is_said_without_markers() -> None:
    oracle = Says("entailment")
    claim(SAME, oracle)
    assert oracle.asked == [(TEXT, "It needs 40 particles.")]


@pytest.mark.parametrize("text", [f"{TEXT} [1]", "It needs nothing.", WRONG])
def test_it_is_not_asked_of_the_papers_own_words_nor_of_what_cites_nothing_or_is_wrong(text: str) -> None:
    oracle = Says("neutral")
    assert claim(text, oracle) == claim(text, None)
    assert not oracle.asked


def test_it_is_not_asked_of_another_language() -> None:
    oracle = Says("neutral")
    foreign = Prompt(PROMPT.question, PROMPT.papers, PROMPT.evidence, PROMPT.relevance, language="zh")
    assert claim("它需要 40 个粒子 [1]。", oracle, foreign).supported
    assert not oracle.asked


def test_an_assistant_takes_one(sample_index: Path) -> None:
    said = "The Score Kalman Filter does without the partition function [1]."
    found: dict[str, list[bool]] = {}
    for verdict in ("entailment", "contradiction"):
        model = FakeListChatModel(responses=[said])
        with Assistant.open(sample_index, model, verifier=Says(verdict)) as bot:
            answer = bot.ask("Which filter avoids the partition function?")
            check(answer)
            found[verdict] = [claim.supported for claim in answer.claims + answer.dropped]
    assert found["entailment"][0]
    assert found["contradiction"].count(False) == 1, "the model's sentence, not the papers' own"


# --- specs and a real one -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cross_encoder(tmp_path_factory.mktemp("nli"), "contradiction", "ENTAILMENT", "neutral")


def test_a_real_one_says_what_sentence_transformers_finds_likeliest(tiny: Path) -> None:
    from sentence_transformers import CrossEncoder

    verifier = make_verifier(f"st:{tiny}")
    assert isinstance(verifier, EntailmentVerifier)
    assert verifier.spec == f"st:{tiny}"
    pairs = [(TEXT, said) for said in (SAME, OTHER_WORDS, WRONG, "", "word " * 700)]
    pairs += [(said, TEXT) for _, said in pairs]
    likeliest = CrossEncoder(str(tiny)).predict(pairs).argmax(axis=1)
    labels = ("contradiction", "entailment", "neutral")
    assert [verifier.judge(*pair) for pair in pairs] == [labels[i] for i in likeliest]
    assert len(set(likeliest)) > 1


def test_the_command_line_takes_one(tiny: Path, sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["ask", "Which filter avoids the partition function?", f"--index={sample_index}", "--verifier"]
    for spec in ("", "none", f"st:{tiny}"):
        assert status([*ask, spec]) == 0
        assert "Score Kalman Filter" in capsys.readouterr().out
    assert status([*ask, "stt:x"]) == 2
    assert "no verifier is called 'stt:x'; did you mean st?" in capsys.readouterr().err


WRONG_SPECS = [
    ("qqq", UnknownSpec, r"^no verifier is called 'qqq'; known: none, st$"),
    ("none:x", UnknownSpec, r"^the verifier 'none' takes no name, so not 'none:x'$"),
    ("st:", UnknownSpec, r"^the verifier 'st' needs a name: st:NAME_OR_FOLDER$"),
    ("st:/no/such/folder", ModelError, r"^sentence-transformers cannot load '/no/such/folder'"),
]


@pytest.mark.parametrize(("spec", "error", "message"), WRONG_SPECS)
def test_a_wrong_spec_says_what_to_do(spec: str, error: type[FootnoteError], message: str) -> None:
    with pytest.raises(error, match=message):
        make_verifier(spec)


def test_a_model_of_other_labels_is_no_verifier(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path, "good", "bad")
    with pytest.raises(ModelError, match="is no verifier: its labels are good, bad, and none is entailment"):
        make_verifier(f"st:{folder}")


@pytest.mark.parametrize("spec", ["", "none"])
def test_none_is_none(spec: str) -> None:
    assert make_verifier(spec) is None


def test_it_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings.read().verifier == "none"
    monkeypatch.setenv("FOOTNOTE_VERIFIER", "st:x")
    assert Settings.read().verifier == "st:x"
