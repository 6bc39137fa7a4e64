"""Cuts words to their stems, so that "models" finds "model"."""

from __future__ import annotations

from functools import lru_cache

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")


@lru_cache(maxsize=200_000)  # a corpus has some 100,000 different words
def stem(word: str) -> str:
    """The stem of a lower-case English word (Porter 2); words in other scripts stay as they are."""
    return str(_STEMMER.stemWord(word))
