"""Turns a sentence into ones with another figure, or another unit behind a figure."""

from __future__ import annotations

import re
from random import Random

from eval.corrupt_text import HIDDEN, Found, in_formula, masked, put
from eval.corrupt_words import NUMBER_WORDS, SCALES, UNITS

_FIGURE = re.compile(
    r"(?<![\w¤.,:;/^_\\\[#+{}–—-])(?<!\([ivx])(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>[xkKMB×](?![\w])|(?=\s*(?:\\?%|\\times|\{\\times\}))|(?![\w^/_¤°′]|[.,:]\d|[-–—][A-Z\d¤]|-\w-))"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_NAMED = re.compile(r"(?:^|[\s(])(?P<word>[^\s(]+)\s$")
_LABELS = frozenset("section theorem figure table algorithm eq eqn lemma version task subtask appendix".split())
_SENTENCE_OPENERS = frozenset(
    "A An The In On At By For From With Of Over Across Using Only About Around Between Among Our All These Those To "
    "Both And Nearly Approximately Given Under Within After Before We".split()
)
_WORD = re.compile(rf"(?<![\w-])(?<!one or )(?:{'|'.join(NUMBER_WORDS)})(?![\w¤])(?!-sided)", re.IGNORECASE)
_LARGE = re.compile(r"\b(?:hundreds|thousands|millions|dozens|half|twice|an order of magnitude)\b", re.IGNORECASE)
_LARGER = {"hundreds": "dozens", "thousands": "hundreds", "millions": "thousands", "dozens": "thousands"} | {
    "half": "a quarter",
    "twice": "five times",
    "an order of magnitude": "three orders of magnitude",
}


def numbers(sentence: str, dice: Random) -> Found:
    """Another value for a figure or a number word; not for years, nor for digits that belong to a name."""
    text = masked(sentence)
    for match in _FIGURE.finditer(text):
        figure = match["n"]
        if _belongs_to_a_name(text, match) or (value := _other(figure, dice, text[match.end("n") :])) is None:
            continue
        yield "in digits", put(sentence, match, value, "n")
    for match in _WORD.finditer(text):
        if not match.group()[0].isupper() or match.start() == 0:
            same = NUMBER_WORDS[:8] if match.group().lower() in NUMBER_WORDS[:8] else NUMBER_WORDS[8:]
            yield "in words", put(sentence, match, dice.choice([w for w in same if w != match.group().lower()]))
    for match in _LARGE.finditer(text):
        fits = match.group().lower() != "half" or re.match(r" (?:of|the) ", text[match.end() :])
        if (
            fits
            and (match.group().islower() or not match.start())
            and not text[: match.start()].endswith(("-", "one "))
        ):
            yield "in words", put(sentence, match, _LARGER[match.group().lower()])


def _belongs_to_a_name(text: str, match: re.Match[str]) -> bool:
    """Whether a figure is a year, an item's number "(1)", or follows a capitalised word: "Llama 2", "Theorem 3"."""
    start, end = match.span()
    if not match["scale"] and (_YEAR.fullmatch(match["n"]) or (re.fullmatch(r"\d\)", text[start : end + 1]))):
        return True
    return _follows_a_name(text[:start])


def _follows_a_name(text: str) -> bool:
    before = _NAMED.search(text)
    if before is None:
        return False
    word = before["word"].strip("()\"'“”")
    if word.lower().rstrip(".") in _LABELS or HIDDEN in word:
        return True
    first = before.start("word") == 0 and word in _SENTENCE_OPENERS
    return any(char.isupper() for char in word) and not first


def _other(figure: str, dice: Random, after: str) -> str | None:
    """Another figure of the same form; percentages stay at most 100."""
    percent = bool(re.match(r"\s*(?:\\?%|per ?cent)", after))
    if (figure == "1" and not percent) or float(figure.replace(",", "")) == 0:
        return None
    if figure in {"100", "10"} and percent:
        return dice.choice(["60", "75", "80", "95"])
    places = [i for i, char in enumerate(figure) if char.isdigit()]
    for _ in range(50):
        place, digit = dice.choice(places), dice.choice("123456789")
        other = figure[:place] + digit + figure[place + 1 :]
        value = float(other.replace(",", ""))
        if other != figure and value != 1 and not (percent and value > 100):
            return other
    return None


_UNIT = re.compile(rf"(?<=\d)(?P<gap>[\s-]?)(?P<unit>{'|'.join(sorted(UNITS, key=len, reverse=True))})(?![\w])")
_WORDED_UNIT = re.compile(
    rf"(?<![\w-])(?:{'|'.join(NUMBER_WORDS)}|several|few|hundreds of|thousands of|tens of)[ -]"
    r"(?P<unit>milliseconds?|seconds?|minutes?|hours?|days?|weeks?|months?|years?|million|billion|gigabytes)\b"
)
_RATE = re.compile(r"\bper (?P<unit>second|minute|hour|day|week|month|year)\b")
_TIMES = re.compile(
    r"(?<=\d)\s?(?:\{?\\times\}?\$?|[x×](?!\w)|[- ]?times\b|-?fold\b)"
    r"(?= (?:\w+er\b|more|less|fewer|speed|reduc|incr|impr|gain|on|over|than))"
)
_SPAN = re.compile(r"(?<=\d)\s?(?:\\?%\$?|percent\b|per cent\b)")


def units(sentence: str) -> Found:
    """Another unit behind a figure: percent for times, minutes for seconds, million for billion."""
    text = masked(sentence)
    for pattern in (_UNIT, _WORDED_UNIT, _RATE):
        for match in pattern.finditer(text):
            if not in_formula(sentence, match.start("unit")) and not _belongs_before(text, match):
                yield "measure", put(sentence, match, UNITS[match["unit"]], "unit")
    for match in re.finditer(r"(?<![\w¤.-])\d[\d.,]*(?P<unit>[kKMBT])(?!\w)", text):
        if not _follows_a_name(text[: match.start()]):
            yield "measure", put(sentence, match, SCALES[match["unit"]], "unit")
    for match in _TIMES.finditer(text):
        opened = "$" in match.group() or in_formula(sentence, match.start())
        yield "times", put(sentence, match, r"\%$" if opened else "%")
    for match in _SPAN.finditer(text):
        after = text[match.end() :]
        if in_formula(sentence, match.start()):
            continue
        if re.match(r" of (?:the|all|these|those|its|our|their|\w+s)\b", after) and not re.search(
            r"\.\d+$", text[: match.start()]
        ):
            yield "percent", put(sentence, match, "")
        elif re.match(
            r" (?:\w+ )?(?:improv|reduc|increas|gain|speed|faster|slower|fewer|more|less|smaller|larger|higher|lower)",
            after,
        ):
            yield "percent", put(sentence, match, "x")
        elif re.search(r"\bby (?:up to |about |over |around |nearly |more than )?[\d.]+$", text[: match.start()]):
            yield "percent", put(sentence, match, " times")


def _belongs_before(text: str, match: re.Match[str]) -> bool:
    """Whether the figure before a unit is a part of a name: "GPT-3 billion" is none, "ILSVRC12 s" neither."""
    figure = re.search(r"\S*$", text[: match.start()])
    return bool(figure and re.match(r"[A-Za-z¤$]", figure.group()))
