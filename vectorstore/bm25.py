"""BM25 of a question and papers, from the words of both (Robertson and Zaragoza 2009, with SQLite FTS5's constants)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

# Weight of a title's words against the text's: 3 gave the best nDCG@10 alone on SciFact train (eval/LOG.md).
TITLE_WEIGHT = 3
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6  # of a word in more than half of the papers


@dataclass(frozen=True, slots=True)
class BM25:
    """papers: how many there are; mean_length: their words on average; frequencies: word → papers that it stands in."""

    papers: int
    mean_length: float
    frequencies: Mapping[str, int]

    def score(self, title: str, text: str, length: int) -> float:
        """Of all words and a paper, 0 and up. title, text: words with spaces between; length: how many in both."""
        counts: Counter[str] = Counter(filter(self.frequencies.__contains__, text.split()))
        for word in filter(self.frequencies.__contains__, title.split()):
            counts[word] += TITLE_WEIGHT
        norm = _K1 * (1 - _B + _B * length / max(1.0, self.mean_length))
        return sum(self._idf(word) * count * (_K1 + 1) / (count + norm) for word, count in counts.items())

    def _idf(self, word: str) -> float:
        frequency = self.frequencies[word]
        return max(_LEAST_IDF, math.log((self.papers - frequency + 0.5) / (frequency + 0.5)))
