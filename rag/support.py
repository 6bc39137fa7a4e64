"""Tells whether the words that a sentence cites say what the sentence says.

Every number of the sentence must stand in its quotes, and enough of its content words. It knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag.question import content_words
from rag.text import searched
from rag.types import Quote

_NUMBER = re.compile(r"\d+(?:,\d{3}(?!\d))*(?:\.\d+)?")  # 57,240 is one, "[0,1]" holds two
# Half of the content words: a paraphrase keeps its terms, an invention has other ones.
_ENOUGH = 0.5


def supports(sentence: str, quotes: Sequence[Quote]) -> bool:
    """Whether the quotes, taken together, support the sentence; never, when there are none."""
    if not quotes:
        return False
    said = searched(" ".join(quote.text for quote in quotes))
    sentence = searched(sentence)
    if not _numbers(sentence) <= _numbers(said):
        return False
    wanted = {word[:6] for word in content_words(sentence)}
    found = {word[:6] for word in content_words(said)}
    return len(wanted & found) >= _ENOUGH * len(wanted)


def _numbers(text: str) -> frozenset[float]:
    return frozenset(float(number.replace(",", "")) for number in _NUMBER.findall(text))
