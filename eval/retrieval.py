"""Scores a run, query → paper → score, by ir_measures' measures, and bounds each by a bootstrap over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.beir import Judgements
from eval.errors import SuiteError
from eval.score import Rate

MEASURES = ("nDCG@10", "R@100", "RR@10")
_DRAWS = 2000

RunScores = Mapping[str, Mapping[str, float]]


def measures(judgements: Judgements, run: RunScores, names: Sequence[str] = MEASURES) -> tuple[Rate, ...]:
    """Each measure's mean over all judged queries; a query without hits counts as zero. Seeded, so repeatable."""
    library = _library()
    parsed = [_parsed(library, name) for name in names]
    scored: dict[str, dict[str, float]] = {name: dict.fromkeys(judgements, 0.0) for name in names}
    for metric in library.iter_calc(parsed, judgements, run):
        scored[str(metric.measure)][metric.query_id] = metric.value
    return tuple(_rate(name, list(scored[name].values())) for name in names)


def _library() -> Any:
    try:
        import ir_measures  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SuiteError('retrieval measures need one more package: pip install "footnote-qa[eval]"') from error
    return ir_measures


def _parsed(library: Any, name: str) -> Any:
    try:
        return library.parse_measure(name)
    except (ValueError, NameError) as error:
        raise SuiteError(f"no measure is called {name!r}; for example nDCG@10, R@100, RR@10, AP") from error


def _rate(name: str, values: Sequence[float]) -> Rate:
    found = np.asarray(values)
    draws = np.random.default_rng(1).integers(0, len(found), size=(_DRAWS, len(found)))
    low, high = np.percentile(found[draws].mean(axis=1), [2.5, 97.5])
    return Rate(name, float(found.mean()), len(found), float(low), float(high))
