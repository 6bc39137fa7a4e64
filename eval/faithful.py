"""Turns a sentence of an abstract into sentences that say the same, or less, in other words, by rule."""

from __future__ import annotations

import re

from eval.corrupt_text import Found, in_formula, masked, put

_LEAD = re.compile(
    r"^(?:In this (?:paper|work|article|study), )?(?:[Ww]e|[Oo]ur (?:results|experiments|findings))"
    r" (?:(?:also|then|further|empirically|theoretically) )*"
    r"(?:show|find|prove|demonstrate|observe|argue|establish) that "
)
_PAPER = re.compile(r"^(?:In this (?:paper|work|article|study)|Here|To this end|In this regard|In particular), ")
_LINK = re.compile(r"^(?:However|Moreover|Furthermore|In addition|Additionally|Finally|Specifically|Notably|Thus), ")
_WHICH = re.compile(r"^(?P<main>[^,]{30,}), which [^,.;]{10,}\.$")
_US = re.compile(r"\b(?P<us>we|our)\b(?! and )", re.IGNORECASE)
_NAMING = re.compile(r"(?<![\w¤.,-])(?P<word>two|three|four|five|six|seven|eight|nine|ten)(?= [a-z])")
_THOUSANDS = re.compile(r"(?<![\w.,$¤])\d{1,3}(?:,\d{3})+(?![\w.]|,\d| [mb]illion)")
_PERCENT = re.compile(r"(?<=\d)\s?(?:\\%|%)(?![\w-])")
_TIMES = re.compile(r"(?<=\d)(?:x|×)(?= )")
_MATHS = re.compile(r"\$\s*(?P<n>\d[\d.,]*)\s*(?:(?P<x>\{?\\times\}?)|(?P<p>\\%))?\s*\$(?!\w)")
_LARGE = re.compile(r"(?<![\w.,¤-])(?P<n>\d+(?:\.\d)?) (?P<unit>million|billion)\b")
_SHORT = re.compile(r"\b(?P<verb>do|does|did|is|are|was|were|has|have) not\b(?! only)|\bcannot\b")
_WORDS = {w: str(n) for n, w in enumerate("two three four five six seven eight nine ten".split(), 2)}


def paraphrases(sentence: str) -> Found:
    """(form, the sentence said otherwise) for each rule that applies."""
    text = masked(sentence)
    yield from _shortened(sentence)
    if _US.search(text):
        yield "the authors", _US.sub(lambda match: _theirs(match, sentence), sentence)
    if match := _NAMING.search(text):
        yield "number words", put(sentence, match, _WORDS[match["word"]])
    if match := _THOUSANDS.search(text):
        yield "thousands", put(sentence, match, match.group().replace(",", ""))
        if match.group().count(",") == 1:
            yield (
                "thousands, rounded",
                put(sentence, match, f"{round(int(match.group().replace(',', '')) / 1000, 1):g}k"),
            )
    if (match := _PERCENT.search(text)) and not in_formula(sentence, match.start()):
        yield "per cent", put(sentence, match, " per cent")
    if match := _TIMES.search(text):
        yield "times", put(sentence, match, " times")
    if match := _MATHS.search(sentence):
        yield (
            "figure out of LaTeX",
            put(sentence, match, match["n"] + ("x" if match["x"] else "%" if match["p"] else "")),
        )
    if match := _LARGE.search(text):
        yield "millions", put(sentence, match, match["n"] + match["unit"][0].upper())
    if match := _SHORT.search(text):
        yield "short forms", put(sentence, match, f"{match['verb']}n't" if match["verb"] else "can't")


def _shortened(sentence: str) -> Found:
    for form, pattern in (("lead dropped", _LEAD), ("lead dropped", _PAPER), ("link dropped", _LINK)):
        if match := pattern.match(sentence):
            rest = sentence[match.end() :]
            yield form, rest[:1].upper() + rest[1:]
            break
    if (match := _WHICH.match(sentence)) and " that " not in match["main"]:
        yield "first half", f"{match['main']}."


def _theirs(match: re.Match[str], sentence: str) -> str:
    other = "the authors" if match.group().lower() == "we" else "their"
    return other[:1].upper() + other[1:] if match.start() == 0 and sentence[:1].isupper() else other
