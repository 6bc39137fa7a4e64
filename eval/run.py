"""Asks a suite's questions through the same Assistant as users, and scores the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eval.score import Verdict, judge
from eval.suite import Question, chains
from rag.assistant import Assistant
from rag.types import Answer, Turn


@dataclass(frozen=True, slots=True)
class Run:
    """The verdicts of a run, in the suite's order, and what made them."""

    verdicts: tuple[Verdict, ...]
    llm: str
    embedder: str


def run(
    assistant: Assistant,
    questions: Sequence[Question],
    ids: dict[str, str],
    progress: Callable[[int], None] = lambda _: None,
) -> Run:
    """Ask every question, follow-ups with the conversation before them; progress: called with how many are done."""
    answers: dict[str, Answer] = {}
    verdicts = []
    for done, chain in enumerate(chains(tuple(questions)), 1):
        history = tuple(turn for before in chain[:-1] for turn in turns(before.text, answers[before.id]))
        answer = answers[chain[-1].id] = assistant.ask(chain[-1].text, history)
        verdicts.append(judge(chain[-1], answer, ids))
        progress(done)
    return Run(tuple(verdicts), assistant.llm, assistant.embedder)


def turns(question: str, answer: Answer) -> Iterator[Turn]:
    """A question and its answer as the turns of a conversation."""
    yield Turn("user", question)
    yield Turn("assistant", answer.text, tuple(reference.paper.id for reference in answer.references))
