"""Plain text, abstracts divided by blank lines → Records, a block at a time.

A short first block is a heading, and tells venue and year ("NeurIPS 2026 论文列表"). A block may be wrapped over
several lines; its first line is a title when it is short and the text after it is not. Short and long blocks in
turn are titles and abstracts. A block of long lines that each end a sentence is an abstract a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from .files import TextFile
from .record import Record, Reject, shortened

__all__ = ["read", "venue_and_year"]

_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’)\]*_$]*$")
_SHORT = 25  # words: longer than nearly every title, shorter than nearly every abstract
_LONG_LINE = 200  # characters: no text is wrapped that wide
_LOOK_AHEAD = 5
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ABOUT_LISTS = re.compile(
    r"\b(?:the|of|in|at|from|for|accepted|list|listing|papers?|abstracts?|titles?|proceedings|collection|all|oral|poster"
    r"|orals|posters|main|track|and)\b|论文|列表|摘要|接收|录用|会议|集|合集|[年#*_:：,，()（）\-–—|]",
    re.IGNORECASE,
)
_LISTING = re.compile(r"\b(?:papers|abstracts|proceedings|accepted|conference|workshop)\b|论文|摘要", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines without a blank one between them; line: where it begins."""

    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.lines)

    @property
    def short(self) -> bool:
        return _is_short(self.text)


def read(file: TextFile) -> Iterator[Record | Reject]:
    """One Record an abstract; where: the line that its block begins on."""
    blocks = _blocks(file.lines)
    ahead = list(islice(blocks, _LOOK_AHEAD))
    venue, year = "", ""
    if _begins_with_heading(ahead):
        venue, year = venue_and_year(ahead.pop(0).text)
    common = {"venue": venue, "year": year}
    all_blocks = chain(ahead, blocks)
    if _alternates(ahead):
        yield from _in_turn(file.name, all_blocks, common)
        return
    for block in all_blocks:
        for line, title, text in _abstracts(block):
            yield Record(f"{file.name}:{line}", {"title": title, "abstract": text, **common})


def venue_and_year(heading: str) -> tuple[str, str]:
    """What a heading tells: "Proceedings of ICML 2024" → "ICML", "2024"; "" for what it does not."""
    year = _YEAR.search(heading)
    venue = " ".join(_ABOUT_LISTS.sub(" ", _YEAR.sub(" ", heading)).split())
    return (venue if len(venue.split()) <= 8 else ""), (year[0] if year else "")


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    gathered: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        if stripped := line.strip(" \t\r\n\f\v\0\ufeff\xa0"):
            gathered.append(stripped)
        elif gathered:
            yield _Block(number - len(gathered), tuple(gathered))
            gathered = []
    if gathered:
        yield _Block(number - len(gathered) + 1, tuple(gathered))


def _is_short(text: str) -> bool:
    """Whether it can be a heading or a title: few words, and no sentence. 25 words of Chinese are 60 signs."""
    return len(text.split()) <= _SHORT and len(text) <= 8 * _SHORT and not _SENTENCE_END.search(text)


def _begins_with_heading(ahead: Sequence[_Block]) -> bool:
    """A short first block, unless it is the first title of titles and abstracts in turn."""
    if len(ahead) < 2 or not ahead[0].short:
        return False
    first = ahead[0].text
    if ahead[1].short or _LISTING.search(first) or (_YEAR.search(first) and len(first.split()) <= 6):
        return True
    return len(ahead) > 2 and not ahead[2].short


def _alternates(ahead: Sequence[_Block]) -> bool:
    """Title, abstract, title, abstract: at least one pair, and no exception among the first blocks."""
    return len(ahead) > 1 and all(block.short == (place % 2 == 0) for place, block in enumerate(ahead))


def _in_turn(name: str, blocks: Iterable[_Block], common: dict[str, str]) -> Iterator[Record | Reject]:
    title: _Block | None = None
    for block in blocks:
        if block.short:
            if title is not None:
                yield Reject(f"{name}:{title.line}", shortened(title.text), "has no abstract")
            title = block
        else:
            place, named = (title.line, title.text) if title else (block.line, "")
            yield Record(f"{name}:{place}", {"title": named, "abstract": block.text, **common})
            title = None
    if title is not None:
        yield Reject(f"{name}:{title.line}", shortened(title.text), "has no abstract")


def _abstracts(block: _Block) -> Iterator[tuple[int, str, str]]:
    """Line, title and text of each abstract in a block; most blocks are one, without a title."""
    lines = block.lines
    if len(lines) > 1 and all(len(line) >= _LONG_LINE and _SENTENCE_END.search(line) for line in lines):
        yield from ((block.line + offset, "", line) for offset, line in enumerate(lines))
    elif len(lines) > 1 and _is_short(lines[0]) and len(lines[1]) >= max(_LONG_LINE, 2 * len(lines[0])):
        yield block.line, lines[0], " ".join(lines[1:])
    else:
        yield block.line, "", block.text
