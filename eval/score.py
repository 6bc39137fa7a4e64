"""Turns a question and the answer to it into a verdict, and verdicts into rates with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from eval.suite import Question
from rag.sentences import sentence_spans
from rag.types import Answer

Z95 = 1.96


@dataclass(frozen=True, slots=True)
class Verdict:
    """fact: the answer has what it must, in its text and its quotes, and not what it must not. references: every
    required paper is cited.

    precision: share of the cited papers that may be cited, None when none is cited. recall: share of the required
    papers that are cited, None when none is required. abstained: it did not answer.
    An abstention to an answerable question has no fact and no reference: absent answers count as zero.
    """

    question: Question
    answer: Answer
    fact: bool
    references: bool
    precision: float | None
    recall: float | None
    abstained: bool


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of n, with the ends of its 95 % interval (Wilson 1927)."""

    name: str
    value: float
    n: int
    low: float
    high: float

    def __str__(self) -> str:
        """As in a table: 0.93 [0.86, 0.97] n=60."""
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] n={self.n}"


def judge(question: Question, answer: Answer, ids: dict[str, str]) -> Verdict:
    """The verdict on one answer. ids: the suite's paper ids → the ids in the index that was asked."""
    cited = {reference.paper.id for reference in answer.references}
    required = {ids.get(i, i) for i in question.papers}
    allowed = required | {ids.get(i, i) for i in question.also}
    has = all(p.search(answer.text) for p in question.must)
    hasnt = not any(p.search(answer.text) for p in question.must_not)
    return Verdict(
        question=question,
        answer=answer,
        fact=question.answerable and not answer.abstained and has and hasnt and _quotes(question, answer, required),
        references=question.answerable and required <= cited,
        precision=len(cited & allowed) / len(cited) if cited else None,
        recall=len(cited & required) / len(required) if required else None,
        abstained=answer.abstained,
    )


def _quotes(question: Question, answer: Answer, required: set[str]) -> bool:
    """Whether a sentence that answers is quoted; True when the question does not say which do."""
    if not question.sentences:
        return True
    quotes = [quote for claim in answer.claims for quote in claim.quotes]
    for paper in (reference.paper for reference in answer.references if reference.paper.id in required):
        spans = [span for i, span in enumerate(sentence_spans(paper.abstract)) if i in question.sentences]
        own = [quote for quote in quotes if quote.paper_id == paper.id]
        if any(start < quote.end and quote.start < end for start, end in spans for quote in own):
            return True
    return False


def rates(verdicts: Sequence[Verdict]) -> tuple[Rate, ...]:
    """The figures of a run, overall and by type of question."""
    answerable = [v for v in verdicts if v.question.answerable]
    types = dict.fromkeys(v.question.type for v in verdicts)
    rows = [
        _rate("right answers", answerable, lambda v: v.fact),
        *(_rate(f"  {t}", [v for v in answerable if v.question.type == t], lambda v: v.fact) for t in types),
        _rate("right references", answerable, lambda v: v.references),
        *(_rate(f"  {t}", [v for v in answerable if v.question.type == t], lambda v: v.references) for t in types),
        _mean("reference precision", [v.precision for v in answerable if v.precision is not None]),
        _mean("reference recall", [v.recall for v in answerable if v.recall is not None]),
        _rate("right abstentions, near miss", _of(verdicts, "near_miss"), lambda v: v.abstained),
        _rate("right abstentions, off topic", _of(verdicts, "off_topic"), lambda v: v.abstained),
        _rate("false abstentions", answerable, lambda v: v.abstained),
    ]
    return tuple(row for row in rows if row.n)


def _of(verdicts: Iterable[Verdict], kind: str) -> list[Verdict]:
    return [v for v in verdicts if v.question.type == kind]


def _rate(name: str, verdicts: Sequence[Verdict], holds: Callable[[Verdict], bool]) -> Rate:
    return wilson(name, sum(holds(v) for v in verdicts), len(verdicts))


def wilson(name: str, count: float, n: int) -> Rate:
    """count of n as a rate with its interval; n = 0 gives the whole range."""
    if n == 0:
        return Rate(name, 0.0, 0, 0.0, 1.0)
    p, z2 = count / n, Z95**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Rate(name, p, n, max(0.0, centre - half), min(1.0, centre + half))


def _mean(name: str, values: Sequence[float]) -> Rate:
    return wilson(name, sum(values), len(values))
