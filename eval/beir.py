"""Turns a folder in BEIR's form into queries, judgements and a papers file."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eval.errors import SuiteError

Judgements = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Collection:
    """corpus: the papers file. queries: id → text, those that are judged. judgements: query id → paper id → grade."""

    corpus: Path
    queries: Mapping[str, str]
    judgements: Judgements


def read_collection(folder: Path, qrels: str = "") -> Collection:
    """The collection in a folder: corpus.jsonl[.gz], queries.jsonl and a qrels file (the only one unless named)."""
    judgements = _judgements(_qrels_file(folder, qrels))
    corpus = next((p for p in (folder / "corpus.jsonl", folder / "corpus.jsonl.gz") if p.is_file()), None)
    if corpus is None:
        raise SuiteError(f"{folder} holds no corpus.jsonl or corpus.jsonl.gz")
    return Collection(corpus, _queries(folder / "queries.jsonl", judgements), judgements)


def _qrels_file(folder: Path, name: str) -> Path:
    if name:
        return folder / name
    found = sorted(folder.glob("qrels*.tsv"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise SuiteError(f"{folder} must hold one qrels*.tsv, or name one with --qrels; it holds {names}")
    return found[0]


def _judgements(path: Path) -> Judgements:
    judged: dict[str, dict[str, int]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                judged.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    except (OSError, UnicodeDecodeError, KeyError, ValueError, TypeError) as error:
        raise SuiteError(f"{path} is no qrels file (query-id, corpus-id, score): {error}") from error
    return judged


def _queries(path: Path, judged: Judgements) -> Mapping[str, str]:
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        found = {str(row["id"]): str(row["text"]) for row in rows}
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError) as error:
        raise SuiteError(f"{path} is no queries file (id, text): {error}") from error
    return {i: found[i] for i in judged if i in found}
