"""A record's fields, by whatever names people use → a Draft: title, abstract, authors, year, venue, links, ids.

Names are compared without case, spaces and punctuation ("Abstract Note" is "abstractnote"), the likelier first.
It knows the field names of OpenReview, Semantic Scholar, OpenAlex, Crossref and CSL, arXiv, Zotero, Scopus,
Web of Science and IEEE Xplore, and no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan

from .names import authors_of

__all__ = ["KNOWN_ABSTRACTS", "Draft", "drafted", "folded", "is_abstract", "is_known", "record_lists"]

KNOWN_ABSTRACTS = (
    "abstract",
    "abstracttext",
    "abstractnote",
    "paperabstract",
    "summary",
    "description",
    "text",
    "body",
)
_ABSTRACT = (*KNOWN_ABSTRACTS, "ab", "n2", "notesabstract", "abstracts", "content", "abstractinvertedindex")
_TITLE = (
    "title",
    "papertitle",
    "primarytitle",
    "articletitle",
    "documenttitle",
    "displayname",
    "name",
    "ti",
    "t1",
)
_AUTHORS = (
    "authors",
    "author",
    "firstauthors",
    "authorlist",
    "authornames",
    "authorships",
    "creators",
    "creator",
    "au",
    "a1",
)
_YEAR = (
    "year", "pubyear", "publicationyear", "published", "publicationdate", "pubdate", "issued", "date", "py", "y1",
    "datepublished", "publishedprint", "publishedonline", "submitted", "conferencedate", "created", "updatedate",
)  # fmt: skip
_VENUE = (
    "venue", "booktitle", "journal", "journaltitle", "journalname", "conference", "conferencename", "containertitle",
    "publicationtitle", "sourcetitle", "secondarytitle", "journalref", "publicationvenue", "publication", "event",
    "hostvenue", "so", "jo", "t2", "jf",
)  # fmt: skip
_URL = (
    "url", "link", "htmlurl", "paperurl", "landingpageurl", "absurl", "urls", "links", "pdfurl", "pdflink", "pdf",
    "openaccesspdf", "ur",
)  # fmt: skip
_DOI = ("doi", "do", "di")
_ARXIV = ("arxivid", "arxiv", "eprint", "arxivurl", "entryid")
_ID = ("id", "paperid", "corpusid", "forum", "key", "citekey", "bibkey", "uid", "pmid", "docid", "ut")
_ALL = frozenset({*_ABSTRACT, *_TITLE, *_AUTHORS, *_YEAR, *_VENUE, *_URL, *_DOI, *_ARXIV, *_ID})
_LISTS = ("papers", "data", "records", "items", "results", "documents", "docs", "articles", "entries", "hits", "notes",
          "works", "references", "message", "response", "rows")  # fmt: skip

_YEAR_IN = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DOI_IN = re.compile(r"10\.\d{4,9}/\S+")
_ARXIV_IN = re.compile(r"(?<![\w.])(\d{4}\.\d{4,5}|[a-z][a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?![\w/])", re.IGNORECASE)
_WEB = re.compile(r"https?://[^\s<>\"'{}|\\^`]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Draft:
    """A record under one set of names, its texts still raw; "" and None: the record has none.

    own_id: the record's own. doi: without "https://doi.org/". arxiv: without version. url: http or https.
    """

    own_id: str
    title: str
    abstract: str
    authors: tuple[str, ...]
    year: int | None
    venue: str
    url: str
    doi: str
    arxiv: str


def drafted(fields: Mapping[str, object]) -> Draft:
    """The record under our names; the first known name with a value wins."""
    named = _by_folded_name(fields)
    doi, url = _doi(named), _url(named)
    arxiv = _arxiv(named, doi, url)
    derived = f"https://doi.org/{doi}" if doi else f"https://arxiv.org/abs/{arxiv}" if arxiv else ""
    return Draft(
        own_id=_first_text(named, _ID),
        title=_first_text(named, _TITLE),
        abstract=_first_text(named, _ABSTRACT),
        authors=next((names for name in _AUTHORS if (names := authors_of(named.get(name)))), ()),
        year=next((year for name in _YEAR if (year := _year(named.get(name)))), None),
        venue=_first_text(named, _VENUE),
        url=url or derived,
        doi=doi,
        arxiv=arxiv,
    )


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """ "Abstract Note", "abstract_note" → "abstractnote"."""
    return "".join(sign for sign in name.lower() if sign.isalnum())


def is_known(name: str) -> bool:
    """Whether a table's column of that name is understood."""
    return folded(name) in _ALL


