"""An abstract's sentences → the system or term that the authors name, with what it is a name for.

It must not know papers or files; which of several labels is best is rag.load.label's to choose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from .phrases import LONGEST, cut, initials_fit
from .wordlists import COMMON_ACRONYMS, DULL, FUNCTION_WORDS, VERBS

__all__ = [
    "MADE",
    "SHOWN",
    "STUDIED",
    "Reading",
    "coined",
    "divides",
    "found_in",
    "repeated",
    "subject",
    "system",
    "with_acronym",
]

_REST = r"(?P<rest>[^.]+(?:\.\S[^.]*)*)"  # of the sentence; "3.5" does not end it
_WE = r"(?:\b[Ww]e|\b(?:[Tt]his|the|our|present) (?:paper|work|article|study|manuscript)|\b[Ii]n this (?:paper|work),?)"
_ADVERBS = r"(?:(?: (?:\w+ly|also|then|first|further|here|thus|hence|next|instead|aim to|seek to|do so,?|and)|,)){0,3}"
_MAKES = (
    r"(?:propos|introduc|present|develop|releas|design|describ|creat|formulat|construct|devis|build|built|unveil"
    r"|contribut|put forward|offer|suggest)(?:e[sd]?|s|ed|ing)?"
)
_STUDIES = (
    r"(?:stud(?:y|ies)|investigates?|considers?|examines?|analy[sz]es?|explores?|revisits?|address(?:es)?"
    r"|focus(?:es)? on|initiates? the study of|tackles?|formali[sz]es?)"
)
_SHOWS = (
    r"(?:identif(?:y|ies)|establish(?:es)?|proves?|provides?|shows?|demonstrates?|derives?|characteri[sz]es?|gives?"
    r"|uses?|reveals?|quantif(?:y|ies)|uncovers?|obtains?)"
)
MADE = re.compile(rf"{_WE}{_ADVERBS} {_MAKES}(?: [a-z]+ly)? {_REST}")
STUDIED = re.compile(rf"{_WE}{_ADVERBS} {_STUDIES} {_REST}")
SHOWN = re.compile(rf"{_WE}{_ADVERBS} {_SHOWS} (?:that |how )?{_REST}")
_COINED = re.compile(
    r"\b[Ww]e (?:\w+ )?(?:call|term|name|dub|coin|refer to) "
    rf"(?:(?:it|this|them|the|our)(?: [\w-]+){{0,3}} as |it |this [\w-]+ |as )?{_REST}"
)
_CALLED = re.compile(rf"\b(?:called|named|dubbed|coined|termed|titled) (?:as )?{_REST}")
_CALLS = re.compile(r"\b(?:call|term|name|dub|coin|define|refer to)s?\b")
_OURS = re.compile(rf"\b(?:[Tt]he (?:resulting|proposed)|[Oo]ur) {_REST}")
_KIND = (
    r"(?:framework|method|algorithm|model|approach|system|dataset|benchmark|architecture|technique|agent|tool|library"
    r"|family|suite|strategy|mechanism|paradigm|pipeline)s?"
)
_NAME = r"[A-Z][A-Za-z]*[\dA-Z+\-][\w+\-]*|[a-z]+[A-Z][\w+\-]*|[A-Z]{3,}|[A-Z][a-z]{2,}\+?"
_NAMED = re.compile(
    rf"(?:(?:an?|the|our) (?P<kind>(?:[\w\-]+,? ){{0,6}}{_KIND}),? )?[\"“]?(?P<name>{_NAME})[\"”]?"
    r"(?:,|:| \(|—| -|;|$|\.| that | which | to | for | as | with | is | based | built )"
)
_CAPITAL = r"(?:[a-z]*[A-Z]|\d)[\w+\-]*"  # also "gatE", for the sake of an acronym
_TITLE_CASED = re.compile(
    r"(?:(?:an?|the|our) )?(?:(?:novel|new|simple|efficient|general|first) )*[\"“]?"
    rf"(?P<name>(?!\d){_CAPITAL}(?: (?:(?:of|for|and|the|with|in|via|from|to|on|by) )?{_CAPITAL}){{1,7}})[\"”]?"
)
_ACRONYM = re.compile(r"\((?:or |i\.e\., )?(?P<acronym>[A-Za-z]*[A-Z][\w+\-]{0,12}[A-Z\d][\w+\-]{0,6}|[A-Z]{2,})\)")
_TAIL = re.compile(rf"(?P<more>(?: [\w\-]+){{0,3}}) ?{_ACRONYM.pattern}")
_QUOTED = re.compile(r"(?:(?:an?|the) (?:[\w-]+ ){0,4})?[\"“](?P<name>[A-Z][^\"“”()]{2,50}[^\"“”().,\s])[\"”]")
_EXPANSION = re.compile(r"[\"”]? \((?P<what>[^()]{8,120})\)")
_IS = re.compile(r"^(?P<name>[A-Z][\w+\-]{2,}) is an? ")
_GLOSS = re.compile(r"^\"?”?(?: \([^)]*\))?(?:,|:| is| —|—) (?:an?|the|our) (?P<rest>[^.]+)")
_CLAUSE = re.compile(r"[,;:.()\[\]§—–\"“”]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a label is made of. emphasised: phrases that the source sets apart, in order."""

    sentences: tuple[str, ...]
    emphasised: tuple[str, ...] = ()


