"""Turns an LLM's stream into growing Answers: claims as they become whole, references as they are first cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

from rag.cite import Citer
from rag.errors import BackendError
from rag.language import abstention_in
from rag.llm import LLM
from rag.prompt import is_abstention, is_refusal
from rag.quote import QuoteLLM
from rag.thinking import Spoken
from rag.types import Answer, Claim, Prompt, Quote, Reference

Unsupported = Literal["mark", "drop"]

_NEAREST = 3
_REPEATS = 3  # sentences said before; a model that repeats itself does not come to an end
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
        text=abstention_in(prompt.language or "en"),
        claims=(),
        references=(),
        abstained=True,
        abstain_reason=reason,
        nearest=prompt.papers[:_NEAREST],
        timings_ms=clock.laps,
        done=True,
    )


def written(base: Answer, llm: LLM, citer: Citer, clock: Clock, unsupported: Unsupported = "mark") -> Iterator[Answer]:
    """The answer after each claim, and at last the finished one.

    When the LLM fails, what it had said is kept and the papers' own sentences complete it; when nothing that it said is
    supported, they answer instead. unsupported: whether a sentence that its quotes do not support is marked, or dropped
    (then it stands in `dropped`).
    """
    answer, failure = base, ""
    try:
        for answer in _growing(base, llm, citer, clock, unsupported):
            yield answer
    except BackendError as error:
        failure = f"{str(error)[0].upper()}{str(error)[1:]}"
    backed = any(claim.supported for claim in answer.claims)
    if not failure and not backed and _gave_up(answer):
        yield abstained(answer, "The model found no answer in the abstracts.", citer.prompt, clock)
        return
    if failure or not backed:
        kept = answer if backed else replace(base, dropped=(*answer.dropped, *answer.claims))
        answer = replace(kept, notices=(*kept.notices, _filled_in(failure, answer, backed=backed)))
        for grown in _completed(answer, citer, clock):
            yield (answer := grown)
    clock.since("total")
    if not answer.claims:
        yield abstained(answer, "No sentence of the abstracts answers.", citer.prompt, clock)
    else:
        remarks = _remarks(answer, citer, llm) if backed else ()
        yield replace(answer, notices=answer.notices + remarks, timings_ms=clock.laps, done=True)


def _growing(base: Answer, llm: LLM, citer: Citer, clock: Clock, unsupported: Unsupported) -> Iterator[Answer]:
    spoken = Spoken(llm.stream(citer.prompt), llm.spec)
    fresh = citer.numbering.copy()
    while True:
        yield from _said(base, spoken, citer, clock, unsupported)
        if not spoken.restarted:
            return
        # What came before was a thought without a beginning.
        citer.numbering, citer.invented = fresh.copy(), 0
        yield base


def _said(base: Answer, pieces: Spoken, citer: Citer, clock: Clock, unsupported: Unsupported) -> Iterator[Answer]:
    answer = base
    seen: set[str] = set()
    repeats = 0
    for separator, claim in citer.claims(pieces):
        clock.since("first_word")
        bare = _MARKER.sub("", claim.text).strip()
        repeats += bare in seen
        if repeats >= _REPEATS or (is_abstention(bare) and not claim.supported):
            # A model that gives up after all does not take back what it has shown.
            if not answer.claims and repeats < _REPEATS:
                yield replace(answer, dropped=(*answer.dropped, claim))
            return
        if bare in seen:
            continue
        seen.add(bare)
        answer = (
            _left_out(answer, claim)
            if unsupported == "drop" and not claim.supported
            else _grown(answer, separator, claim, citer)
        )
        yield answer


def _gave_up(answer: Answer) -> bool:
    """Whether the model said that there is no answer, and nothing else."""
    if answer.claims or len(answer.dropped) != 1:
        return False
    said = _MARKER.sub("", answer.dropped[0].text)
    return is_abstention(said) and not is_refusal(said)


def _completed(answer: Answer, citer: Citer, clock: Clock) -> Iterator[Answer]:
    """The answer with those sentences of the papers that answer and are not quoted in it yet, as a paragraph more."""
    quoted = {quote for claim in answer.claims for quote in claim.quotes}
    first = True
    for separator, claim in citer.claims(QuoteLLM().stream(citer.prompt)):
        clock.since("first_word")
        if claim.quotes and not set(claim.quotes) <= quoted:
            answer = _grown(answer, "\n\n" if first else separator, claim, citer)
            first = False
            yield answer


def _filled_in(failure: str, answer: Answer, *, backed: bool) -> str:
    if backed:
        return f"{failure}; what it had said stays, and the papers' own sentences complete it."
    wrote = (*answer.dropped, *answer.claims)
    what = failure or (
        "The model wrote nothing"
        if not wrote
        else "The model declined to answer"
        if is_refusal(wrote[0].text)
        else "Nothing that the model wrote stands in the abstracts"
    )
    return f"{what}; the papers' own sentences answer instead."


def _left_out(answer: Answer, claim: Claim) -> Answer:
    return replace(answer, dropped=(*answer.dropped, claim))


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


def _remarks(answer: Answer, citer: Citer, llm: LLM) -> tuple[str, ...]:
    """What a reader should know of how the answer came about."""
    corrected = sum(claim.corrected for claim in answer.claims)
    found = (
        (citer.invented, "{} of its references pointed to no paper and {} removed", "was", "were"),
        (corrected, "at {} of its sentences the reference was wrong or missing and {} put right", "was", "was"),
        (len(answer.dropped), "{} of its sentences {} not supported by the abstracts and left out", "was", "were"),
    )
    said = [text.format(count, one if count == 1 else more) for count, text, one, more in found if count]
    notices = [f"Of what the model wrote: {'; '.join(said)}."] if said and llm.spec != QuoteLLM.spec else []
    if citer.prompt.language and llm.spec != QuoteLLM.spec:
        notices.append(
            "The abstracts are in another language: numbers and names were checked against the quotes, the wording not."
        )
    return tuple(notices)
