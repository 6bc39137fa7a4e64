"""Raw text of papers and questions → the text that is shown, the text that is searched, and its words.

    raw ─ shown ─▶ what readers see and quotes are cut from ─ searched ─▶ what is embedded ─ words ─▶ lexical terms

Shown text is one line: HTML, Markdown and LaTeX mark-up made plain, formulas kept between single dollar signs.
Searched text has plain words for formulas, and ASCII for quotes, dashes and signs: Greek letters become their
names ("$\\epsilon$-greedy", "ε-greedy" → "epsilon-greedy"), "$\\times$" and "×" become "x", "$\\ell_2$" becomes
"l2", "$R^2{>}0.97$" becomes "R^2 > 0.97". No file, paper, model or store is known here.
"""

from __future__ import annotations

import html
import logging
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Protocol, cast

from .markup import FENCE, plain

__all__ = ["formulas", "search_words", "searched", "shown", "words"]

# A single pass can uncover more mark-up ("&amp;lt;i&amp;gt;"); repeating it makes shown(shown(x)) == shown(x).
_MAX_PASSES = 12
# Control and format characters; soft hyphen, zero-width and direction marks; the fences; lone surrogates.
_INVISIBLE_RANGES = ((0, 8), (0x0E, 0x1B), (0x7F, 0x84), (0x86, 0x9F), (0x202A, 0x202E), (0x2060, 0x2069))
_INVISIBLE: dict[int, str | None] = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_INVISIBLE |= dict.fromkeys(code for low, high in _INVISIBLE_RANGES for code in range(low, high + 1))
_INVISIBLE |= dict.fromkeys((0xAD, 0x200B, 0x200E, 0x200F, 0xFEFF, *map(ord, FENCE)))
_MARKUP = re.compile(r"[\\$<*_`~\[]|--|''|://|^\s*#", re.MULTILINE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z][a-zA-Z\d]{1,30});")
_URL = re.compile(r"https?://[^\s<>{}\\$*()\[\]\"]+")

_DISPLAY = re.compile(
    r"(?<!\\)\$\$(?P<a>[^$]+)\$\$|(?<!\\)\\\[(?P<b>.+?)\\\]|(?<!\\)\\\((?P<c>.+?)\\\)"
    r"|\\begin\{(?P<e>equation|align|gather|math|displaymath)(?P<s>\*?)\}(?P<d>.+?)\\end\{(?P=e)(?P=s)\}",
    re.DOTALL,
)
_INLINE = re.compile(r"(?<!\\)\$((?:[^$\\]|\\.){1,1000})\$", re.DOTALL)
_STRONG = re.compile(r"[\\^_={}]")
_MONEY = re.compile(r"\s*\d[\d,.]*\s*(?:[-–]\s*$|[kKmMbB]?\s+[A-Za-z]|[kKmMbB]?[,;.]\s)")
_PROSE_WORD = re.compile(r"(?<![\\A-Za-z])[a-z]{3,}(?![A-Za-z])")
_BRACED = re.compile(r"\{[^{}]*\}")
_TEXT_ONLY = re.compile(r"\\(?:text(?:bf|it|rm|tt|sc|sf)?|emph|mbox)\s*\{([^{}\\^_$]*)\}")


def shown(text: str) -> str:
    """The text on one line, mark-up made plain, formulas between single "$". Idempotent; never raises."""
    for _ in range(_MAX_PASSES):
        cleaner = _pass(text)
        if cleaner == text:
            break
        text = cleaner
    return text


def formulas(text: str) -> Iterator[tuple[int, int]]:
    """Start and end, dollar signs included, of each "$…$" of shown text that is a formula and not a price."""
    start = text.find("$")
    while start >= 0:
        found = _INLINE.match(text, start)
        if found and _is_formula(found[1], text[found.end() : found.end() + 1]):
            yield found.span()
            start = text.find("$", found.end())
        else:
            start = text.find("$", start + 1)


