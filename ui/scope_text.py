"""Says in words which papers an answer could rest on."""

from __future__ import annotations

from rag.filters import described
from rag.types import Scope


def scope_text(scope: Scope) -> str:
    """Which papers a filter leaves, and how many: "From 1,234 papers: 2024 and later, venue ICML"."""
    if not scope.papers_left:
        return f"No paper meets the filter: {described(scope.only)}"
    return f"From {scope.papers_left:,} paper{'' if scope.papers_left == 1 else 's'}: {described(scope.only)}"
