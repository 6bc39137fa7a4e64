"""Turns a JSONL file of questions into a suite: what is asked, and what a right answer has to do.

It knows nothing of the system that is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from eval.errors import SuiteError

UNANSWERABLE = ("near_miss", "off_topic")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what a right answer has to do.

    papers: ids that it has to cite, all of them; also: ids that it may cite besides. must, must_not: patterns that
    the answer's text has to match, each, or may not match. follows: id of the question asked before it in the same
    conversation. Unanswerable questions have no papers. sentences: where the answer stands in the abstract of its only
    paper, as indices from 0; one of them has to be quoted. Empty when the patterns alone tell. near: of a near miss,
    the papers that it is near to.
    """

    id: str
    split: str
    type: str
    text: str
    papers: tuple[str, ...]
    also: tuple[str, ...]
    must: tuple[re.Pattern[str], ...]
    must_not: tuple[re.Pattern[str], ...]
    follows: str | None
    sentences: tuple[int, ...] = ()
    near: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the papers answer it."""
        return self.type not in UNANSWERABLE


def read_suite(path: Path | None = None) -> tuple[Question, ...]:
    """The suite in a file, by default the one over the sample corpus; SuiteError names the line that is wrong."""
    where = path or Path(str(files("eval") / "data" / "questions.jsonl"))
    try:
        lines = where.read_text(encoding="utf-8").split("\n")  # U+2028 may stand in a question
    except (OSError, UnicodeDecodeError) as error:
        raise SuiteError(f"the suite {where} cannot be read: {error}") from error
    questions = tuple(_question(where, number, line) for number, line in enumerate(lines, 1) if line.strip())
    if not questions:
        raise SuiteError(f"the suite {where} holds no question")
    return questions


def chains(questions: tuple[Question, ...]) -> Iterator[tuple[Question, ...]]:
    """Conversations in order: each question with those that it follows, first to last."""
    known = {question.id: question for question in questions}
    for question in questions:
        chain = [question]
        while (before := chain[0].follows) is not None:
            if before not in known:
                raise SuiteError(f"question {chain[0].id} follows {before}, which is not in the suite")
            chain.insert(0, known[before])
        yield tuple(chain)


def _question(where: Path, number: int, line: str) -> Question:
    try:
        row: Mapping[str, Any] = json.loads(line)
        return Question(
            id=str(row["id"]),
            split=str(row.get("split", "test")),
            type=str(row["type"]),
            text=str(row["question"]),
            papers=tuple(row["papers"]),
            also=tuple(row.get("also", ())),
            must=_patterns(row.get("must", ())),
            must_not=_patterns(row.get("must_not", ())),
            follows=row.get("follows"),
            sentences=tuple(map(int, row.get("sentences", ()))),
            near=tuple(row.get("near", ())),
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError, re.error) as error:
        raise SuiteError(f"{where}:{number} is not a question: {type(error).__name__}: {error}") from error


def _patterns(patterns: list[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in patterns)
