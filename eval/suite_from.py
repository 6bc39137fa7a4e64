"""Turns public collections into suites: PubMedQA's questions, and those that experts found unanswerable (QASA).

python -m eval.suite_from pubmedqa FOLDER OUT.jsonl
python -m eval.suite_from qasa FOLDER OUT.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

_LAST = 300  # questions of PubMedQA's dev half


def pubmedqa(folder: Path) -> Iterator[dict[str, object]]:
    """The last 300 questions; the paper of each has the question's id."""
    rows = [json.loads(line) for line in (folder / "qa.jsonl").read_text("utf-8").split("\n") if line.strip()]
    for row in rows[-_LAST:]:
        yield {"id": row["id"], "split": "dev", "type": "yesno", "question": row["question"], "papers": [row["id"]]}


def qasa(folder: Path) -> Iterator[dict[str, object]]:
    """Those questions whose paper's abstract is at hand; the paper is the one that the question is near to."""
    for line in (folder / "qa.jsonl").read_text("utf-8").rstrip("\n").split("\n"):
        row = json.loads(line)
        if own := row.get("abstract_id"):
            told = {"id": row["id"], "split": "dev", "type": "near_miss", "question": row["question"]}
            yield {**told, "papers": [], "near": [own]}


if __name__ == "__main__":
    kind, source, out = sys.argv[1:]
    made = {"pubmedqa": pubmedqa, "qasa": qasa}[kind](Path(source))
    Path(out).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made), "utf-8")
