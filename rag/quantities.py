"""A text's quantities: numbers by value, however they are written, with their units, precision and bounds.

"57,240", "57240" and "$57{,}240$" are one value; "57.2k" is that value rounded, "60%" is 0.6, "90 min" is 1.5 hours,
"three" is 3. Sources and sentences that rest on them are compared by `stands_in`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: float(n) for n, word in enumerate(_SMALL)}
_WORDS |= {word: 10.0 * n for n, word in enumerate(_TENS, 2)}
_WORDS |= {"twice": 2.0, "double": 2.0, "doubles": 2.0, "doubling": 2.0, "doubled": 2.0, "thrice": 3.0, "triple": 3.0}
_WORDS |= {"triples": 3.0, "tripling": 3.0, "tripled": 3.0, "halve": 0.5, "halves": 0.5, "halving": 0.5, "halved": 0.5}
_WORDS |= {"half": 0.5, "dozen": 12.0, "couple": 2.0, "pair": 2.0, "both": 2.0, "quadruple": 4.0, "quadruples": 4.0}
_WORDS |= {"quarter": 0.25}
# Said without a number, these give no more than the size.
_SIZES = {
    "tens": 1e1,
    "dozens": 1e1,
    "hundreds": 1e2,
    "thousands": 1e3,
    "millions": 1e6,
    "billions": 1e9,
    "trillions": 1e12,
}
_FACTORS = {word for word in _WORDS if word.startswith(("twi", "doub", "thri", "trip", "halv", "quadruple"))}
# "one" and "a half" are said of anything; "both" and "pair" count what may be named instead.
_LOOSE = {"one", "zero", "half", "couple", "pair", "both", *_FACTORS}

_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALES |= {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "mn": 1e6, "B": 1e9, "b": 1e9, "bn": 1e9, "T": 1e12}
_SCALES |= {"千": 1e3, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "百万": 1e6, "百萬": 1e6}

# unit → (what it measures, how many of the base unit it is)
_UNITS: dict[str, tuple[str, float]] = {}
for _kind, _rows in {
    "share": {1e-2: "% percent pct pp percents 百分点 ％", 1e-3: "‰"},
    "factor": {1.0: "x times fold 倍"},
    "time": {
        1e-9: "ns nanosecond nanoseconds",
        1e-6: "us µs μs mus microsecond microseconds",
        1e-3: "ms millisecond milliseconds msec 毫秒",
        1.0: "s sec secs second seconds 秒",
        60.0: "min mins minute minutes 分钟",
        3600.0: "h hr hrs hour hours 小时",
        86400.0: "day days 天",
        604800.0: "week weeks wk 周",
        2629800.0: "month months mo 个月",
        31557600.0: "year years yr yrs 年",
    },
    "bytes": {1.0: "byte bytes", 1e3: "KB kB KiB", 1e6: "MB MiB", 1e9: "GB GiB", 1e12: "TB TiB"},
    "length": {1e-9: "nm", 1e-6: "um µm μm", 1e-3: "mm", 1e-2: "cm", 1.0: "metre metres meter meters 米", 1e3: "km"},
    "mass": {1e-9: "ug µg μg", 1e-6: "mg", 1e-3: "gram grams", 1.0: "kg 公斤", 1e3: "tonne tonnes"},
    "volume": {1e-3: "ml mL", 1.0: "litre litres liter liters L"},
    "rate": {1.0: "Hz", 1e3: "kHz", 1e6: "MHz", 1e9: "GHz"},
    "power": {1e-3: "mW", 1.0: "watt watts W", 1e3: "kW", 1e6: "MW"},
    "voltage": {1e-3: "mV", 1.0: "volt volts V", 1e3: "kV"},
    "heat": {1.0: "°C"},
    "bits": {1.0: "bit bits 位"},
    "decibels": {1.0: "dB"},
    "dollars": {1.0: "dollar dollars USD 美元"},
    "euros": {1.0: "euro euros EUR 欧元"},
}.items():
    for _size, _names in _rows.items():
        _UNITS |= dict.fromkeys(_names.split(), (_kind, _size))
_SIGNS = {"$": ("dollars", 1.0), "€": ("euros", 1.0), "£": ("pounds", 1.0)}

_NUMBER = r"\d+(?:,\d{3}(?!\d))*(?:\.\d+)?|\.\d+"
_WORD = "|".join(sorted([*_WORDS, *_SIZES], key=len, reverse=True))
_SCALE = "|".join(sorted(_SCALES, key=len, reverse=True))
_QUANTITY = re.compile(
    rf"(?P<sign>[$€£]\s?)?(?:(?<!\d)(?P<number>{_NUMBER})(?P<exp>[eE][+-]?\d+(?![\w.]))?"
    rf"(?:\s?(?:x|\*)\s?10\^?\(?(?P<power>-?\d+)\)?|\^\(?(?P<raised>-?\d+)\)?)?"
    rf"|\b(?P<word>{_WORD})(?:-(?P<ones>{'|'.join(_SMALL[1:10])}))?(?![\w]))"
    rf"(?:[\s-]?(?P<scale>{_SCALE})(?![A-Za-z]))?(?P<plus>\+)?",
    re.IGNORECASE,
)
_UNIT = re.compile(r"[\s~-]?(?:(?:percentage|per)\s(?:points?|cents?)|[%‰°]C?|[A-Za-zµμ]+|[\u3400-\u9fff]{1,3})")
_LOWER = re.compile(
    r"(?:\b(?:more than|over|at least|above|exceed(?:s|ed|ing)?|greater than|larger than|higher than|minimum of|no less"
    r" than|no fewer than|not less than|beyond|upwards? of)|>=?|超过|至少|多于|高于)\s*(?:\w+ )?[$€£~]?\s*$",
    re.IGNORECASE,
)
_UPPER = re.compile(
    r"(?:\b(?:less than|fewer than|under|below|at most|up to|no more than|not more than|maximum of|within|smaller than|"
    r"lower than)|<=?|不到|至多|少于|低于)\s*(?:\w+ )?[$€£~]?\s*$",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|more than|less than|under|circa|"
    r"close to|up to|at least|above|below|~)|[~≈约近])\s*[$€£]?\s*$",
    re.IGNORECASE,
)
_FACTOR_OF = re.compile(r"\bfactors? of\s*(?:about |around |roughly |up to |over |~)*$", re.IGNORECASE)
_JOINED = re.compile(r"\s*(?:-|,|/|;|and|or|to|vs\.?|versus|,\s*(?:and|or)|\+-)\s*", re.IGNORECASE)
_IN_NAME = re.compile(r"[A-Za-z]$|[A-Z][A-Za-z]*[-_]$")
_ON_NAME = re.compile(r"[A-Za-z]")
_NOUN = re.compile(
    r"(?:[\s-](?:of|the|a|an|different|new|separate|distinct|main|key|other|such|large|real))*[\s-]([A-Za-z]{3,})"
)
_AN_ORDER = re.compile(r"\ban?(?= orders? of magnitude)", re.IGNORECASE)
_ROUGHLY = 1000.0  # "thousands" may be 57 of them, "millions" 300
_FEW = 10  # counted on fingers: such a number may be a reader's own count
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Quantity:
    """value: as written, scale included. unit: what it measures and how many base units one is; ("", 1) when unknown.

    grain: the unit of its last digit: 100 of "57.2k". bound: 1 for "at least", −1 for "at most", else 0. hedged:
    "about". loose: a word that may be said of anything. text: as written. start, end: offsets into the text read.
    """

    value: float
    unit: tuple[str, float]
    grain: float
    bound: int
    hedged: bool
    loose: bool
    named: bool
    noun: str
    text: str
    start: int
    end: int


def quantities(text: str) -> tuple[Quantity, ...]:
    """Those of a searched text (rag.text.searched), in order; of "5 to 10 ms" both have the unit."""
    found: list[Quantity] = []
    text = _AN_ORDER.sub("one", text)
    for quantity in _read(text):
        # A unit said once holds for the numbers that it follows.
        for place in range(len(found) - 1, -1, -1):
            last, following = found[place], found[place + 1] if place + 1 < len(found) else quantity
            if not (quantity.unit[0] and not last.unit[0] and _JOINED.fullmatch(text[last.end : following.start])):
                break
            found[place] = replace(last, unit=quantity.unit)
        found.append(quantity)
    return tuple(found)


def stands_in(said: Quantity, source: Sequence[Quantity]) -> str:
    """Why no quantity of the source is the one said: "number", "unit", "bound"; "" when one is."""
    if said.text.lower() in _SIZES:
        # "thousands" is said of 57,240, too.
        sizes = [q for q in source if q.text.lower() in _SIZES]
        plain = any(said.value <= q.value < said.value * _ROUGHLY for q in source if q not in sizes)
        return "" if any(q.value == said.value for q in sizes) or (plain and not sizes) else "number"
    same = [q for q in source if _same_value(said, q) and q.text.lower() not in _SIZES]
    of_noun = [q for q in source if said.noun and q.noun == said.noun and not q.named and not q.unit[0]]
    if not same or (of_noun and not said.unit[0] and not any(q in same for q in of_noun)):
        return "" if not of_noun and _own_count(said, source) else "number"
    fitting = [q for q in same if _fits(said, q)]
    # A number whose unit is not known may have any, "1.37 BPC", unless the same number stands there with another.
    if not fitting and (any(q.unit[0] for q in same) or said.unit[0] == "factor"):
        return "unit"
    return "bound" if said.bound and fitting and all(q.bound == -said.bound for q in fitting) else ""


def _own_count(said: Quantity, source: Sequence[Quantity]) -> bool:
    """Whether a number in words, "two tasks", may count what the source names without a number."""
    counted = not said.text[0].isdigit() and said.value < _FEW and not said.unit[0]
    return said.loose or (counted and not any(q.noun[:4] == said.noun[:4] for q in source))


def _read(text: str) -> Iterator[Quantity]:
    for m in _QUANTITY.finditer(text):
        before = text[max(0, m.start() - 40) : m.start()]
        if m["number"]:
            value, grain = _figure(m)
        else:
            value, grain = (_WORDS | _SIZES)[m["word"].lower()], 1.0
            value += _WORDS[m["ones"].lower()] if m["ones"] else 0.0
        end = m.end()
        scale = m["scale"]
        if scale and _is_scale(m, text):
            # Only of words and big signs is the case free: "5 m" and "5 b" are none.
            value, grain = (
                value * _SCALES.get(scale, _SCALES.get(scale.lower(), 1.0)),
                grain * _SCALES.get(scale, _SCALES.get(scale.lower(), 1.0)),
            )
        elif scale:
            end = m.start("scale")
            end -= text[end - 1 : end] in {" ", "-"}
        unit, end = _unit(text, end)
        if m["sign"]:
            unit = _SIGNS[m["sign"].strip()]
        if not unit[0] and (_FACTOR_OF.search(before) or (m["word"] and m["word"].lower() in _FACTORS)):
            unit = ("factor", 1.0)
        bound = 1 if _LOWER.search(before) or m["plus"] else -1 if _UPPER.search(before) else 0
        loose = bool(m["word"]) and m["word"].lower() in _LOOSE and not scale
        named = not m["word"] and bool(_IN_NAME.search(before) or (not unit[0] and _ON_NAME.match(text, end)))
        noun = found.group(1).lower().removesuffix("s") if (found := _NOUN.match(text, end)) else ""
        hedged = bool(_HEDGE.search(before))
        yield Quantity(value, unit, grain, bound, hedged, loose, named, noun, m.group().strip(), m.start(), end)


def _figure(m: re.Match[str]) -> tuple[float, float]:
    digits = m["number"].replace(",", "")
    _, point, decimals = digits.partition(".")
    value, grain = float(digits), 10.0 ** -len(decimals) if point else 1.0
    power = int(m["exp"][1:]) if m["exp"] else int(m["power"]) if m["power"] else None
    if m["raised"] and digits == "10":
        return _power(int(m["raised"])), _power(int(m["raised"]))
    if power is not None:
        value, grain = value * _power(power), grain * _power(power)
    return value, grain


def _power(exponent: int) -> float:
    return 10.0 ** max(-300, min(300, exponent))


def _is_scale(m: re.Match[str], text: str) -> bool:
    """Whether what follows a number multiplies it: "57.2k", "5 million", not "5 b" or "3 m"."""
    scale = m["scale"]
    if len(scale) > 1 or not scale.isascii():
        return True
    beside = m.start("scale") == 0 or text[m.start("scale") - 1] not in " -"
    return beside and not (scale in "mb" and not m["sign"]) and not m["word"]


def _unit(text: str, end: int) -> tuple[tuple[str, float], int]:
    found = _UNIT.match(text, end)
    if not found:
        return ("", 1.0), end
    word = found.group().strip(" ~-")
    if word.lower().startswith(("per ", "percentage ")):
        return _UNITS["%"], found.end()
    for name in (word, word.lower() if len(word) > 3 else word, word[:2], word[:1]):
        if name in _UNITS and (name == word or not name.isascii() or len(name) > 3):
            return _UNITS[name], end + found.group().index(word) + len(name)
    return ("", 1.0), end


def _same_value(said: Quantity, source: Quantity) -> bool:
    """Whether the source's number is the one said, or rounds to it, in some unit."""
    for value in _forms(said, source):
        if math.isclose(value, said.value, rel_tol=_CLOSE, abs_tol=1e-12):
            return True
        finer = source.grain * (value / source.value if source.value else 1.0) < said.grain
        if finer and -said.grain / 2 < (said.value - value) * (1 - _CLOSE) <= said.grain / 2:
            return True
        if said.hedged and _rounds(value, said):
            return True
    return False