def is_abstract(name: str) -> bool:
    """Whether a table's column of that name holds abstracts."""
    return folded(name) in _ABSTRACT


def record_lists(fields: Mapping[str, object]) -> object:
    """The list of records that an object wraps ({"papers": […]}, {"message": {"items": […]}}), else None."""
    named = {folded(name): value for name, value in fields.items()}
    for name in _LISTS:
        value = named.get(name)
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            return value
        if isinstance(value, Mapping) and not any(folded(key) in _ABSTRACT for key in value):
            return record_lists(value)
    return None


def _by_folded_name(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that have a value, wrappers removed: {"value": x}, OpenReview's "content", "externalIds"."""
    named: dict[str, object] = {}
    for name, wrapped in fields.items():
        value = _unwrapped(wrapped)
        if value not in (None, "", [], {}):
            named.setdefault(folded(str(name)), value)
    for inner in ("content", "externalids", "ids"):
        if isinstance(nested := named.get(inner), Mapping):
            del named[inner]
            named = {**named, **_by_folded_name(nested)} if inner == "content" else {**_by_folded_name(nested), **named}
    return named


def _unwrapped(value: object) -> object:
    while isinstance(value, Mapping) and len(value) == 1 and (key := next(iter(value))) in ("value", "$oid", "#text"):
        value = value[key]
    return value.strip() if isinstance(value, str) else value


def _first_text(named: Mapping[str, object], names: Sequence[str]) -> str:
    return next((found for name in names if (found := _text(named.get(name)))), "")


def _text(value: object) -> str:
    """A value as text: parts of a list joined; of an object its name; an inverted index put back in order."""
    if isinstance(value, str):
        return "" if value.strip().lower() in ("n/a", "na", "nan", "none", "null", "-") else value.strip()
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "" if isnan(value) else str(int(value)) if value.is_integer() else str(value)
    if isinstance(value, Sequence):
        return " ".join(filter(None, map(_text, value)))
    return _object_text(value) if isinstance(value, Mapping) else ""


def _object_text(value: Mapping[str, object]) -> str:
    places = [(place, word) for word, at in value.items() if isinstance(at, list) for place in at]
    if places and len(places) >= len(value) and all(isinstance(place, int) for place, _ in places):
        return " ".join(word for _, word in sorted(places, key=lambda pair: int(str(pair[0]))))
    return next((_text(value[name]) for name in ("name", "displayName", "display_name", "raw", "title", "text")
                 if name in value), "")  # fmt: skip


def _year(value: object) -> int | None:
    """The first four-digit year in "2023-05-01", 2023.0, [[2023, 5]] or {"date-parts": [[2023]]}."""
    found = next((match for part in _leaves(value) if (match := _YEAR_IN.search(part))), None)
    return int(found[1]) if found else None


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        for part in value:
            yield from _leaves(part)
    elif value is not None:
        yield str(value)


def _doi(named: Mapping[str, object]) -> str:
    for name in (*_DOI, *_URL):
        for leaf in _leaves(named.get(name)):
            if (found := _DOI_IN.search(leaf)) and (name in _DOI or "doi.org/" in leaf):
                return found[0].rstrip(".,;")
    return ""


def _url(named: Mapping[str, object]) -> str:
    leaves = (leaf for name in _URL for leaf in _leaves(named.get(name)))
    return next((leaf.strip() for leaf in leaves if _WEB.fullmatch(leaf.strip())), "")


def _arxiv(named: Mapping[str, object], doi: str, url: str) -> str:
    """An arXiv number, from its own field, a DOI or address of arXiv's, or a record id that is one."""
    places = [*(leaf for name in _ARXIV for leaf in _leaves(named.get(name)))]
    places += [doi.lower().partition("10.48550/arxiv.")[2], url.partition("arxiv.org/")[2].partition("/")[2]]
    places += [leaf for leaf in _leaves(named.get("id")) if re.fullmatch(r"\d{4}\.\d{4,5}(v\d+)?", leaf)]
    return next((found[1] for place in places if (found := _ARXIV_IN.search(place))), "")