def system(reading: Reading) -> str:
    """ "We introduce MCP-Injector, a …" → "MCP-Injector: …"."""
    for pattern in (MADE, _COINED, _CALLED):
        for found in found_in(pattern, reading.sentences):
            if label := _named(found["rest"]):
                return label if " " in label else _with_kind(label, reading.sentences)
    return ""


def _with_kind(name: str, sentences: tuple[str, ...]) -> str:
    """A bare name with what the abstract says it is, or else talks of most."""
    for sentence in sentences:
        told = sentence.startswith((f"{name} is a", f"{name} is the"))
        if told and (gloss := _gloss(name, sentence[len(name) :])):
            return gloss
    kind = repeated(tuple(sentence.replace(name, "§") for sentence in sentences))
    return f"{name}: {kind}" if kind else name


def _named(rest: str) -> str:
    """The name that a clause begins with, and what it is a name for."""
    if quoted := _QUOTED.match(rest):
        return quoted["name"]
    titled = _TITLE_CASED.match(rest)
    if titled and (tail := _TAIL.match(rest, titled.end())):
        return _with_head(f"{titled['name']}{tail['more']} ({tail['acronym']})", rest[tail.end() :])
    found = _NAMED.match(rest)
    if not found or found["name"] in COMMON_ACRONYMS:
        return titled["name"] if titled and len(titled["name"].split()) > 2 else ""
    if gloss := _gloss(found["name"], rest[found.end("name") :]):
        return gloss
    kind = cut(found["kind"] or "")
    return f"{found['name']}: {kind}" if len(kind.split()) > 1 else found["name"]


def _with_head(name: str, after: str) -> str:
    """ "Block Reflector Orthogonal (BRO)" and " layer that …" → with its noun."""
    head = cut(after) if after.startswith(" ") and not after.startswith((" that", " to", " for")) else ""
    return f"{name} {head}" if 0 < len(head.split()) < 3 and head.islower() else name


def _gloss(name: str, after: str) -> str:
    expansion = _EXPANSION.match(after)
    if expansion and initials_fit(expansion["what"].split(), name):
        return f"{name}: {expansion['what']}" if len(expansion["what"].split()) < LONGEST else name
    found = _GLOSS.match(after)
    phrase = cut(found["rest"], LONGEST - 1) if found else ""
    return f"{name}: {phrase}" if phrase and phrase.lower() not in DULL else ""


def subject(reading: Reading) -> str:
    """ "Wisp is a first-order method …", when that is a name of the authors' own, met again further on."""
    text = " ".join(reading.sentences)
    for sentence in reading.sentences[1:]:
        found = _IS.match(sentence)
        if found and found["name"].lower() not in FUNCTION_WORDS and _occurs_twice(found["name"], text):
            return _gloss(found["name"], sentence[found.end("name") :])
    return ""


def _occurs_twice(name: str, text: str) -> bool:
    return len(re.findall(rf"\b{re.escape(name)}\b", text)) > 1


def with_acronym(reading: Reading) -> str:
    """ "we propose federated submodel averaging (FedSubAvg)", "The resulting Score Kalman Filter (SKF)"."""
    for pattern in (MADE, _OURS):
        for found in found_in(pattern, reading.sentences):
            rest = found["rest"]
            acronym = _ACRONYM.search(rest[:160])
            if acronym and (name := _expansion(rest[: acronym.start()].split(), acronym["acronym"])):
                return _with_head(f"{name} ({acronym['acronym']})", rest[acronym.end() :])
    return ""


def _expansion(words: list[str], acronym: str) -> str:
    """The last words that the acronym's letters stand for; the fewest that fit."""
    for length in range(2, min(len(words), LONGEST - 1) + 1):
        if words[-length].lower() not in FUNCTION_WORDS and initials_fit(words[-length:], acronym):
            return " ".join(words[-length:])
    return ""


def coined(reading: Reading) -> str:
    """What the authors introduce or name and emphasise, or name: "which we term *Spectral Amplitude Priority*"."""
    for phrase in reading.emphasised:
        if any(phrase in found["rest"][: len(phrase) + 40] for found in found_in(MADE, reading.sentences)):
            return phrase
    for phrase in reading.emphasised:
        if any(phrase in sentence and _CALLS.search(sentence) for sentence in reading.sentences):
            return phrase
    phrases = (cut(found["rest"].lstrip('"“')) for found in found_in(_COINED, reading.sentences))
    return next((phrase for phrase in phrases if 1 < len(phrase.split()) < 6), "")


def found_in(pattern: re.Pattern[str], sentences: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """The matches in all sentences, in order."""
    return (found for sentence in sentences for found in pattern.finditer(sentence))


def repeated(sentences: tuple[str, ...]) -> str:
    """The run of two to five words without function words that is repeated most; longer ones count for more."""
    seen: Counter[str] = Counter()
    for sentence in sentences:
        for clause in _CLAUSE.split(sentence):
            words = clause.split()
            runs = (words[i : i + n] for n in range(2, 6) for i in range(len(words) - n + 1))
            seen.update(" ".join(run) for run in runs if not any(divides(word) for word in run))
    best = max(seen, key=lambda run: (seen[run] - 1) * len(run.split()), default="")
    return best if seen[best] > 1 else ""


def divides(word: str) -> bool:
    """Whether the word stands between phrases and in none."""
    return word.lower() in FUNCTION_WORDS or word.lower() in VERBS
