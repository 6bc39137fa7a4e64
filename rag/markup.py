"""HTML tags, LaTeX text commands and Markdown in prose → the prose alone.

It must not know formulas: rag.text fences them off with private-use characters before prose comes here. Each step
may be repeated on its own result without harm. No file, paper or model is known here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

__all__ = ["FENCE", "plain"]

FENCE = "\ue000", "\ue001"  # opens and closes what must stay as it is
_MAX_NESTING = 8
_CJK = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_LETTER = rf"[^\W_{_CJK}]"  # CJK text has no spaces, so emphasis may touch its characters

# HTML: only elements that are known, with attributes that look like some, so that "a <b and c> d", "<s>" and
# "<image>" stay.
_ATTRS = r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))*\s*/?>"
_DROPPED = re.compile(
    r"<!--.*?-->|<(script|style)\b[^>]*>.*?</\1\s*>|<(?:jats:)?title>\s*abstract\s*</(?:jats:)?title>",
    re.DOTALL | re.IGNORECASE,
)
_SUP = re.compile(rf"(?<=[\w)\]])<(?:jats:)?sup{_ATTRS}\s*([+\-−–]?\w)\s*</(?:jats:)?sup>", re.IGNORECASE)
_SUP_NUMBER = re.compile(rf"(?<=[\w)\]])<(?:jats:)?sup{_ATTRS}\s*([+\-−–]?\d+)\s*</(?:jats:)?sup>", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"</?(?:(?:jats:)?(?:a|abbr|b|big|bold|em|ext-link|font|i|inline-formula|italic|mark|monospace|q|roman|sc|small"
    r"|span|strong|sub|sup|tex-math|tt|u|underline|xref)|mml:\w+)" + _ATTRS,
    re.IGNORECASE,
)
_BLOCK_TAG = re.compile(
    r"</?(?:jats:)?(?:abstract|article|blockquote|body|br|center|code|dd|div|dl|dt|h[1-6]|head|hr|html|img|li|list"
    r"|list-item|ol|p|pre|sec|section|table|tbody|td|th|title|tr|ul)" + _ATTRS,
    re.IGNORECASE,
)

# Markdown
_MD_LINE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+(?=[A-Z])|\*[ \t]+(?=\w))", re.MULTILINE)
_MD_LINK = re.compile(r"!?\[([^\[\]]+)\]\(\s*([^\s()]+)\s*\)")
_STAR = re.compile(rf"(?<!{_LETTER})(?<![\\*])(\*{{1,3}})(?=[^\s*])([^*]{{1,400}}?)\1(?!{_LETTER})(?!\*)")
_UNDERSCORE = re.compile(rf"(?<!{_LETTER})(?<![\\_])(_{{1,3}})(?=[^\s_])(.{{0,400}}?[^\s_])\1(?!{_LETTER})(?!_)")
_INITIAL = re.compile(rf"(?<!{_LETTER})(\*{{2,3}})([A-Za-z]{{1,3}})\1(?=[A-Za-z])")  # "**M**ARL"
_CODE = re.compile(r"(?<!`)(`{1,2})([^`'\s](?:[^`']{0,80}[^`'\s])?)\1(?!`)")

# LaTeX in prose
_ARG = r"\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]*)\}"
_CITED = re.compile(
    r"\s*~?\s*\\(?:[cC]ite[a-z]{0,8}|footnotemark|footnotetext|footnote|label|nocite|parencite|textcite|thanks"
    r"|vspace|hspace|index)\*?" + _ARG
)
_TWO_ARGS = re.compile(r"\\(href|hyperlink|textcolor|colorbox)" + _ARG + r"\s*\{([^{}]*)\}")
_ONE_ARG = re.compile(
    r"\\(?:emph|text(?:bf|it|md|normal|rm|sc|sf|sl|tt|up)?|underline|uline|mbox|url|path|uppercase|lowercase"
    r"|ensuremath|math[a-z]{2,4}|acl|acs|ac|acp|gls|enquote|Verb|(?:sub)*section|paragraph)\*?" + _ARG
)
_DECLARED = re.compile(
    r"\{\s*\\(?:em|bf|it|sc|sl|sf|tt|rm|bfseries|itshape|ttfamily|scshape|small|large|tiny)\b\s*([^{}]*)\}"
)
_SWITCH = re.compile(
    r"\\(?:em|bf|it|sc|sl|tt|rm|noindent|par|small|large|tiny|newline|item|xspace|space|quad|qquad)(?![a-zA-Z])(?:\{\})?"
    r"|\\[nrt](?=[A-Z\d\s\\-]|$)"  # line breaks that a JSON writer escaped twice
)
_OWN_MACRO = re.compile(r"\\(?!frac|sqrt|begin|end)[a-zA-Z]{3,}\{([A-Za-z][\w\s\-,.()]*)\}")
_BRACED_SIGN = re.compile(r"\{([^\x00-\x7f])\}")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\{[a-zA-Z]+\*?\}(?:\[[^\]]*\])?")
_MARKS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
    "b": "\u0331",
}  # fmt: skip
_APOSTROPHE = re.compile(r"(?<=[a-z])\\'(?=(?:s|t|re|ve|ll|d|m)\b)")  # "don\'t" is no accent
_ACCENT = re.compile(
    r"\\(?:([`'^\"~=.])\s*|([uvHckrdb])(?![a-zA-Z]))(?:\s*\{\s*(\\?[A-Za-z])\s*\}|\s*(\\[ij](?![a-zA-Z])|[A-Za-z]))"
)
_LETTERS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
    "AA": "Å", "i": "ı", "j": "ȷ", "dh": "ð", "th": "þ",
}  # fmt: skip
_SIGNS = {
    "ie": "i.e.", "eg": "e.g.", "etal": "et al.", "dots": "…", "ldots": "…", "textdegree": "°", "texttimes": "×",
    "textmu": "µ", "textregistered": "®", "texttrademark": "™", "copyright": "©", "pounds": "£", "euro": "€",
    "S": "§", "textasciitilde": "~", "textendash": "–", "textemdash": "—", "textbackslash": "", "backslash": "",
}  # fmt: skip
_COMMAND = re.compile(r"\\([a-zA-Z]+)(\{\}| (?=[a-z]))?")
_ESCAPED = re.compile(r"\\([%&#_${}\-/!,;: ])")
_GONE = {"-": "", "/": "", "!": "", ",": " ", ";": " ", ":": " ", " ": " "}
_TIE = re.compile(r"(?<=[A-Za-z.,:)\]}\ue001])~+(?=[\w\\(\[{\ue000])|\\\\(?:\[[^\]]*\])?|~{2,}")
_DASHES = re.compile(r"(?<!-)(-{2,3})(?!-)(?!(?<=\s--)[a-zA-Z])")  # " --flag" is an option, not a dash
_SINGLE_QUOTES = re.compile(r"(?<![\w`])`([^`'\s](?:[^`']{0,120}[^`'\s])?)'(?!\w)")


def plain(text: str) -> str:
    """The prose without its mark-up; white space is left as it falls."""
    for sign, step in _STEPS:
        if sign in text:
            text = step(text)
    return text


def _untag(text: str) -> str:
    text = _SUP_NUMBER.sub(r"^\1", _SUP.sub(r"^\1", _DROPPED.sub(" ", text)))
    return _BLOCK_TAG.sub(" ", _INLINE_TAG.sub("", text))


def _unlatex(text: str) -> str:
    text = _ACCENT.sub(_accented, _APOSTROPHE.sub("'", text))
    text = _ENVIRONMENT.sub(" ", text)
    for _ in range(_MAX_NESTING):
        before = text
        text = _TWO_ARGS.sub(r"\3", _CITED.sub("", text))
        text = _DECLARED.sub(r"\1", _ONE_ARG.sub(r"\1", text))
        if text == before:
            break
    text = _OWN_MACRO.sub(r"\1", text)
    text = _COMMAND.sub(_named, _TIE.sub(" ", _SWITCH.sub(" ", text)))
    return _BRACED_SIGN.sub(r"\1", _ESCAPED.sub(lambda found: _GONE.get(found[1], found[1]), text))


def _accented(found: re.Match[str]) -> str:
    letter = (found[3] or found[4]).lstrip("\\")
    return unicodedata.normalize("NFC", letter + _MARKS[found[1] or found[2]])


def _named(found: re.Match[str]) -> str:
    """A letter or sign; of an author's own macro, its name. TeX swallows the space after a letter's command."""
    if letter := _LETTERS.get(found[1]):
        return letter
    return _SIGNS.get(found[1], found[1]) + (" " if found[2] == " " else "")


def _linked(found: re.Match[str]) -> str:
    return found[1] if found[1] == found[2] else f"{found[1]} ({found[2]})"


def _quoted(text: str) -> str:
    closing = "”" if "``" in text or "“" in text else '"'
    return _SINGLE_QUOTES.sub(r"‘\1’", text.replace("``", "“").replace("''", closing))


def _dashed(text: str) -> str:
    return _DASHES.sub(lambda found: "–" if len(found[1]) == 2 else "—", text)


_STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("<", _untag),
    ("`", lambda text: _CODE.sub(r"\2", text)),
    ("\\", _unlatex),
    ("~", lambda text: _TIE.sub(" ", text)),
    ("", lambda text: _MD_LINE.sub("", text)),
    ("](", lambda text: _MD_LINK.sub(_linked, text)),
    ("*", lambda text: _STAR.sub(r"\2", _INITIAL.sub(r"\2", text))),
    ("_", lambda text: _UNDERSCORE.sub(r"\2", text)),
    ("--", _dashed),
    ("", _quoted),
)
