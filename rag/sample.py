"""Where the sample corpus lies: 19 papers of NeurIPS 2026, retold for this project."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def sample_path() -> Path:
    """The sample corpus as a file."""
    return Path(str(files("rag") / "data" / "sample.jsonl"))
