"""Retrieval scored: collections in BEIR's form, measures worked out by hand, one real run, and speed as ratios."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from eval.beir import read_collection
from eval.bench import compared, ratio
from eval.cli import cli
from eval.errors import SuiteError
from eval.retrieval import measures
from rag.sample import sample_path

JUDGED = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}


def collection(folder: Path, **files: str) -> Path:
    written = {
        "corpus.jsonl": "\n".join(
            json.dumps(
                {"id": i, "title": f"On {word}", "text": f"We study {word} with great care and find that it is so."}
            )
            for i, word in (("a", "filters"), ("b", "bandits"), ("c", "pruning"))
        ),
        "queries.jsonl": "\n".join(
            json.dumps({"id": i, "text": text})
            for i, text in (("q1", "filters"), ("q2", "pruning"), ("q3", "not judged"))
        ),
        "qrels.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t1\n",
    } | files
    folder.mkdir(exist_ok=True)
    for name, text in written.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_a_collection_is_read_with_its_judged_queries(tmp_path: Path) -> None:
    found = read_collection(collection(tmp_path / "c"))
    assert found.corpus == tmp_path / "c" / "corpus.jsonl"
    assert found.queries == {"q1": "filters", "q2": "pruning"}
    assert found.judgements == {"q1": {"a": 1}, "q2": {"c": 1}}


def test_a_gzipped_corpus_is_found(tmp_path: Path) -> None:
    folder = collection(tmp_path / "c")
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress((folder / "corpus.jsonl").read_bytes()))
    (folder / "corpus.jsonl").unlink()
    assert read_collection(folder).corpus.name == "corpus.jsonl.gz"


@pytest.mark.parametrize(
    ("files", "qrels", "said"),
    [
        ({"qrels_dev.tsv": "query-id\tcorpus-id\tscore\n"}, "", "qrels.tsv, qrels_dev.tsv"),
        ({"qrels.tsv": "a\tb\n1\t2\n"}, "", "no qrels file"),
        ({"qrels.tsv": "query-id\tcorpus-id\tscore\nq1\ta\tmuch\n"}, "", "no qrels file"),
        ({}, "nowhere.tsv", "nowhere.tsv"),
        ({"queries.jsonl": "{"}, "", "no queries file"),
        ({"queries.jsonl": '{"id": "q1"}'}, "", "no queries file"),
    ],
)
def test_what_is_wrong_with_a_collection_is_said(tmp_path: Path, files: dict[str, str], qrels: str, said: str) -> None:
    with pytest.raises(SuiteError, match=said):
        read_collection(collection(tmp_path / "c", **files), qrels)


def test_measures_worked_out_by_hand() -> None:
    run = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
    gain = (1 / math.log2(3) + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    found = {rate.name: rate for rate in measures(JUDGED, run, ["nDCG@10", "RR@10", "R@2"])}
    assert found["nDCG@10"].value == pytest.approx((gain + 1) / 2)
    assert found["RR@10"].value == pytest.approx(0.75)
    assert found["R@2"].value == pytest.approx(0.75)
    assert all(rate.low <= rate.value <= rate.high and rate.n == 2 for rate in found.values())


def test_a_query_without_hits_counts_as_zero() -> None:
    (rate,) = measures(JUDGED, {"q2": {"c": 1.0}}, ["RR@10"])
    assert rate.value == pytest.approx(0.5)


def test_an_unknown_measure_is_said() -> None:
    with pytest.raises(SuiteError, match="nonsense"):
        measures(JUDGED, {}, ["nonsense"])


def test_a_real_run_has_a_row_for_each_half(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["retrieval", str(collection(tmp_path / "c")), "--measure", "RR@10"], standalone_mode=False)
    out = capsys.readouterr().out
    assert "2 queries over 3 papers, minilm" in out
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["fused", "dense", "lexical"]
    assert "RR@10 1.000" in out.splitlines()[2]


def test_ratios_say_how_many_times_better() -> None:
    assert ratio("ingest, papers/s", 20.0, 10.0) == 2.0
    assert ratio("query p50, ms", 5.0, 10.0) == 2.0


def test_speed_is_measured_without_the_baseline_too(tmp_path: Path) -> None:
    ours, theirs = compared(sample_path(), 12, tmp_path / "absent.py")
    assert not theirs
    assert all(value > 0 for value in ours.values())
    assert set(ours) == {
        "ingest, papers/s",
        "again unchanged, x faster",
        "query p50, ms",
        "new process, first answer, s",
    }