def _rounds(value: float, said: Quantity) -> bool:
    """Whether a hedged number, as coarse as its zeros, may be said of a finer value: "about", "over 57,000"."""
    if said.value < 10 or said.value != int(said.value):
        return False
    whole = str(int(said.value))
    grain = 10.0 ** (len(whole) - len(whole.rstrip("0")))
    if grain == 1 or value % grain == 0:
        return False
    more = value - said.value
    return 0 < more * said.bound < grain if said.bound else abs(more) <= grain / 2


def _forms(said: Quantity, source: Quantity) -> Iterator[float]:
    """The source's value as it is, and in the unit of what is said; a share also as its part of 1."""
    yield source.value
    kind, size = source.unit
    if kind and kind == said.unit[0]:
        yield source.value * size / said.unit[1]
    if kind == "share" and not said.unit[0]:
        yield source.value * size
    if not kind and said.unit[0] == "share":
        yield source.value / said.unit[1]


def _fits(said: Quantity, source: Quantity) -> bool:
    """Whether the units agree, given that the values do in one form or another."""
    kind, size = said.unit
    if not kind:
        return True
    if source.unit[0] == kind:
        in_our_unit = source.value * source.unit[1] / size
        return math.isclose(size, source.unit[1]) or abs(in_our_unit - said.value) <= said.grain
    # 0.6 is 60%.
    return kind == "share" and not source.unit[0] and source.value != said.value
