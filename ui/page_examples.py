"""Turns the first papers of an index into questions that a newcomer can click."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rag.types import Paper

# Nothing in a corpus of abstracts knows it: the click shows what "cannot answer" looks like.
OUTSIDE = "Who won the football World Cup in 1998?"
_LONGEST = 70  # characters of a title: two lines of a chip on a phone
# "Wisp: …", "The Score Kalman Filter: …", "Wisp, Wisp+ and Whisper: …": a title that begins with what it presents.
_NAMED = re.compile(r"(?P<the>[Tt]he )?(?P<name>[^:?]{2,40}):\s")
# First words after which the part before the colon is a phrase, not a name.
_PHRASE = re.compile(
    r"(?:a|an|beyond|towards?|on|from|when|how|why|what|who|is|are|can|do|does|not|no|to|in|at|with|without|against"
    r"|all|more|less|you|we|it|\w+ing)\b",
    re.IGNORECASE,
)


def example_questions(papers: Iterable[Paper], count: int = 3) -> tuple[str, ...]:
    """Up to `count` questions, one a paper; all but one about something by its name, as far as titles name things."""
    titles = [paper.title.strip().rstrip(".") for paper in papers]
    plain = [title for title in titles if title and "$" not in title and "\\" not in title]
    named = list(_unique(_by_name(title) for title in plain))
    whole = list(_unique(_by_title(title) for title in plain if not _by_name(title) and len(title) <= _LONGEST))
    first = named[: count - 1] if whole else named
    return (*first, *whole)[:count]


def _by_name(title: str) -> str:
    """ "How does the Score Kalman Filter work?", or "" when the title names nothing."""
    match = _NAMED.match(title)
    if not match or len(match["name"].split()) > 4 or _PHRASE.match(match["name"]):
        return ""
    name = f"{'the ' if match['the'] else ''}{match['name']}"
    return f"How {'do' if ' and ' in name else 'does'} {name} work?"


def _by_title(title: str) -> str:
    """A title that asks is asked; another is asked for what it found."""
    return title if title.endswith("?") else f"What does “{title}” find?"


def _unique(questions: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(question for question in questions if question))
