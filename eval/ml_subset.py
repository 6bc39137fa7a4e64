"""Picks the 550 abstracts that data/ml_questions.jsonl asks about out of ml_abstracts, into a papers file.

python -m eval.ml_subset ML_ABSTRACTS_FOLDER OUT.jsonl
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

from rag.load import load_papers
from rag.types import Paper

_FILES = ("icml_2020_2025.jsonl.gz", "ml_nlp_big.jsonl.gz")
_SHORTEST, _LONGEST = 700, 2200  # characters of an abstract
_COUNT, _SEED = 550, 41


def subset(folder: Path) -> tuple[Paper, ...]:
    """The same 550 papers each time, drawn from all abstracts of usual length."""
    found = [paper for name in _FILES for paper in load_papers([folder / name]) if isinstance(paper, Paper)]
    usual = [paper for paper in found if _SHORTEST <= len(paper.abstract) <= _LONGEST]
    random.Random(_SEED).shuffle(usual)  # noqa: S311
    return tuple(usual[:_COUNT])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m eval.ml_subset ML_ABSTRACTS_FOLDER OUT.jsonl")
    source, target = map(Path, sys.argv[1:])
    rows = [json.dumps(asdict(paper), ensure_ascii=False) + "\n" for paper in subset(source)]
    target.write_text("".join(rows), "utf-8")
