"""BM25 of a question and papers, from the words of both (Robertson and Zaragoza 2009, with SQLite FTS5's constants)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

# Weight of a title's words against the text's: 3 gave the best nDCG@10 alone on SciFact train (eval/LOG.md).
TITLE_WEIGHT = 3
_K1, _B = 1.2, 0.75
_LEAST_IDF = 1e-6  # of a word in more than half of the papers


class BM25:
    """papers: how many there are; mean_length: their words on average; frequencies: word → papers that it stands in."""

    def __init__(self, papers: int, mean_length: float, frequencies: Mapping[str, int]) -> None:
        self._mean_length = max(1.0, mean_length)
        self._weights = {word: _idf(papers, frequency) * (_K1 + 1) for word, frequency in frequencies.items()}

    def score(self, title: str, text: str, length: int) -> float:
        """Of all words and a paper, 0 and up. title, text: words with spaces between; length: how many in both."""
        counts: Counter[str] = Counter(filter(self._weights.__contains__, text.split()))
        for word in filter(self._weights.__contains__, title.split()):
            counts[word] += TITLE_WEIGHT
        norm = _K1 * (1 - _B + _B * length / self._mean_length)
        return sum(self._weights[word] * count / (count + norm) for word, count in counts.items())


def _idf(papers: int, frequency: int) -> float:
    return max(_LEAST_IDF, math.log((papers - frequency + 0.5) / (frequency + 0.5)))