def _pass(text: str) -> str:
    if "&" in text:
        text = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    if not (text.isascii() and text.isprintable()):
        text = text.translate(_INVISIBLE)
    if _MARKUP.search(text):
        kept: list[str] = []
        text = plain(_fenced(text, kept))
        text = re.sub("{}(\\d+){}".format(*FENCE), lambda found: kept[int(found[1])], text)
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _fenced(text: str, kept: list[str]) -> str:
    """The text with formulas and addresses replaced by numbered fences; what stood there goes into `kept`."""

    def keep(what: str) -> str:
        if what not in kept:
            kept.append(what)
        return f"{FENCE[0]}{kept.index(what)}{FENCE[1]}"

    def formula(inside: str) -> str:
        words_only = _TEXT_ONLY.fullmatch(inside.strip())
        return words_only[1] if words_only else keep(f"${' '.join(inside.split())}$")

    if "$$" in text or "\\" in text:
        text = _DISPLAY.sub(lambda found: formula(found["a"] or found["b"] or found["c"] or found["d"]), text)
    pieces, end = [], 0
    for start, stop in formulas(text):
        pieces += [text[end:start], formula(text[start + 1 : stop - 1])]
        end = stop
    text = "".join([*pieces, text[end:]])
    return _URL.sub(lambda found: keep(found[0]), text) if "://" in text else text


def _is_formula(inside: str, after: str) -> bool:
    """Whether "$inside$" is mathematics; "costs $5 and $10" and "from $2 bugs to $9" are not."""
    if not inside.strip() or _MONEY.match(inside):
        return False
    if "\\" not in inside and (after.isdigit() or len(_PROSE_WORD.findall(_BRACED.sub("", inside))) > 1):
        return False
    tight = not (inside[0].isspace() or inside[-1].isspace())
    return tight or bool(_STRONG.search(inside))


# --- what is searched ---------------------------------------------------------------------------------------------

