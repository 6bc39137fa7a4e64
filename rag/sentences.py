"""Turns an abstract into the spans of its sentences.

The rules of a language's abbreviations come from `sentencex`; what it does not know of papers is added here:
formulas are never cut, nor "Eq. 3", "Approx. 5" or a version number. It knows nothing of passages.
"""

from __future__ import annotations

import re

from sentencex import get_sentence_boundaries

from rag.text import formulas

Span = tuple[int, int]

# Abbreviations before a number or a name that sentencex takes for an end.
_HELD = re.compile(
    r"\b(?:eqs?|secs?|sects?|figs?|tabs?|thms?|lem|props?|cors?|defs?|alg|app|approx|ca|cf|refs?|nos?|vols?|pp?"
    r"|vs|resp|incl|viz|al|e\.g|i\.e|w\.r\.t|s\.t|a\.k\.a|i\.i\.d|w\.l\.o\.g|dr|prof|st)\.(?=\s*[^\s])",
    re.IGNORECASE,
)
_DOT = "_"  # one character, so that offsets stay; no rule takes it for a full stop
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
# "et al. We", "the app. It": a full stop all the same where the next word opens a sentence of its own.
_OPENS = re.compile(r"\s+(?:We|The|This|These|Our|It|However|In|To|While|Moreover|Here)\b")


def sentence_spans(text: str) -> tuple[Span, ...]:
    """(start, end) of each sentence, in order, without surrounding white space; text[start:end] is the sentence."""
    masked = _HELD.sub(_hold, _without_formulas(text))
    language = "zh" if len(_CJK.findall(text)) * 5 > len(text) else "en"
    spans = []
    for boundary in get_sentence_boundaries(language, masked):
        start, end = int(boundary["start_index"]), int(boundary["end_index"])
        piece = text[start:end]
        if piece.strip():
            spans.append((start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())))
    return tuple(spans)


def _without_formulas(text: str) -> str:
    for start, end in formulas(text):
        text = text[:start] + "x" * (end - start) + text[end:]
    return text


def _hold(match: re.Match[str]) -> str:
    found = match.group()
    return found if _OPENS.match(match.string, match.end()) else found.replace(".", _DOT)
