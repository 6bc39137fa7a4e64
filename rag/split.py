"""Turns a Paper into Passages: runs of whole sentences that cover its abstract.

It knows sentences and characters, and nothing of tokens, models or stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, groupby
from math import ceil

from rag.sentences import Span, sentence_spans
from rag.types import Paper
from vectorstore.passage import Passage

# 900 characters are about 200 tokens, so that title and passage fit the 256 that all-MiniLM-L6-v2 reads.
MAX_CHARACTERS = 900
CHUNKING = f"sentences:{MAX_CHARACTERS}"


def split(paper: Paper) -> tuple[Passage, ...]:
    """The paper's passages in order, of about equal length; only a sentence longer than the limit stands above it."""
    spans = sentence_spans(paper.abstract)
    source = paper.bibliography
    return tuple(
        Passage(f"{paper.id}#{start}", paper.abstract[start:end], start, end, source) for start, end in _runs(spans)
    )


def _runs(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The fewest runs of equal length, as near as sentences allow, that keep the limit."""
    # Equal ones rather than full ones and a rest: a last passage of ten words would match anything.
    if not spans:
        return ()
    fewest = ceil((spans[-1][1] - spans[0][0]) / MAX_CHARACTERS)
    cuts = (_cut(spans, parts) for parts in count(fewest))
    runs = next(runs for runs in cuts if all(map(_fits, runs)))
    return tuple((run[0][0], run[-1][1]) for run in runs)


def _fits(run: Sequence[Span]) -> bool:
    return len(run) == 1 or run[-1][1] - run[0][0] <= MAX_CHARACTERS


def _cut(spans: Sequence[Span], parts: int) -> tuple[tuple[Span, ...], ...]:
    """The sentences by the part, of so many equal ones, that their middle lies in."""
    first, last = spans[0][0], spans[-1][1]

    def part(span: Span) -> int:
        return int((sum(span) / 2 - first) * parts / (last - first))

    return tuple(tuple(run) for _, run in groupby(spans, part))
