"""Footnote beside LangChain's tutorial pipeline on the same papers, one after the other, as ratios.

The tutorial's side is a script of its own (text splitter, HuggingFaceEmbeddings, Chroma.from_documents) that a
developer has at hand; without it only Footnote's side is measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from eval.errors import EvalError
from rag.assistant import Assistant
from rag.embed import make_embedder
from rag.index import index_papers
from rag.load import load_papers
from rag.opening import opened_for_writing
from rag.types import Paper

BASELINE = Path("../shared/bench/baseline_langchain.py")
CORPUS = Path("../shared/data/ml_abstracts/icml_2020_2025.jsonl.gz")
_QUERIES = 100
_COLD = 3  # new processes

Figures = dict[str, float]


def compared(corpus: Path, limit: int, baseline: Path) -> tuple[Figures, Figures]:
    """(Footnote's figures, the tutorial's) over the first `limit` papers; none of the latter without its script."""
    with tempfile.TemporaryDirectory() as folder:
        ours = _ours(corpus, limit, Path(folder) / "index")
        return ours, _theirs(baseline, corpus, limit, Path(folder)) if baseline.is_file() else {}


def ratio(name: str, ours: float, theirs: float) -> float:
    """How many times better Footnote is; figures that end in "/s" are better when higher."""
    return ours / theirs if name.endswith("/s") else theirs / ours


def _ours(corpus: Path, limit: int, index: Path) -> Figures:
    papers = [p for p in islice(load_papers([corpus]), limit) if isinstance(p, Paper)]
    with opened_for_writing(index, "minilm", make_embedder) as (store, embedder):
        first = index_papers(store, embedder, papers).seconds
        again = index_papers(store, embedder, papers).seconds
    with Assistant.open(index=index) as assistant:
        times = [_timed(lambda text=paper.title: assistant.search(text, 10)) for paper in _some(papers)]
    question = papers[0].title
    cold = [_timed(lambda: _run("ask", question, "--index", str(index))) for _ in range(_COLD)]
    return {
        "ingest, papers/s": len(papers) / first,
        "again unchanged, x faster": first / again,
        "query p50, ms": 1000 * median(times),
        "new process, first answer, s": median(cold),
    }


def _some(papers: list[Paper]) -> list[Paper]:
    return papers[:: max(1, len(papers) // _QUERIES)][:_QUERIES]


def _timed(call: Any) -> float:
    began = perf_counter()
    call()
    return perf_counter() - began


def _run(*arguments: str) -> None:
    script = Path(sys.executable).with_name("footnote")
    subprocess.run([script, *arguments], check=True, capture_output=True)


def _theirs(script: Path, corpus: Path, limit: int, folder: Path) -> Figures:
    out = folder / "baseline.json"
    command = [sys.executable, script.name, "--corpus", str(corpus.resolve()), "--limit", str(limit), "--out", str(out)]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EvalError(f"the baseline failed: {(done.stderr.strip().splitlines() or ['no word'])[-1]}")
    found: Mapping[str, Any] = json.loads(out.read_text("utf-8"))
    cold = [sum(run[part] for part in ("import_s", "model_load_s", "open_s", "first_query_s")) for run in found["cold"]]
    return {
        "ingest, papers/s": found["ingest"]["docs_per_s"],
        "query p50, ms": found["query"]["p50_ms"],
        "new process, first answer, s": median(
            run.get("process_wall_s", total) for run, total in zip(found["cold"], cold, strict=True)
        ),
    }
