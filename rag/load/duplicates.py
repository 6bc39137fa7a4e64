"""Papers one by one → whether each was seen before, and where: by DOI, arXiv number, title, abstract or id.

A paper costs about 300 bytes, so that 500,000 fit in 150 MB. No file and no format is known here.
"""

from __future__ import annotations

from array import array

from rag.text import searched, words
from rag.types import Paper

from .identity import letters
from .keys import KeyTable, Places, key_of
from .names import family_of
from .sketch import SIZE, agreement, sketch

__all__ = ["Seen"]

_BANDS, _ROWS = 7, 3  # a pair that shares 0.7 of its runs meets in a band 94 times in 100, one of 0.85 always
_SAME = 0.6
_DIFFERENT = 0.15
_GENERIC_TITLE = 3  # words: "Introduction", "Reply to Smith"


class Seen:
    """The papers of one run so far, as hashes."""

    def __init__(self) -> None:
        self._table = KeyTable()
        self._sketches = array("H")
        self._places = Places()

    def duplicate(self, paper: Paper, arxiv: str, place: str) -> str:
        """Why the paper is one that was seen before ("has the same DOI as a.csv:3"); "": it is new, and remembered.

        place: "file:line", for the papers that come after it.
        """
        outline = sketch(words(searched(paper.abstract)))
        links, titles, bands = _link_keys(paper, arxiv), _title_keys(paper), _band_keys(outline)
        own = key_of("id", paper.id)
        why = self._same_link(links) or self._same_title(paper, titles, outline) or self._same_abstract(bands, outline)
        if not why and (first := self._table.get(own)) is not None:
            why = f"has the same id ({paper.id}) as {self._places[first]}"
        if not why:
            self._remember((own, *links.values(), *titles, *bands), outline, place)
        return why

    def _remember(self, keys: tuple[int, ...], outline: tuple[int, ...], place: str) -> None:
        number = len(self._places)
        self._places.append(place)
        self._sketches.extend(outline)
        for key in keys:
            self._table.add(key, number)

    def _likeness(self, number: int, outline: tuple[int, ...]) -> float:
        return agreement(self._sketches[number * SIZE : (number + 1) * SIZE], outline)

    def _same_link(self, links: dict[str, int]) -> str:
        for kind, key in links.items():
            if (first := self._table.get(key)) is not None:
                return f"has the same {kind} as {self._places[first]}"
        return ""

    def _same_title(self, paper: Paper, titles: tuple[int, ...], outline: tuple[int, ...]) -> str:
        """Two papers may share a title when their abstracts differ, and the title says little or the authors do too."""
        if not titles or (first := self._table.get(titles[0])) is None:
            return ""
        generic = len(words(paper.title)) <= _GENERIC_TITLE
        others = len(titles) > 1 and self._table.get(titles[1]) is None
        if (generic or others) and self._likeness(first, outline) < _DIFFERENT:
            return ""
        return f"has the same title as {self._places[first]}"

    def _same_abstract(self, bands: tuple[int, ...], outline: tuple[int, ...]) -> str:
        for first in {number for band in bands if (number := self._table.get(band)) is not None}:
            likeness = self._likeness(first, outline)
            if likeness >= _SAME:
                return f"has {'' if likeness == 1 else 'nearly '}the same abstract as {self._places[first]}"
        return ""


def _link_keys(paper: Paper, arxiv: str) -> dict[str, int]:
    links = {"DOI": paper.doi.lower(), "arXiv number": arxiv.lower()}
    return {kind: key_of(kind, link) for kind, link in links.items() if link}


def _title_keys(paper: Paper) -> tuple[int, ...]:
    """Of the title alone, and with the first author's family name when there is one."""
    title = "" if paper.untitled else letters(searched(paper.title))
    if not title:
        return ()
    keys = (key_of("title", title),)
    return (*keys, key_of("title", title, letters(family_of(paper.authors[0])))) if paper.authors else keys


def _band_keys(outline: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(
        key_of("band", str(band), *map(str, outline[band * _ROWS : (band + 1) * _ROWS])) for band in range(_BANDS)
    )
