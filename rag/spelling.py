"""Mends misspelt words of a question, by the words that stand in the index.

A word is only touched when the index does not have it, the embedder's own vocabulary does not know it for a word
either, and one word of the index is a letter or two away. The reader is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from rag.embed import Embedder, TokenEmbedder

_WORD = re.compile(r"(?<![\w-])[A-Za-z][a-z]{4,}(?![\w-])")
_MOST = 40  # words looked at; a whole abstract that someone pastes needs no mending
_LONG = 8  # letters; from here on two mistakes are forgiven


class Speller:
    """document_frequency: word → in how many passages; vocabulary: the index's words, asked for once when needed."""

    def __init__(
        self,
        embedder: Embedder,
        document_frequency: Callable[[str], int],
        vocabulary: Callable[[], tuple[str, ...]],
    ) -> None:
        self._embedder = embedder
        self._document_frequency = document_frequency
        self._vocabulary = vocabulary

    def corrected(self, question: str) -> tuple[str, tuple[str, ...]]:
        """The question with misspelt words mended, and a notice that says which."""
        words = list(dict.fromkeys(_WORD.findall(question)))[:_MOST]
        mended = {word: right for word in words if (right := self._right(word))}
        if not mended:
            return question, ()
        said = ", ".join(f"“{word}” as “{right}”" for word, right in sorted(mended.items()))
        return _WORD.sub(lambda m: mended.get(m.group(), m.group()), question), (f"Read {said}.",)

    def _right(self, word: str) -> str:
        low = word.lower()
        if self._is_word(low) or self._document_frequency(low):
            return ""
        allowed = 2 if len(low) >= _LONG else 1
        found = process.extractOne(low, self._words.get(low[0], ()), scorer=OSA.distance, score_cutoff=allowed)
        return str(found[0]) if found else ""

    def _is_word(self, word: str) -> bool:
        # An embedder's word pieces hold the common words of its language whole. One that shows none is not asked.
        if not isinstance(self._embedder, TokenEmbedder):
            return True
        return len(self._embedder.embed_tokens([word])[0].spans) == 1

    @cached_property
    def _words(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self._vocabulary():
            if word.isalpha() and len(word) > 3:
                found.setdefault(word[0], []).append(word)
        return found
