"""What can go wrong with an index.

StoreError                what every error of this package is
├── StoreMissing          there is no index at that place
├── StoreMismatch         the index was made with another embedder, chunking or schema
└── StoreUnusable         the place cannot be read or written, or does not answer
"""

from __future__ import annotations


class StoreError(Exception):
    """Base of every error of `vectorstore`; its message is one line: what, where, what to do."""


class StoreMissing(StoreError):
    """There is no index at the place that was named."""


class StoreMismatch(StoreError):
    """The index exists, but what made it is not what now opens it."""


class StoreUnusable(StoreError):
    """The place cannot be read or written, or no server answers there."""

    @classmethod
    def at(cls, where: object, error: Exception) -> StoreUnusable:
        """An engine's own error, on one line with what can be done."""
        what = " ".join(str(error).split()) or type(error).__name__
        return cls(
            f"the index at {where} cannot be used: {what}; "
            f"if it is damaged, rebuild it: footnote index --rebuild PAPERS"
        )
