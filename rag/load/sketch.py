"""A text's words → a short sketch; two sketches agree in about the share of three-word runs that the texts share.

MinHash (Broder 1997). No paper is known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["SIZE", "agreement", "sketch"]

SIZE = 24  # standard error of the estimate: at most 0.10
_RUN = 3  # words
_SEED = 1997


def sketch(words: Sequence[str]) -> tuple[int, ...]:
    """SIZE numbers of 16 bits, the same in every run of the program."""
    import numpy as np  # noqa: PLC0415 – only loading needs it, and importing is slow

    runs = {" ".join(words[i : i + _RUN]) for i in range(max(1, len(words) - _RUN + 1))}
    hashes = np.fromiter((crc32(run.encode("utf-8", "replace")) for run in runs), np.uint64, len(runs))
    least = (_multipliers()[:, None] * hashes).min(axis=1)
    # The least of many is small: its high bits say little.
    return tuple(int(value) for value in (least >> np.uint64(16)) & np.uint64(0xFFFF))


def agreement(one: Sequence[int], other: Sequence[int]) -> float:
    """Estimated Jaccard similarity, 0..1."""
    return sum(a == b for a, b in zip(one, other, strict=True)) / SIZE


@lru_cache(maxsize=1)
def _multipliers() -> NDArray[np.uint64]:
    import numpy as np  # noqa: PLC0415 – see above

    return np.random.default_rng(_SEED).integers(1, 1 << 63, SIZE, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
