"""Turns an LLM's stream into growing Answers: claims as they become whole, references as they are first cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

from rag.cite import Citer
from rag.errors import BackendError
from rag.llm import LLM
from rag.prompt import ABSTENTION
from rag.quote import QuoteLLM
from rag.text import words
from rag.types import Answer, Claim, Prompt, Quote, Reference

_NEAREST = 3
_MARKER = re.compile(r"\[\d+\]")


@dataclass(slots=True)
class Clock:
    """Milliseconds of each stage since the last, and in all."""

    began: float = field(default_factory=perf_counter)
    last: float = field(default_factory=perf_counter)
    laps: dict[str, float] = field(default_factory=dict)

    def lap(self, stage: str) -> None:
        """End a stage."""
        now = perf_counter()
        self.laps[stage] = (now - self.last) * 1000
        self.last = now

    def since(self, name: str) -> None:
        """Note, once, how long it is since the beginning."""
        self.laps.setdefault(name, (perf_counter() - self.began) * 1000)


def abstained(base: Answer, reason: str, prompt: Prompt, clock: Clock) -> Answer:
    """The finished answer that says nothing but why, with the nearest papers."""
    clock.since("total")
    return replace(
        base,
        text=ABSTENTION,
        abstained=True,
        abstain_reason=reason,
        nearest=prompt.papers[:_NEAREST],
        timings_ms=clock.laps,
        done=True,
    )


def written(base: Answer, llm: LLM, citer: Citer, clock: Clock) -> Iterator[Answer]:
    """The answer after each claim, and at last the finished one, with the same claims.

    When the LLM fails, what it had said is kept; when it had said nothing, the papers' own sentences answer instead.
    """
    answer = base
    try:
        for answer in _growing(base, llm, citer, clock):
            yield answer
    except BackendError as error:
        answer = replace(answer, notices=(*answer.notices, _fallen_back(error, answer)))
        if not answer.claims:
            for grown in _growing(answer, QuoteLLM(), citer, clock):
                yield (answer := grown)
    clock.since("total")
    if not answer.claims:
        yield abstained(answer, "The model found no answer in the abstracts.", citer.prompt, clock)
    else:
        yield replace(answer, notices=answer.notices + _remarks(citer), timings_ms=clock.laps, done=True)


def _fallen_back(error: BackendError, answer: Answer) -> str:
    instead = "the answer ends there" if answer.claims else "the papers' own sentences answer instead"
    return f"{str(error)[0].upper()}{str(error)[1:]}; {instead}."


def _growing(base: Answer, llm: LLM, citer: Citer, clock: Clock) -> Iterator[Answer]:
    answer = base
    for separator, claim in citer.claims(llm.stream(citer.prompt)):
        clock.since("first_word")
        if _says_nothing(claim):
            return
        answer = _grown(answer, separator, claim, citer)
        yield answer


def _says_nothing(claim: Claim) -> bool:
    """Whether a claim is the abstention, however a model sets its apostrophe, full stop or markers."""
    return words(_MARKER.sub("", claim.text)) == words(ABSTENTION)


def _grown(answer: Answer, separator: str, claim: Claim, citer: Citer) -> Answer:
    claims = (*answer.claims, claim)
    if not answer.claims:
        separator = "\n\n" if answer.text else ""  # what the answer begins with stands by itself
    text = answer.text + separator + claim.text
    return replace(answer, text=text, claims=claims, references=_references(claims, citer))


def _references(claims: tuple[Claim, ...], citer: Citer) -> tuple[Reference, ...]:
    quotes: dict[str, list[Quote]] = {}
    for quote in dict.fromkeys(quote for claim in claims for quote in claim.quotes):
        quotes.setdefault(quote.paper_id, []).append(quote)
    papers = {paper.id: paper for paper in citer.prompt.papers}
    made = [Reference(citer.numbering.number(i), papers[i], tuple(found)) for i, found in quotes.items()]
    return tuple(sorted(made, key=lambda reference: reference.number))


def _remarks(citer: Citer) -> tuple[str, ...]:
    if not citer.invented:
        return ()
    many = "markers that point" if citer.invented > 1 else "marker that points"
    return (f"The model wrote {citer.invented} reference {many} to no paper; removed.",)
