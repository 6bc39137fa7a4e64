"""What a paper says of itself → an id that stays the same whatever else is in the file."""

from __future__ import annotations

import hashlib
import unicodedata

from .fields import Draft
from .names import family_of

__all__ = ["letters", "paper_id"]

_DIGITS = 12  # 48 bits: among 500,000 papers, one chance in 2,000 that any two share an id


def paper_id(draft: Draft) -> str:
    """The record's own id, else of its DOI, its arXiv number, its title and first author, or its abstract."""
    if draft.own_id:
        return draft.own_id
    if draft.doi:
        return f"doi:{draft.doi.lower()}"
    if draft.arxiv:
        return f"arxiv:{draft.arxiv}"
    if title := letters(draft.title):
        family = letters(family_of(draft.authors[0])) if draft.authors else ""
        return f"t-{_hash(f'{title} {family}')}"
    return f"a-{_hash(letters(draft.abstract))}"


def letters(text: str) -> str:
    """The letters and digits alone, lower-case and without accents: what survives another export of the same paper."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if sign.isalnum())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
