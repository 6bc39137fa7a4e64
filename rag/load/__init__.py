"""Papers files → Paper values, and by name what was left out.

    file ─ files ─▶ text ─ sniff ─▶ format ─ reader ─▶ Record ─ fields ─▶ Draft ─ papers ─▶ Paper
                                                  └─▶ Reject                         └─▶ Reject

Formats, encodings and field names end here: nothing after it knows where a paper came from. It knows no store,
embedder or model.
"""

from __future__ import annotations

from .files import Meter
from .papers import load_papers
from .record import Reject

__all__ = ["Meter", "Reject", "load_papers"]
