"""Finds what a question asks of the papers themselves, "since 2024", "at ICML", "by Smith", and makes it a filter.

Only what is said of papers counts, and only what papers here can meet: "the 2020 election" and "at test time" stay
words of the question. It asks how many papers a filter leaves, and knows nothing else of the index.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from vectorstore.filter import Filter, name_words

_PAPERS = r"(?:papers?|articles?|works?|stud(?:y|ies)|publications?|preprints?|research|literature)"
_FOUND = r"(?:methods?|approach(?:es)?|techniques?|algorithms?|models?|benchmarks?|data ?sets?|results?|contributions?)"
_SAID = r"(?:published|presented|appear(?:ed|s|ing)?|accepted|written|released|submitted|came out)"
_A, _B = r"(?P<a>(?:19|20)\d\d)", r"(?P<b>(?:19|20)\d\d)"
_ON = r"(?: onwards?| on(?=[ ?.!]*$|,))"
_BOUNDS = (  # years as they are said, and what has to be added to the first and the last; None for no bound
    (rf"(?:between|from) {_A} (?:and|to|until|through|-|–) {_B}", 0, 0),
    (rf"{_A} ?[-–] ?{_B}(?= {_PAPERS})", 0, 0),
    (rf"since {_A}", 0, None),
    (rf"from {_A}{_ON}", 0, None),
    (rf"(?:after|later than|newer than|more recent than) {_A}", 1, None),
    (rf"(?:before|earlier than|older than|prior to) {_B}", None, -1),
    (rf"(?:until|up to|till|through) {_B}", None, 0),
    (rf"(?:in|of|from) (?:the year )?{_A}", 0, 0),
    (rf"{_A}(?= {_PAPERS})", 0, 0),
)
_YEARS = tuple((re.compile(rf"\b{pattern}\b", re.IGNORECASE), first, last) for pattern, first, last in _BOUNDS)
# Such words bound years whatever they stand beside; "in 2020" does so only where papers are spoken of.
_BOUND = re.compile(r"since|after|before|newer|older|later|earlier|more recent|prior", re.IGNORECASE)
_WORD = r"[A-Z][\w'’.-]*"
_NAME = rf"{_WORD}(?: (?:(?:de|van|von|der|la|le|al) )?{_WORD}){{0,3}}"
_WHEN = r"(?:(?: |'|’)(?P<{}>(?:19|20)\d\d))?"
_VENUE = re.compile(
    rf"\b(?:at|in|from) (?:the )?(?P<at>{_NAME}){_WHEN.format('year')}\b"
    rf"|\b(?P<own>[A-Z]\w*[A-Z]\w*){_WHEN.format('when')}(?= {_PAPERS}\b)"
)
_AUTHOR = re.compile(
    rf"\bby (?P<by>{_NAME})(?: et al\b\.?)?"
    rf"|\b(?P<al>{_WORD}) et al\b\.?(?:['’]s)?"
    rf"|\b(?P<own>{_NAME})['’]s(?= (?:first |last |recent |new |other )?{_PAPERS}\b)"
)
_SPOKEN = re.compile(rf"\b(?:{_PAPERS}|{_FOUND}|{_SAID})\b(?: \w+){{0,6}}? ?$", re.IGNORECASE)
_WRITTEN = re.compile(rf"\b(?:{_PAPERS}|{_SAID})(?: \w+)? ?$", re.IGNORECASE)
Span = tuple[int, int]
NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Constrained:
    """question: without its constraints. only: these as a filter. unmet: those that no paper meets, and aside: those of
    which this collection says nothing, as the question has them.
    """

    question: str
    only: Filter = NO_FILTER
    unmet: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()


def constrained(question: str, matching: Callable[[Filter], int], stated: Collection[str]) -> Constrained:
    """The question with its constraints taken out of it.

    matching: how many papers a filter leaves. stated: what is known of the papers: "year", "venue", "author".
    """
    found, taken = Constrained(question), list[Span]()
    for place, what, part, sure in _asked(question):
        if any(start < place[1] and place[0] < end for start, end in taken):
            continue
        said = " ".join(question[slice(*place)].split())
        if what in stated and matching(part):
            found = replace(found, only=_both(found.only, part))
        elif sure and what in stated:
            found = replace(found, unmet=(*found.unmet, said))
        elif sure:
            found = replace(found, aside=(*found.aside, said))
        else:
            continue
        taken.append(place)
    return replace(found, question=_without(question, taken)) if taken else found


def _asked(question: str) -> Iterator[tuple[Span, str, Filter, bool]]:
    """Where a constraint may stand, what of, as what filter, and whether it is one even when no paper meets it."""
    for found in _VENUE.finditer(question):
        name, year = found["at"] or found["own"], found["year"] or found["when"]
        acronym = bool(re.search(r"[A-Z]\w*[A-Z]", name))
        if name_words(name) and (acronym or _WRITTEN.search(question[: found.start()])):
            when = int(year) if year else None
            sure = acronym and bool((found["own"] and year) or _SPOKEN.search(question[: found.start()]))
            yield found.span(), "venue", Filter(when, when, (name,)), sure
    yield from _years(question)
    for found in _AUTHOR.finditer(question):
        name = found["by"] or found["al"] or found["own"]
        # "optimised by Adam": a single name after "by" is a person's only where something was written.
        if name_words(name) and (not found["by"] or " " in name or _WRITTEN.search(question[: found.start()])):
            yield found.span(), "author", Filter(authors=(name,)), False


def _years(question: str) -> Iterator[tuple[Span, str, Filter, bool]]:
    for pattern, first, last in _YEARS:
        for found in pattern.finditer(question):
            before, after = question[: found.start()], question[found.end() :]
            sure = bool(_SPOKEN.search(before) or re.match(rf" {_PAPERS}\b", after))
            if sure or (_BOUND.match(found.group()) and not (before.strip() and after.strip(" ?.!"))):
                named = found.groupdict()
                start, end = named.get("a"), named.get("b") or named.get("a")
                years = Filter(
                    None if first is None or start is None else int(start) + first,
                    None if last is None or end is None else int(end) + last,
                )
                yield found.span(), "year", years, sure


def narrowed(given: Filter, asked: Filter) -> Filter:
    """What is given, and of what is asked that which is not given: years, venues and authors each as a whole."""
    years = given if (given.first_year, given.last_year) != (None, None) else asked
    return Filter(
        years.first_year,
        years.last_year,
        given.venues or asked.venues,
        given.authors or asked.authors,
        given.papers or asked.papers,
    )


def _both(one: Filter, other: Filter) -> Filter:
    """What both filters leave, the second adding names to the first's."""
    return Filter(
        other.first_year if one.first_year is None else one.first_year,
        other.last_year if one.last_year is None else one.last_year,
        one.venues + other.venues,
        one.authors + other.authors,
        one.papers or other.papers,
    )


def _without(question: str, taken: list[Span]) -> str:
    for start, end in sorted(taken, reverse=True):
        question = f"{question[:start].rstrip(' ,')} {question[end:].lstrip(' ,')}"
    return " ".join(question.split()).replace(" ?", "?")
