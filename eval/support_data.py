"""Turns files of claims, evidence and labels into how well scores part the supported claims from the others.

Read are SciFact's form (claim, doc_id, label, rationale_text; its corpus stands beside the file) and HealthVer's
(claim, evidence, label). It knows no store and no LLM.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eval.errors import SuiteError
from eval.score import Rate
from rag.embed import Embedder
from rag.question import content_words
from rag.sentences import sentence_spans
from rag.text import shown
from rag.types import Quote

_LABELS = {
    "SUPPORT": "support",
    "CONTRADICT": "contradict",
    "NEI": "neither",
    "Supports": "support",
    "Refutes": "contradict",
    "Neutral": "neither",
}
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim and what people said of it: label is support, contradict or neither.

    evidence: all sentences. rationale: those that decide, () when they are not known. titles: of the paper, if known.
    """

    claim: str
    evidence: tuple[Quote, ...]
    rationale: tuple[Quote, ...]
    titles: tuple[str, ...]
    label: str


def read_labelled(path: Path, split: str = "dev") -> tuple[Labelled, ...]:
    """The rows of a split; SuiteError when the file cannot be read, or holds none."""
    try:
        rows = [row for row in _rows(path) if row.get("split", split) == split]
        corpus = _corpus(path.parent) if any("doc_id" in row for row in rows) else {}
        made = tuple(_labelled(row, corpus) for row in rows)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise SuiteError(f"{path} is no file of claims (claim, evidence or doc_id, label): {what}") from error
    if not made:
        raise SuiteError(f"{path} holds no claim of its {split} split")
    return made


def _labelled(row: Mapping[str, Any], corpus: Mapping[str, Mapping[str, Any]]) -> Labelled:
    source = corpus[row["doc_id"]] if "doc_id" in row else {"id": row["id"], "title": "", "text": row["evidence"]}
    text = shown(source["text"])
    quotes = tuple(Quote(source["id"], text[a:b], a, b) for a, b in sentence_spans(text))
    rationale = (shown(part) for part in row.get("rationale_text", ()))
    return Labelled(
        shown(row["claim"]),
        quotes,
        tuple(Quote(source["id"], part, 0, len(part)) for part in rationale if part),
        (source["title"],) if source["title"] else (),
        _LABELS[row["label"]],
    )


def _corpus(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    for name in ("corpus.jsonl", "corpus.jsonl.gz"):
        if (folder / name).is_file():
            return {row["id"]: row for row in _rows(folder / name)}
    raise SuiteError(f"{folder} holds no corpus.jsonl or corpus.jsonl.gz, which the claims of verify.jsonl are about")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


# --- baselines ----------------------------------------------------------------------------------------------------


def overlaps(rows: Sequence[Labelled]) -> tuple[float, ...]:
    """The share of each claim's content words that stand in its evidence, 0..1."""
    return tuple(_overlap(row) for row in rows)


def _overlap(row: Labelled) -> float:
    said = set(content_words(row.claim))
    there = {word for quote in row.evidence for word in content_words(quote.text)}
    return len(said & there) / len(said) if said else 0.0


def cosines(rows: Sequence[Labelled], embedder: Embedder) -> tuple[float, ...]:
    """The cosine of each claim and the nearest sentence of its evidence, −1..1."""
    texts = list(dict.fromkeys(quote.text for row in rows for quote in row.evidence))
    vectors = embedder.embed_documents(texts)
    places = {text: place for place, text in enumerate(texts)}
    found = []
    for row in rows:
        own = vectors[[places[quote.text] for quote in row.evidence]]
        found.append(float((own @ embedder.embed_query(row.claim)).max()) if row.evidence else -1.0)
    return tuple(found)


# --- figures ------------------------------------------------------------------------------------------------------


def auroc(name: str, right: Sequence[float], wrong: Sequence[float], seed: int = 1) -> Rate:
    """How often a right one scores above a wrong one, 0.5 by chance; bounded by a bootstrap over both groups."""
    if not right or not wrong:
        return Rate(name, 0.5, 0, 0.0, 1.0)
    a, b = np.asarray(right, dtype=float), np.asarray(wrong, dtype=float)
    rng = np.random.default_rng(seed)
    draws = [_auroc(rng.choice(a, len(a)), rng.choice(b, len(b))) for _ in range(_DRAWS)]
    low, high = np.percentile(draws, [2.5, 97.5])
    return Rate(name, _auroc(a, b), len(a) + len(b), float(low), float(high))


def _auroc(right: Any, wrong: Any) -> float:
    ordered = np.sort(wrong)
    below, not_above = (np.searchsorted(ordered, right, side) for side in ("left", "right"))
    return float((below + not_above).mean() / (2 * len(ordered)))
