"""The markers that models write, brought into one form as they stream: 【1】, [^1], (1) become [1]; [1-3], [1, 2, 3].

Brackets that are no markers, of code, formulas and "x[1]", are set aside as private-use characters until `restored`.
Anything that may still become a marker is held back until it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

OPEN, CLOSE = "\ue010", "\ue011"  # stand for "[" and "]" that open and close no marker
# Brackets around numbers in the evidence that a model is shown; one that copies them cites nothing.
INERT = "⟦⟧"
_ASIDE = str.maketrans("[]", OPEN + CLOSE)
_FRESH = {ord(OPEN): None, ord(CLOSE): None, ord(INERT[0]): OPEN, ord(INERT[1]): CLOSE}
_BACK = str.maketrans(OPEN + CLOSE, "[]")

_DASH = r"\-–—~"
_KEYS = rf"\d{{1,3}}(?:\s*[,;、，；{_DASH}]\s*\d{{1,3}})*"
_SQUARE = re.compile(rf"[\[【［]\s*\^?\s*(?P<keys>{_KEYS})\s*(?:†[^\]】］\n]{{0,40}})?[\]】］]")
_SQUARE_COMING = re.compile(rf"[\[【［][\^\d\s,;、，；{_DASH}]{{0,40}}(?:†[^\]】］\n]{{0,40}})?$")
_ROUND = re.compile(rf"[(（]\s*(?P<keys>{_KEYS})\s*[)）](?=\s*(?:[.!?。！？,;]|[(（]\d|\n|\Z))")
_ROUND_COMING = re.compile(rf"[(（][\d\s,;、，；{_DASH}]{{0,40}}(?:[)）][^\S\n]*)?$")
_VERBATIM = re.compile(r"```.*?```|``[^`\n]+``|`[^`\n]+`|\\\[.*?\\\]|\\\(.*?\\\)", re.DOTALL)
_VERBATIM_COMING = re.compile(
    r"```(?:(?!```).){0,2000}$|``?[^`\n]{0,200}$|\\(?:[\[(](?:(?!\\[\])]).){0,400})?$", re.DOTALL
)
_STARTS = re.compile(r"[\[【［(（`\\]")
_INTERVAL = re.compile(r"(?:\b(?:intervals?|ranges?|CI|between|bounds?|domain|within)|∈)\s*$", re.IGNORECASE)
_CODE = re.compile(r"(?:^|[^\w])(?:[A-Za-z]{1,2}|[A-Za-z_]\w*[\d_]\w*)$|[$\\]$")
_WIDEST = 9  # keys in a range; more are an interval
_CONTEXT = 40  # characters before a bracket that tell what it is


def normalised(pieces: Iterable[str]) -> Iterator[str]:
    """The stream with its markers in one form; wherever it is cut, the same text comes out."""
    before, rest = "", ""
    square = False
    for piece, last in _with_last(pieces):
        rest += piece.translate(_FRESH)
        made: list[str] = []
        while rest:
            start = _STARTS.search(rest)
            plain = rest[: start.start()] if start else rest
            # Space before a bracket waits with it, for a marker may swallow what lies between.
            made.append(plain)
            before = (before + plain)[-_CONTEXT:]
            rest = rest[len(plain) :]
            if not start:
                break
            found = _construct(rest, before, last=last, round_too=not square)
            if found is None:
                break
            text, length = found
            square = square or (text.startswith("[") and rest[0] not in "(（")
            made.append(text)
            before = (before + text)[-_CONTEXT:]
            rest = rest[length:]
        yield "".join(made)


def restored(text: str) -> str:
    """The text with its set-aside brackets in their places."""
    return text.translate(_BACK)


def _with_last(pieces: Iterable[str]) -> Iterator[tuple[str, bool]]:
    for piece in pieces:
        yield piece, False
    yield "", True


def _construct(text: str, before: str, *, last: bool, round_too: bool) -> tuple[str, int] | None:
    """What the bracket at the beginning of the text becomes, and how much it takes; None while that is not known."""
    verbatim, square = text[0] in "`\\", text[0] in "[【［"
    pattern = _VERBATIM if verbatim else _SQUARE if square else _ROUND
    coming = _VERBATIM_COMING if verbatim else _SQUARE_COMING if square else _ROUND_COMING
    found = pattern.match(text)
    if not last and coming.match(text) and not (verbatim and found):
        return None
    code = text[0] == "[" and bool(_CODE.search(before))
    if not found:
        return text[0].translate(_ASIDE) if code else text[0], 1
    if verbatim or code:
        return found.group().translate(_ASIDE), found.end()
    return _marker(found, before, square=square, round_too=round_too), found.end()


def _marker(found: re.Match[str], before: str, *, square: bool, round_too: bool) -> str:
    """The marker in its one form, or its text with the brackets aside when it is an interval."""
    keys = _expanded(found["keys"])
    if not keys or _INTERVAL.search(before):
        return found.group().translate(_ASIDE)
    if not square and not (round_too and before[-1:].isspace()):
        return found.group()
    return f"[{', '.join(map(str, keys))}]"


def _expanded(written: str) -> tuple[int, ...]:
    """The keys of "1, 3-5"; none of an interval such as "0, 1" or "10-90"."""
    keys: list[int] = []
    for part in re.split(r"[,;、，；]", written):
        ends = [int(end) for end in re.split(rf"[{_DASH}]", part)]
        if len(ends) > 2 or not 0 <= ends[-1] - ends[0] <= _WIDEST:
            return ()
        keys += range(ends[0], ends[-1] + 1)
    interval = len(keys) > 1 and not all(0 < key < 100 for key in keys)
    return () if interval else tuple(dict.fromkeys(keys))
