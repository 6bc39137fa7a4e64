"""The figures that abstention is judged by, worked out by hand, and the suites they are taken on."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from eval.abstention import Signals, judged, table
from eval.cli import main
from eval.reader_data import Example, Paper, auroc, from_questions, removed, varied
from eval.suite import Question, read_suite
from eval.suite_from import pubmedqa, qasa
from rag import Assistant


def signal(value: float) -> Signals:
    return Signals(value, 0.0, -value, value, value)


def test_auroc_and_risk_by_hand() -> None:
    figures = table([signal(v) for v in (0.9, 0.8, 0.4)], [signal(v) for v in (0.5, 0.1)])
    assert figures["odds"] == (pytest.approx(5 / 6), (0.0, 0.0, pytest.approx(1 / 3), 0.25, 0.4))
    assert figures["words"][0] == 0.5
    assert figures["reading"][0] == pytest.approx(1 / 6)


def test_papers_taken_out_are_not_found(sample_index: Path) -> None:
    question = "How many MCP repositories did the fault study mine?"
    with Assistant.open(index=sample_index) as bot:
        own = bot.ask(question).references[0].paper.id
        prompt, relevance = bot.relevance(question, [own])
        assert own not in {paper.id for paper in prompt.papers}
        assert own not in {s.quote.paper_id for s in relevance.sentences}
        asked = Question("q", "dev", "fact", question, (own,), (), (), (), None)
        right, wrong = judged(bot, [asked], taken_out=True, progress=lambda _: None)
    assert right[0].odds > wrong[0].odds
    assert right[0].vectors > wrong[0].vectors


def test_the_command_prints_a_line_a_signal(
    sample_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Assistant.open(index=sample_index) as bot:
        paper = bot.papers(1)[0]
    suite = tmp_path / "suite.jsonl"
    row = {"id": "1", "type": "fact", "question": f"What is {paper.title}?", "papers": [paper.id]}
    suite.write_text(json.dumps(row) + "\n", "utf-8")
    monkeypatch.setattr("sys.argv", ["footnote-eval", "abstention", str(suite), "--index", str(sample_index)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "--taken-out" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", [*sys.argv, "--taken-out"])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 answerable, 1 not"
    assert [line.split()[0] for line in lines[2:]] == ["vectors", "words", "reading", "odds", "topic"]
    foreign = tmp_path / "foreign.jsonl"
    row = {"id": "1", "type": "fact", "question": "How are sourdough starters fed?", "papers": ["bread"]}
    foreign.write_text(json.dumps(row) + "\n", "utf-8")
    monkeypatch.setattr("sys.argv", [*sys.argv[:-1], "--off-topic", str(foreign)])
    main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 answerable, 1 not"
    assert float(lines[-1].split()[1]) == 1.0


def test_suites_from_public_collections(tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": f"Does\u2028{n}?", "abstract_id": "p" if n % 2 else None} for n in range(310)]
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), "utf-8")
    asked = list(pubmedqa(tmp_path))
    assert (len(asked), asked[0]["papers"]) == (300, ["10"])
    assert len(list(qasa(tmp_path))) == 155
    suite = tmp_path / "suite.jsonl"
    suite.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in qasa(tmp_path)), "utf-8")
    read = read_suite(suite)
    assert len(read) == 155
    assert (read[0].near, read[0].answerable) == (("p",), False)


# --- what the reader is trained on --------------------------------------------------------------------------------

PAPER = Paper("p", "T", "One is old. Two is new. Three is red. Four is blue. Five is far. Six is near.")


def example(*gold: int) -> Example:
    asked = Question(
        "q", "train", "fact" if gold else "near_miss", "Which?", ("p",) * bool(gold), (), (), (), None, gold, ("p",)
    )
    return next(from_questions([asked], {"p": PAPER}))


def test_a_question_with_its_paper_and_without_what_answers() -> None:
    own = example(1, 3)
    assert (own.kind, own.answers, sorted(own.gold or ())) == ("own", True, [1, 3])
    left = removed(own)
    assert left is not None
    assert (left.sentences, left.answers) == (("One is old.", "Three is red.", "Five is far.", "Six is near."), False)
    assert (example().kind, removed(example())) == ("near", None)


@pytest.mark.parametrize("seed", range(40))
def test_a_window_keeps_what_answers_in_its_place(seed: int) -> None:
    own = example(4)
    seen = varied(own, random.Random(seed))  # noqa: S311
    assert seen.gold
    assert {seen.sentences[place] for place in seen.gold} == {"Five is far."}
    assert " ".join(seen.sentences) in PAPER.abstract


def test_auroc_counts_ties_as_half() -> None:
    assert auroc([1, 2], [1]) == 0.75
