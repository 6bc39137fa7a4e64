"""What the reader is trained on: questions, abstracts cut into sentences, and which of these answer.

Recipe, all from train halves of public collections and from our own questions (data/ml_questions.jsonl, train): each
question with its paper, and beside it one that retrieval takes for near; the same without the sentences that answer (a
near miss); with a near paper alone; SciFact's train claims with their rationales; ML papers' own one-line summaries.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from eval.suite import Question, read_suite
from rag.assistant import Assistant
from rag.load import load_papers
from rag.sentences import sentence_spans
from rag.types import Paper

_SHORTEST, _LONGEST = 3, 8  # sentences of a window
_WINDOWED, _TITLED = 0.75, 0.8  # how often an abstract is cut to a window, and its title is kept


@dataclass(frozen=True, slots=True)
class Example:
    """gold: the sentences that answer, None when that is not known. answers: whether any does. weight: 0 and up."""

    question: str
    title: str
    sentences: tuple[str, ...]
    gold: frozenset[int] | None
    answers: bool
    kind: str
    paper: str
    weight: float = 1.0


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of an abstract, as the product cuts them."""
    return tuple(text[start:end] for start, end in sentence_spans(text))


def from_questions(rows: Iterable[Question], papers: Mapping[str, Paper]) -> Iterator[Example]:
    """Our own questions, each with its paper."""
    for asked in rows:
        for paper_id in asked.papers or asked.near:
            paper = papers[paper_id]
            gold = frozenset(asked.sentences)
            kind = "own" if gold else "near"
            yield Example(asked.text, _title(paper), sentences(paper.abstract), gold, bool(gold), kind, paper_id)


def _wrong_papers(question: str, title: str, own: str, bot: Assistant) -> Iterator[Example]:
    """The question with papers that retrieval takes for near and that are not its own."""
    for paper in bot.search(question, 8).papers:
        if paper.id != own and paper.title.casefold() != title.casefold():
            cut = sentences(paper.abstract)
            yield Example(question, _title(paper), cut, frozenset(), answers=False, kind="wrong", paper=paper.id)


def scifact(folder: Path) -> Iterator[Example]:
    """SciFact's train claims, with rationale sentences."""
    corpus = {row["id"]: row for row in _rows(folder / "corpus.jsonl.gz")}
    for row in _rows(folder / "verify.jsonl"):
        if row["split"] != "train":
            continue
        paper = corpus[row["doc_id"]]
        cut = sentences(paper["text"])
        wanted = [text.strip() for text in row["rationale_text"]]
        gold = frozenset(i for i, s in enumerate(cut) if any(s.strip() in t or t in s for t in wanted))
        if gold or row["label"] == "NEI":
            yield Example(row["claim"], paper["title"], cut, gold, bool(gold), "scifact", row["doc_id"], 0.5)


def summaries(folder: Path) -> Iterator[Example]:
    """Authors' one-line summaries with their papers; which sentence says it is not known."""
    corpus = {row["id"]: row for row in _rows(folder / "corpus.jsonl.gz")}
    pairs = [line.split("\t") for line in (folder / "qrels.tsv").read_text("utf-8").splitlines()[1:]]
    queries = {row["id"]: row["text"] for row in _rows(folder / "queries.jsonl")}
    for query, paper_id, _ in pairs:
        paper = corpus[paper_id]
        yield Example(queries[query], paper["title"], sentences(paper["text"]), None, True, "summary", paper_id, 0.3)


def removed(example: Example) -> Example | None:
    """The abstract without the sentences that answer; None when nothing is left, or these are not known."""
    left = tuple(s for i, s in enumerate(example.sentences) if i not in (example.gold or ()))
    if not example.gold or not left:
        return None
    return replace(example, sentences=left, gold=frozenset(), answers=False, kind="removed")


def varied(example: Example, rng: random.Random) -> Example:
    """The example as one epoch sees it: often a window of a few sentences, at times without its title."""
    if rng.random() > _TITLED:
        example = replace(example, title="")
    count = len(example.sentences)
    length = rng.randint(_SHORTEST, _LONGEST)
    if rng.random() > _WINDOWED or length >= count or (example.answers and example.gold is None):
        return example
    around = rng.choice(sorted(example.gold)) if example.gold else rng.randrange(count)
    start = max(0, min(around - rng.randrange(length), count - length))
    gold = frozenset(i - start for i in example.gold or () if start <= i < start + length)
    return replace(example, sentences=example.sentences[start : start + length], gold=gold)


@dataclass(frozen=True, slots=True)
class Data:
    """train: our own questions. wrong: question's text → with papers that retrieval took for near. others: of the
    public collections. dev: what is reported on.
    """

    train: tuple[Example, ...]
    wrong: Mapping[str, Sequence[Example]]
    others: tuple[Example, ...]
    dev: tuple[Example, ...]


def gather(suites: Sequence[Path], papers: Path, bot: Assistant, shared: Path) -> Data:
    """All that is trained on; bot: over an index where wrong papers are looked for."""
    known = {paper.id: paper for paper in load_papers([papers]) if isinstance(paper, Paper)}
    rows = tuple(q for suite in suites for q in read_suite(suite))
    train, dev = (tuple(q for q in rows if q.split == split) for split in ("train", "dev"))
    others = (*scifact(shared / "scifact"), *summaries(shared / "ml_tldr"))
    asked = [(e.question, e.title, e.paper) for e in others if e.kind == "summary"]
    asked += [(q.text, "", i) for q in rows for i in q.papers or q.near]
    wrong = {text: list(_wrong_papers(text, title, paper, bot)) for text, title, paper in asked}
    checked = list(from_questions(dev, known))
    checked += [without for e in checked if (without := removed(e))]
    checked += [wrong[q.text][0] for q in dev if q.answerable and wrong.get(q.text)]
    return Data(tuple(from_questions(train, known)), wrong, others, tuple(checked))


def epoch(data: Data, rng: random.Random) -> list[tuple[Example, Example | None]]:
    """One epoch's examples, many with a wrong paper beside their own; windows and wrong papers are drawn anew."""
    chosen = [*data.train, *data.others]
    chosen += [without for e in chosen if e.kind in {"own", "scifact"} and (without := removed(e))]
    rows = [
        (varied(e, rng), varied(rng.choice(near), rng) if (near := data.wrong.get(e.question)) else None)
        for e in chosen
    ]
    alone = [(varied(rng.choice(near), rng), None) for e in data.train[::2] if (near := data.wrong.get(e.question))]
    return rows + alone


def auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """How often a right one scores above a wrong one; 0.5 by chance."""
    if not right or not wrong:
        return float("nan")
    a, b = np.array(right)[:, None], np.array(wrong)[None]
    return float((a > b).mean() + 0.5 * (a == b).mean())


def _title(paper: Paper) -> str:
    return "" if paper.untitled else paper.title


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
