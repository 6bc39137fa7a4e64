"""Turns questions, one after another, into a conversation as the page shows it.

    Conversation + question ─ converse ─▶ Conversation, Conversation, … (each newer)

Every conversation is a frozen value of one browser session. Gradio is not known here.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rag.errors import FootnoteError
from rag.retrieve import NO_FILTER
from rag.types import Answer, Paper, Scope, Turn
from ui.page_relay import Relay
from ui.render import Shown, failed, shown
from vectorstore.errors import StoreError
from vectorstore.filter import Filter

STOPPED = "Stopped before the answer was finished."
BROKEN = "Something went wrong while answering; the server's log says what."


class Answerer(Protocol):
    """What the page needs of rag's Assistant; it is used by several threads at once."""

    @property
    def llm(self) -> str:
        """The spec of the LLM."""

    @property
    def embedder(self) -> str:
        """The spec of the embedder."""

    @property
    def stated(self) -> Collection[str]:
        """What is known of the papers, out of "year", "venue" and "author"."""

    def scope(self, only: Filter) -> Scope | None:
        """The papers that a filter leaves; None when it filters nothing."""

    def stream(
        self, question: str, history: Sequence[Turn] = (), only: Filter = NO_FILTER, *, constraints: bool = True
    ) -> Iterator[Answer]:
        """Growing answers; the last has done=True."""

    def paper_count(self) -> int:
        """How many papers the index holds."""

    def papers(self, limit: int = 50, offset: int = 0) -> tuple[Paper, ...]:
        """Papers of the index, in its order."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One person's talk: the turns as rag reads them, the turns as the page shows them, oldest first.

    halt: set it to stop the answer that is being written; None when none is. only: the papers that it is limited to.
    """

    turns: tuple[Turn, ...] = ()
    shown: tuple[Shown, ...] = ()
    halt: threading.Event | None = None
    only: Filter = NO_FILTER

    @property
    def next_key(self) -> str:
        """The key of the next turn on the page."""
        return f"t{len(self.shown) + 1}"

    @property
    def is_running(self) -> bool:
        """Whether an answer is being written; whoever writes it sets `halt` in the end, however it ends."""
        return self.halt is not None and not self.halt.is_set()

    def plus(self, turn: Shown, halt: threading.Event | None = None) -> Conversation:
        """With one more turn on the page."""
        return replace(self, shown=(*self.shown, turn), halt=halt)

    def answered(self, answer: Answer) -> Conversation:
        """With a finished answer, which later questions may refer to when it said anything."""
        later = self.plus(shown(self.next_key, answer))
        cited = tuple(r.paper.id for r in answer.references)
        said = (Turn("user", answer.question), Turn("assistant", answer.text, cited)) if answer.text else ()
        return replace(later, turns=(*self.turns, *said))

    def settled(self) -> Conversation:
        """At rest: a turn that broke off without a word of its own says so."""
        if self.halt is None or self.is_running:
            return self
        last = replace(self.shown[-1], body=f'<p class="notice" role="status">{BROKEN}</p>', busy=False)
        return replace(self, shown=(*self.shown[:-1], last), halt=None)


def converse(
    assistant: Answerer, question: str, before: Conversation, *, constraints: bool = True
) -> Iterator[Conversation]:
    """The conversation as the answer to `question` grows; the last one is at rest (halt is None)."""

    def start() -> Iterator[Answer]:
        return assistant.stream(question, before.turns, before.only, constraints=constraints)

    halt = threading.Event()
    answer = Answer(question, done=False)
    try:
        count = assistant.paper_count()
        yield before.plus(shown(before.next_key, answer, stage(answer, count)), halt)
        for newer in Relay(start, halt).newest():
            answer = newer or answer
            yield before.plus(shown(before.next_key, answer, stage(answer, count)), halt)
    except (FootnoteError, StoreError) as error:
        yield before.plus(failed(before.next_key, question, str(error)))
        return
    finally:
        halt.set()
    yield before.answered(answer if answer.done else stopped(answer))


def stopped(answer: Answer) -> Answer:
    """A growing answer as far as it came."""
    return replace(answer, done=True, notices=(*answer.notices, STOPPED))


def stage(answer: Answer, count: int) -> str:
    """What is being done before the first words come; count: papers in the index."""
    found = len({hit.passage.paper_id for hit in answer.hits})
    return f"Reading {papers(found)}…" if found else f"Searching {papers(count)}…"


def papers(count: int) -> str:
    """A count of papers in words: "1 paper", "5,183 papers"."""
    return f"{count:,} paper{'' if count == 1 else 's'}"