_GREEK_WORD = re.compile("[\u0370-\u03ff\u1f00-\u1fff]{3}")  # Greek prose, not symbols
_GREEK_LETTER = re.compile("[Α-Ωα-ω]")
_SIGNS = str.maketrans(
    dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‘’‚‛′`", "'") | dict.fromkeys("‐‑‒–―−", "-")
    | dict.fromkeys("·⋅∙∘", " ")
    | {
        "—": " - ", "×": "x", "≤": " <= ", "≥": " >= ", "≪": " << ", "≫": " >> ", "≠": " != ", "→": " -> ",
        "←": " <- ", "±": "+-", "≈": " ~ ", "∼": "~", "∞": "infinity", "∈": " in ", "√": " sqrt", "∑": " sum ",
        "∇": " nabla ", "∂": " partial ", "∥": "|", "‖": "|", "⟨": "<", "⟩": ">", "∗": "*", "∝": " proportional to ",
    }
)  # fmt: skip
_FOLDED = re.compile("[\u0300-\u036f]")
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ]+")
_OPERATOR = re.compile(r"\\(arg|cos|cosh|det|exp|inf|ker|lim|ln|log|max|min|mod|Pr|sin|sinh|sup|tan|tanh)(?![a-zA-Z])")
_FRACTION = re.compile(r"\\[dtc]?frac\s*(\d)\s*(\d)")
_SIMPLE = re.compile(r"[A-Za-z0-9\s.,()=+\-/<>%]*")
_BRACED_ONE = re.compile(r"\{([<>=.,])\}|(?<=[_^])\{([A-Za-z0-9]+)\}")
_SUBSCRIPT = re.compile(r"(?<=[A-Za-z])_(?=\d)")
_RELATION = re.compile(r"\s*(?<![<>=!\-])(<=|>=|<<|>>|!=|->|<-|<|>|=)(?![<>=])\s*")


class _Converter(Protocol):
    def latex_to_text(self, latex: str) -> str: ...


def searched(text: str) -> str:
    """The text for embedding and lexical search, on one line. Never raises; may be given raw or shown text."""
    text = shown(text)
    if "$" in text:
        pieces, end = [], 0
        for start, stop in formulas(text):
            pieces += [text[end:start], _apart(text, start, _spoken(text[start + 1 : stop - 1]), stop)]
            end = stop
        text = "".join([*pieces, text[end:]])
    return text if text.isascii() else _ascii_signs(text)


def _apart(text: str, start: int, spoken: str, stop: int) -> str:
    """Keeps "rounds$\\tau$" two words; "$k$NN" and "4$\\times$" stay one."""
    before = " " if text[start - 1 : start].isalpha() and spoken[:1].isalnum() else ""
    after = " " if len(spoken) > 1 and spoken[-1:].isalnum() and text[stop : stop + 1].isalpha() else ""
    return before + spoken + after


def _ascii_signs(text: str) -> str:
    text = _RAISED.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[0]), text)
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    if not _GREEK_WORD.search(text):
        text = _GREEK_LETTER.sub(_greek_name, text)
    return " ".join(text.split())


def _greek_name(found: re.Match[str]) -> str:
    """The letter's name, kept apart from letters beside it: "kτ" → "k tau"."""
    name = unicodedata.name(found[0], found[0]).rpartition(" ")[2].replace("LAMDA", "LAMBDA").lower()
    start, end = found.span()
    before, after = found.string[start - 1 : start], found.string[end : end + 1]
    return " " * before.isalnum() + (name if found[0].islower() else name.capitalize()) + " " * after.isalnum()


@lru_cache(maxsize=1 << 14)
def _spoken(formula: str) -> str:
    """A formula as one would type it: "\\ell_2" → "l2", "4{\\times}" → "4x"."""
    if not _SIMPLE.fullmatch(formula):
        formula = _BRACED_ONE.sub(r"\1\2", _FRACTION.sub(r"\1/\2", _OPERATOR.sub(r" \1 ", formula)))
        formula = _FOLDED.sub("", unicodedata.normalize("NFKD", _ascii_signs(_untexed(formula))))
    return " ".join(_RELATION.sub(r" \1 ", _SUBSCRIPT.sub("", formula)).split())


def _untexed(formula: str) -> str:
    if "\\" not in formula and "{" not in formula:
        return formula
    from pylatexenc.latexwalker import LatexWalkerError  # noqa: PLC0415 – not needed to answer a plain question

    try:
        return _converter().latex_to_text(formula)
    except (LatexWalkerError, ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError):
        return re.sub(r"[\\{}]", " ", formula)


@lru_cache(maxsize=1)
def _converter() -> _Converter:
    from pylatexenc.latex2text import LatexNodes2Text  # noqa: PLC0415 – see above

    # It logs what it cannot convert; without a handler, logging would print that.
    logging.getLogger("pylatexenc").addHandler(logging.NullHandler())

    return cast(_Converter, LatexNodes2Text(math_mode="text", keep_comments=True))


# --- words --------------------------------------------------------------------------------------------------------

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POSSESSIVE = re.compile(r"['’]s\b|['’^]")
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TERM = rf"(?:(?![{_CJK}])[^\W_])+"
_TERMS = re.compile(rf"[{_CJK}]+|{_TERM}(?:(?<=\d)\.(?=\d){_TERM})*(?:[-_]{_TERM}(?:(?<=\d)\.(?=\d){_TERM})*)*")


def search_words(text: str) -> tuple[str, ...]:
    """The words of raw or shown text, as the lexical index has them."""
    return words(searched(text))


def words(text: str) -> tuple[str, ...]:
    """The lower-cased words of searched text, in order, without accents.

    Numbers stay whole: "57,240" → "57240", "0.97", "R^2" → "r2". Hyphens and underscores divide: "state-prediction" →
    "state", "prediction"; of a name and its number the joined form follows as well, so that "GPT-4o" →
    "gpt", "4o", "gpt4o" meets "GPT4o". Chinese, Japanese and Korean are cut into overlapping pairs of characters.
    """
    text = text.casefold()
    if not text.isascii():
        text = unicodedata.normalize("NFC", _FOLDED.sub("", unicodedata.normalize("NFKD", text)))
    text = _POSSESSIVE.sub("", _THOUSANDS.sub("", text))
    found: list[str] = []
    for term in _TERMS.findall(text):
        if term.isalpha() and term.isascii():
            found.append(term)
        else:
            found += _parts(term)
    return tuple(found)


def _parts(term: str) -> list[str]:
    if "\u3040" <= term[0] <= "\ufaff":
        return [term[i : i + 2] for i in range(max(1, len(term) - 1))]
    parts = re.split("[-_]", term)
    names = [a + b for a, b in pairwise(parts) if a.isalpha() and b[0].isdigit()]
    return parts + names
