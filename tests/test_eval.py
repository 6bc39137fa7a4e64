"""The harness: suites, conversations, verdicts, intervals, and one real run over the sample corpus."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval.cli import main
from eval.errors import SuiteError
from eval.ml_subset import subset
from eval.run import turns
from eval.score import Rate, Verdict, judge, rates, wilson
from eval.suite import Question, chains, read_suite
from rag.sentences import sentence_spans
from rag.types import Answer, Claim, Paper, Quote, Reference, Turn

ROW = {"id": "q1", "type": "fact", "question": "How many?", "papers": ["sample-11"], "must": ["1,?774"]}


def question(
    question_id: str = "q1",
    kind: str = "fact",
    papers: Sequence[str] = ("sample-01",),
    also: Sequence[str] = (),
    must: str = "",
    must_not: str = "",
    follows: str | None = None,
) -> Question:
    patterns = [(re.compile(p, re.IGNORECASE),) if p else () for p in (must, must_not)]
    return Question(question_id, "dev", kind, "Why?", tuple(papers), tuple(also), patterns[0], patterns[1], follows)


def answer(text: str, *papers: str, abstained: bool = False) -> Answer:
    quotes = {i: Quote(i, "x", 0, 1) for i in papers}
    references = tuple(Reference(n, Paper(i, i, "x"), (quotes[i],)) for n, i in enumerate(papers, 1))
    return Answer("Why?", text, (Claim(text, (), ()),), references, abstained=abstained)


# --- suites -------------------------------------------------------------------------------------------------------


def suite(*rows: object) -> Path:
    path = Path("suite.jsonl")
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_a_row_becomes_a_question() -> None:
    (read,) = read_suite(suite(ROW, "", "  "))
    assert (read.id, read.split, read.type, read.text) == ("q1", "test", "fact", "How many?")
    assert (read.papers, read.also, read.must_not, read.follows) == (("sample-11",), (), (), None)
    assert read.must[0].search("of 1774 so")
    assert read.answerable
    assert not question(kind="near_miss").answerable


def test_the_suite_of_the_sample_corpus_is_the_default() -> None:
    assert len(read_suite()) > 100


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{", "JSONDecodeError"),
        ("[1]", "TypeError"),
        ({k: v for k, v in ROW.items() if k != "question"}, "KeyError: 'question'"),
        ({**ROW, "papers": 5}, "TypeError"),
        ({**ROW, "must": ["("]}, "error"),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(row: object, said: str) -> None:
    with pytest.raises(SuiteError, match=r"suite\.jsonl:3 ") as caught:
        read_suite(suite(ROW, "", row))
    assert said in str(caught.value)


@pytest.mark.parametrize(("content", "said"), [(b"", "holds no question"), (b"\xff\xfe", "cannot be read")])
def test_a_suite_without_questions_is_an_error(content: bytes, said: str) -> None:
    Path("suite.jsonl").write_bytes(content)
    with pytest.raises(SuiteError, match=said):
        read_suite(Path("suite.jsonl"))


def test_a_missing_suite_is_an_error() -> None:
    with pytest.raises(SuiteError, match=r"none\.jsonl cannot be read"):
        read_suite(Path("none.jsonl"))


def test_chains_are_whole_conversations() -> None:
    a, b, c, d = (
        question("a"),
        question("b", follows="a"),
        question("c", follows="b"),
        question("d"),
    )
    assert list(chains((a, b, c, d))) == [(a,), (a, b), (a, b, c), (d,)]


def test_a_chain_to_nowhere_is_an_error() -> None:
    with pytest.raises(SuiteError, match="b follows a, which is not in the suite"):
        list(chains((question("b", follows="a"),)))


def test_turns_carry_the_cited_papers() -> None:
    assert list(turns("Why?", answer("So [1].", "p"))) == [
        Turn("user", "Why?"),
        Turn("assistant", "So [1].", ("p",)),
    ]


# --- verdicts -----------------------------------------------------------------------------------------------------

VERDICTS = [
    # (question, answer, (fact, references, precision, abstained))
    (question(must="40"), answer("It is 40.", "p1"), (True, True, 1.0, False)),
    (question(must="FORTY"), answer("It is forty.", "p1"), (True, True, 1.0, False)),
    (question(must="40"), answer("It is 41.", "p1"), (False, True, 1.0, False)),
    (question(must="40", must_not="41"), answer("It is 40 or 41.", "p1"), (False, True, 1.0, False)),
    (question(must="40"), answer("It is 40.", "p1", "p2"), (True, True, 0.5, False)),
    (question(must="40", also=["sample-02"]), answer("It is 40.", "p1", "p2"), (True, True, 1.0, False)),
    (question(papers=["sample-01", "sample-02"]), answer("So.", "p1"), (True, False, 1.0, False)),
    (question(), answer("So.", "p2"), (True, False, 0.0, False)),
    (question(), answer("So."), (True, False, None, False)),
    (question(must="say"), answer("The abstracts don't say.", abstained=True), (False, False, None, True)),
    (question(kind="near_miss", papers=[]), answer("No.", abstained=True), (False, False, None, True)),
    (question(kind="off_topic", papers=[]), answer("Paris.", "p1"), (False, False, 0.0, False)),
]


@pytest.mark.parametrize(("asked", "given", "expected"), VERDICTS)
def test_judge(asked: Question, given: Answer, expected: tuple[bool, bool, float | None, bool]) -> None:
    verdict = judge(asked, given, {"sample-01": "p1", "sample-02": "p2"})
    assert (verdict.fact, verdict.references, verdict.precision, verdict.abstained) == expected


def verdict(kind: str, fact: bool = False, precision: float | None = None, abstained: bool = False) -> Verdict:
    return Verdict(question(kind=kind), answer(""), fact, fact, precision, 1.0 if fact else 0.0, abstained)


def by_name(found: Sequence[Rate]) -> dict[str, tuple[float, int]]:
    return {rate.name: (rate.value, rate.n) for rate in found}


def test_rates_count_absent_answers_as_zero() -> None:
    found = by_name(
        rates(
            [
                verdict("fact", fact=True, precision=0.5),
                verdict("fact", abstained=True),
                verdict("explain", abstained=True),
                verdict("explain", fact=True, precision=1.0),
                verdict("near_miss", abstained=True),
                verdict("near_miss", precision=0.0),
                verdict("off_topic", abstained=True),
            ]
        )
    )
    assert found["right answers"] == found["right references"] == (0.5, 4)
    assert found["reference precision"] == (0.75, 2)
    assert found["right abstentions, near miss"] == (0.5, 2)
    assert found["right abstentions, off topic"] == (1.0, 1)
    assert found["false abstentions"] == (0.5, 4)


def test_rates_of_nothing_are_not_shown() -> None:
    assert rates([]) == ()
    assert "false abstentions" not in by_name(rates([verdict("off_topic")]))


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        # Newcombe 1998 (Statistics in Medicine 17:857), table I, method 3: Wilson's score interval
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # by hand: p = 1, z² = 3.8416; low = 10 / 13.8416
        (10, 10, 0.7225, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson_interval_as_published(count: int, n: int, low: float, high: float) -> None:
    rate = wilson("x", count, n)
    assert (rate.low, rate.high) == pytest.approx((low, high), abs=5e-5)


def test_a_rate_reads_as_in_a_table() -> None:
    assert str(wilson("x", 1, 29)) == "0.034 [0.006, 0.172] n=29"


# --- the command --------------------------------------------------------------------------------------------------

FOUR = (
    {**ROW, "id": "a", "split": "dev", "question": "How many MCP repositories did the fault study mine?"},
    {**ROW, "id": "b", "split": "dev", "type": "followup", "question": "And how many threads?", "follows": "a"},
    {**ROW, "id": "c", "split": "dev", "type": "off_topic", "question": "What is the capital of France?", "papers": []},
    {**ROW, "id": "d", "split": "test", "question": "Is this asked?"},
)


def run_command(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["footnote-eval", *arguments])
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_run_asks_a_split_and_saves_what_it_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run_command(["run", str(suite(*FOUR)), "--split", "dev", "--out", "out/deep", "--failures"], monkeypatch) == 0
    )
    out = capsys.readouterr().out
    assert out.startswith("3 questions, llm quote, embedder minilm, ")
    rows = [json.loads(line) for line in Path("out/deep/answers.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["abstained"]) for row in rows] == [("a", False), ("b", False), ("c", True)]
    assert "1,774" in rows[0]["answer"]
    assert rows[0]["references"][0]["paper"]["id"] == "sample-11"
    saved = json.loads(Path("out/deep/figures.json").read_text("utf-8"))
    assert (saved["llm"], saved["embedder"]) == ("quote", "minilm")
    assert saved["figures"]["right abstentions, off topic"]["value"] == 1.0
    assert saved["figures"]["right answers"]["n"] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["run", "none.jsonl"], 1, "none.jsonl cannot be read"),
        (["run", "suite.jsonl", "--papers", "none.bib"], 1, "none.bib"),
        (["run", "suite.jsonl", "--embedder", "minlm"], 2, "did you mean minilm"),
        (["run", "--split", "half"], 2, "half"),
    ],
)
def test_mistakes_are_one_line_and_a_status(
    arguments: list[str],
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    suite(*FOUR)
    assert run_command(arguments, monkeypatch) == code
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_a_split_without_questions_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["run", str(suite(FOUR[3])), "--split", "dev"], monkeypatch) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


# --- answers told by their sentence -------------------------------------------------------------------------------

ABSTRACT = "Filters are old. We use 40 particles. It halves the cost."


@pytest.mark.parametrize(
    ("span", "cited", "right"),
    [
        ((17, 37), "p", True),
        ((20, 25), "p", True),
        ((0, 16), "p", False),
        ((38, 57), "p", False),
        ((17, 37), "q", False),
    ],
)
def test_one_of_the_sentences_has_to_be_quoted(span: tuple[int, int], cited: str, right: bool) -> None:
    asked = Question("q", "dev", "fact", "How many?", ("p",), (), (), (), None, sentences=(1,))
    quote = Quote(cited, ABSTRACT[slice(*span)], *span)
    reference = Reference(1, Paper(cited, "T", ABSTRACT), (quote,))
    said = Answer("How many?", "…", (Claim("…", (1,), (quote,)),), (reference,))
    assert judge(asked, said, {}).fact is right


def test_the_questions_about_machine_learning_are_of_one_form() -> None:
    rows = read_suite(Path(__file__).parents[1] / "eval" / "data" / "ml_questions.jsonl")
    assert len({row.id for row in rows}) == len({row.text for row in rows}) == len(rows) == 1550
    assert {row.split for row in rows} == {"train", "dev", "test"}
    for row in rows:
        assert bool(row.sentences) is row.answerable is bool(row.papers)
    train, dev, test = (
        {p for row in rows if row.split == split for p in (*row.papers, *row.near)}
        for split in ("train", "dev", "test")
    )
    assert not train & dev and not (train | dev) & test


ML = Path(__file__).parents[2] / "shared/data/ml_abstracts"


@pytest.mark.skipif(not ML.is_dir(), reason="ml_abstracts are not at hand")
def test_the_questions_are_about_the_papers_that_are_picked() -> None:
    papers = {paper.id: paper for paper in subset(ML)}
    assert len(papers) == 550
    rows = read_suite(Path(__file__).parents[1] / "eval" / "data" / "ml_questions.jsonl")
    for row in rows:
        for paper in row.papers:
            assert max(row.sentences) < len(sentence_spans(papers[paper].abstract))
