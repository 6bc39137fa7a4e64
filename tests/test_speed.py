"""`footnote-eval speed`: a real index measured, exact neighbours worked out beside Chroma's, and wrong files named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from eval.cli import cli
from eval.errors import SuiteError
from eval.speed import _nearest, questions_in
from rag.text import search_words
from vectorstore.store import VectorStore

QUESTIONS = [f"How well does method {n} compress a model?" for n in range(12)]


def written(folder: Path, *lines: str) -> Path:
    (folder / "questions.jsonl").write_text("\n".join(lines), "utf-8")
    return folder / "questions.jsonl"


def test_a_real_index_is_measured(tmp_path: Path, sample_index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, *(json.dumps({"question": question}) for question in QUESTIONS))
    out = tmp_path / "figures.json"
    cli.main(["speed", str(sample_index), str(file), "--out", str(out)], standalone_mode=False)
    figures = json.loads(out.read_text("utf-8"))
    said = capsys.readouterr().out
    assert [line[:36].strip() for line in said.splitlines()] == list(figures)
    assert figures["papers"] == 19 < figures["passages"]
    assert figures["graph's recall@10"] == figures["graph's recall@100"] == 1.0  # so few are searched whole
    assert 0 < figures["question embedding, ms p50"] < figures["search for 10 papers, ms p50"]
    assert figures["search for 10 papers, ms p50"] <= figures["search for 10 papers, ms p95"]
    assert 50 < figures["peak memory so far, MiB"] < 20_000


def test_the_exactly_nearest_are_those_of_all_cosines(sample_index: Path) -> None:
    with VectorStore.open(sample_index, search_words) as store:
        pages = list(store.vectors())
        ids = [i for page, _ in pages for i in page]
        matrix = np.vstack([vectors for _, vectors in pages])
        assert matrix.shape == (store.counts()[1], 384)
        (found,) = _nearest(store, matrix[3:4], 5)
        assert found[0] == ids[3]
        assert found == [ids[i] for i in np.argsort(-(matrix @ matrix[3]))[:5]]
        assert store.nearest(matrix[3], 5) == tuple(found)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["{"], "is no JSONL file of questions"),
        (['{"query": "q"}'], "is no JSONL file of questions"),
        (["[1]"], "is no JSONL file of questions"),
        (['{"text": "q"}'], "holds 1 questions; more than 5 are needed"),
    ],
)
def test_a_wrong_file_is_named(lines: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=said):
        questions_in(written(tmp_path, *lines), 10)
    with pytest.raises(SuiteError, match="is no JSONL file"):
        questions_in(tmp_path / "none", 10)


def test_as_many_questions_as_asked_for(tmp_path: Path) -> None:
    file = written(tmp_path, *(json.dumps({"text": question}) for question in QUESTIONS))
    assert questions_in(file, 7) == tuple(QUESTIONS[:7])
