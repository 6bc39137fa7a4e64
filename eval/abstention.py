"""How well the signals that abstention rests on tell questions that the papers answer from those that they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from eval.suite import Question
from rag.abstain import thresholds
from rag.assistant import Assistant

_COVERAGES = (0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class Signals:
    """Of one question, each the best among what was found, higher for answerable: the cosine of a passage, the BM25 of
    a paper, the late interaction of a sentence; then what the product goes by: the log-odds that any sentence answers,
    and these with the cosine and the size of the index (rag.abstain).
    """

    vectors: float
    words: float
    reading: float
    odds: float
    topic: float


SIGNALS = tuple(field.name for field in fields(Signals))


def signals(bot: Assistant, question: str, without: Sequence[str] = ()) -> Signals:
    """What the question finds when the papers `without` are not in the index."""
    prompt, relevance = bot.relevance(question, without)
    if not relevance.sentences:
        return Signals(0.0, 0.0, 0.0, 0.0, 0.0)
    return Signals(
        vectors=relevance.nearest,
        words=max(hit.lexical for hit in prompt.hits),
        reading=max(s.matched for s in relevance.sentences),
        odds=relevance.odds or 0.0,
        topic=thresholds(bot.embedder).topic(relevance),
    )


def judged(
    bot: Assistant,
    questions: Sequence[Question],
    *,
    taken_out: bool = False,
    foreign: Sequence[Question] = (),
    progress: Callable[[int], None],
) -> tuple[list[Signals], list[Signals]]:
    """Signals of the answerable questions and of the unanswerable ones.

    taken_out: each answerable question counts as an unanswerable one too, without its papers. foreign: questions about
    other papers than the index holds, unanswerable here.
    """
    right: list[Signals] = []
    wrong: list[Signals] = []
    for question in questions:
        (right if question.answerable else wrong).append(signals(bot, question.text))
        if taken_out and question.answerable:
            wrong.append(signals(bot, question.text, question.papers))
        progress(1)
    for question in foreign:
        wrong.append(signals(bot, question.text))
        progress(1)
    return right, wrong


def table(right: Sequence[Signals], wrong: Sequence[Signals]) -> Mapping[str, tuple[float, tuple[float, ...]]]:
    """Signal → (AUROC, risk at 20, 40 … 100 % coverage).

    Risk: of the questions answered when so many of all are, those with the highest signal, the share that cannot be.
    """
    rows = {}
    for name in SIGNALS:
        a, b = (np.array([getattr(s, name) for s in group]) for group in (right, wrong))
        auroc = float((a[:, None] > b[None]).mean() + 0.5 * (a[:, None] == b[None]).mean())
        order = np.argsort(-np.concatenate([a, b]), kind="stable") >= len(a)
        counts = [max(1, round(share * len(order))) for share in _COVERAGES]
        rows[name] = auroc, tuple(float(order[:count].mean()) for count in counts)
    return rows
