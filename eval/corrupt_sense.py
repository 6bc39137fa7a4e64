"""Turns a sentence into ones that deny it, turn its direction round, or let two of its parts change places."""

from __future__ import annotations

import re

from eval.corrupt_text import Found, masked, put
from eval.corrupt_words import BASE_FORMS, KEPT, OPPOSITES, PAST_FORMS, PHRASES, third_person

# --- negation -----------------------------------------------------------------------------------------------------

_AUXILIARY = re.compile(
    r"(?<!\bthat )(?<!\bit )(?<!\bthere )"
    r"\b(?P<aux>can|is|are|was|were|will|should|could|must|may|might|would|has been|have been)"
    r" (?!not\b|no\b|only|also|often|still|already|even|thus|then|therefore|further|both|either|neither|typically"
    r"|usually|always|never|just|to\b|that\b|at\b|in\b|now\b|well\b|nothing|none|unable|known as|called|rarely"
    r"|hardly|why|how|what|when|where|because|due|given|necessarily|as\b|less\b|more\b|likely)(?=[a-z])"
)
_WE = re.compile(
    r"\b(?P<who>[Ww]e|[Tt]hey|[Tt]he authors|[Oo]ur (?:results|experiments|findings))"
    r" (?P<adverb>[a-z]+ly )?(?P<verb>propose|show|find|introduce|prove|demonstrate|use|provide|present|study|develop"
    r"|establish|observe|evaluate|consider|derive|apply|investigate|design|train|analyze|analyse|argue|compare|assume"
    r"|require|need|achieve|obtain|improve|reveal|suggest|indicate|confirm)\b(?![-–])"
)
_PAST = re.compile(rf"\b(?P<who>[Ww]e|[Tt]hey) (?P<verb>{'|'.join(PAST_FORMS)})\b")
_THIRD = re.compile(
    rf"(?<=[a-z\d)] )(?P<adverb>[a-z]+ly )?(?P<verb>{'|'.join(BASE_FORMS)})\b(?=[ ,.])(?! (?:of|and|or)\b)"
)
_SUBJECTLESS = re.compile(
    r"(?:\b(?:to|not|can|will|may|does|do|should|would|could|must|we|they)|and|or) $", re.IGNORECASE
)

_VERBS = "can|is|are|was|were|will|should|could|may|might|would|has|have|had|must"
_IDIOM = r"longer|more|less|matter|free|doubt|one\b|better|worse|later|fewer|greater|larger"
_TAKEN_OUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), other)
    for pattern, other in (
        (rf"\b(?P<x>{_VERBS}) not (?!only\b|just\b|merely)", r"\g<x> "),
        (r"\bcannot\b(?! (?:only|but|help))", "can"),
        (r"\b(?P<x>[Cc])an't\b", r"\g<x>an"),
        (r"\b(?:do|did) not (?=(?!only)[a-z])", ""),
        (r"\b(?:is|are|was|were) no longer\b", "is still"),
        (r"\bno longer\b", "still"),
        (r"\b(?P<x>[Ww]ith)out any ", r"\g<x> some "),
        (r"\bwithout (?!any\b|loss\b|(?:the )?need)", "with "),
        (r"\bWithout (?!any\b|loss\b|(?:the )?need)", "With "),
        (r"\bwithout the need for\b", "with the need for"),
        (rf"\bno (?!{_IDIOM})(?=[a-z])(?<!\bor no )", "some "),
        (r"\bfail to\b", "manage to"),
        (r"\bfailed to\b", "managed to"),
        (r"\bnever\b(?! (?:before|seen))", "always"),
        (r"\b(?P<x>un)able to\b", "able to"),
        (r"\bnone of\b", "all of"),
        (r"\brarely\b", "usually"),
        (r"\bneither (?P<a>[\w -]{1,40}) nor\b", r"both \g<a> and"),
        (r"\bnot necessarily\b", "necessarily"),
    )
)
_DOES_NOT = re.compile(r"\b(?:does not|doesn't) (?:necessarily |directly |explicitly )?(?P<verb>[a-z]+)\b(?<!only)")
_FAILS_TO = re.compile(r"\bfails to (?:[a-z]+ly )?(?P<verb>[a-z]+)\b")


def negations(sentence: str) -> Found:
    """A "not" put in at a verb, or a denial taken out."""
    text = masked(sentence)
    yield from _denied(sentence, text)
    for pattern, other in _TAKEN_OUT:
        for match in pattern.finditer(text):
            yield "taken out", sentence[: match.start()] + match.expand(other) + sentence[match.end() :]
    for pattern in (_DOES_NOT, _FAILS_TO):
        for match in pattern.finditer(text):
            yield "taken out", put(sentence, match, third_person(match["verb"]))


def _denied(sentence: str, text: str) -> Found:
    for match in _AUXILIARY.finditer(text):
        aux = match["aux"]
        denied = "cannot" if aux == "can" else re.sub(r"^(has|have)\b", r"\1 not", aux)
        yield "put in", put(sentence, match, denied if denied != aux else f"{aux} not", "aux")
    for match in _WE.finditer(text):
        yield "put in", put(sentence, match, f"{match['who']} do not {match['adverb'] or ''}{match['verb']}")
    for match in _PAST.finditer(text):
        yield "put in", put(sentence, match, f"{match['who']} did not {PAST_FORMS[match['verb']]}")
    for match in _THIRD.finditer(text):
        if not _SUBJECTLESS.search(text[: match.start()]):
            yield "put in", put(sentence, match, f"does not {match['adverb'] or ''}{BASE_FORMS[match['verb']]}")


# --- direction ----------------------------------------------------------------------------------------------------

_PHRASE = re.compile(
    rf"\b(?:{'|'.join(PHRASES)})\b(?<!up to)|\bup to(?= (?:[\d$]|two|three|four|five|a factor))", re.IGNORECASE
)
_OPPOSITE = re.compile(
    rf"(?<![\w¤-])(?:{'|'.join(sorted(OPPOSITES, key=len, reverse=True))})(?![\w¤])(?!-\w+-to)", re.IGNORECASE
)
_PLURAL = re.compile(r"\s+(?:[a-z-]+\s+)?[a-z-]+s\b(?<!ss)(?<!ous)(?<!us)(?<!is)")


def directions(sentence: str) -> Found:
    """A word of comparison or change turned into its opposite, in the same form; not within names and idioms."""
    text = masked(sentence)
    kept = [match.span() for match in KEPT.finditer(text)]
    phrases = [match for match in _PHRASE.finditer(text) if not _touches(match, kept)]
    for match in phrases:
        yield "phrase", put(sentence, match, PHRASES[match.group().lower()])
    kept += [match.span() for match in phrases]
    for match in _OPPOSITE.finditer(text):
        word = match.group()
        if _touches(match, kept) or (word[0].isupper() and match.start()):
            continue
        other = OPPOSITES[word.lower()]
        if word.lower() == "more" and _PLURAL.match(text[match.end() :]):
            other = "fewer"
        if re.search(rf"\b{other}(?:,| and| or|/) ?(?:[a-z]+ )?$", text[: match.start()], re.IGNORECASE):
            continue  # "positive and negative pairs"
        if re.match(rf"(?:,| and| or|/) ?(?:[a-z]+ )?{other}\b", text[match.end() :], re.IGNORECASE):
            continue
        yield "word", put(sentence, match, other)


def _touches(match: re.Match[str], spans: list[tuple[int, int]]) -> bool:
    return any(start < match.end() and match.start() < end for start, end in spans)


# --- two parts that change places ---------------------------------------------------------------------------------

_NOUNS = r"(?:[\w/+-]+ ){0,5}?[\w/+-]*[A-Za-z\d][\w/+-]*"
_NO_SUBJECT = "we|it|this|these|that|which|they|and|but|or|there|to|by|when|while|if|as|on|in|for|under|across|with|at"
_COMPARED = re.compile(
    r"(?P<begin>^|\bthat |, )"
    rf"(?P<a>(?!(?:{_NO_SUBJECT})\b){_NOUNS}) "
    r"(?P<verb>(?:[a-z]+ly |even )?(?:outperforms?|surpass(?:es)?|exceeds?|depends? on|leads? to|precedes?"
    r"|implies|imply|dominates?|generali[sz]es?|subsumes?|(?:is|are) (?:[a-z]+ly )?"
    r"(?:\w+er|better|worse|(?:more|less) \w+) than)) "
    rf"(?P<b>(?!(?:that|it|them|this|when|if|what|how|well|to)\b){_NOUNS})"
    r"(?=[.,;]| (?:on|in|by|for|across|with|at|when|while|under|over|and|as|both|from|even|but)\b)",
    re.IGNORECASE,
)
_AMOUNT = r"[\d.,]*\d\s?(?:\\?%|[kKMBx]\b)?|[a-z-]+"
_FROM_TO = re.compile(rf"\bfrom (?P<a>{_AMOUNT}) to (?P<b>{_AMOUNT})(?=[\s,;).]|$)")
_MOVED = re.compile(
    r"\b(?:transfer|map|shift|mov|translat|transition|convert|adapt|generali|transform|extend|progress)\w*[^,.;]{0,40}$"
)
_RATHER = re.compile(r" (?P<than>rather than|instead of) (?P<b>(?:the |a |an )?[a-z-]+(?: [a-z-]+)?)(?=[.,;])")
_PREPOSITION = re.compile(r"(?:on|in|of|to|for|with|by|at|from|consider)\b")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|can|will|be|been|not|which|that|who|where|whose|either|also|cause|equally|could"
    r"|would|should|may|might|must|to|them|it|or|and|regarding|often|nevertheless|still|despite|while|matches)\b|¤",
    re.IGNORECASE,
)


def swaps(sentence: str) -> Found:
    """Both sides of a comparison, of "from … to …" or of "rather than" in each other's place."""
    text = masked(sentence)
    for match in _COMPARED.finditer(text):
        a, b = match["a"], match["b"]
        if not _VERB.search(f"{a} {b}") and a.lower() != b.lower():
            yield "comparison", _exchanged(sentence, match, _agreeing(match["verb"], b))
    for match in _FROM_TO.finditer(text):
        figures = match["a"][0].isdigit() and match["b"][0].isdigit()
        if match["a"] != match["b"] and (figures or (_MOVED.search(text[: match.start()]) and not _idle(match))):
            yield "from to", put(sentence, match, f"from {match['b']} to {match['a']}")
    for match in _RATHER.finditer(text):
        b = match["b"].split()
        a = text[: match.start()].split()[-len(b) :]
        alike = (a[:1] in (["a"], ["an"], ["the"])) == (b[0] in {"a", "an", "the"})
        if alike and a != b and re.fullmatch(r"[a-z -]+", " ".join(a)) and not _PREPOSITION.match(a[0]):
            before = sentence[: match.start() - len(" ".join(a))]
            yield "rather than", f"{before}{match['b']} {match['than']} {' '.join(a)}{sentence[match.end() :]}"


def _idle(match: re.Match[str]) -> bool:
    return match["a"] in {"scratch", "end", "one", "time"} or match["b"] in {"the", "a", "an", "another", "one", "be"}


def _exchanged(sentence: str, match: re.Match[str], verb: str) -> str:
    a, b = match["a"], match["b"]
    if match.start("a") == 0:
        b = b[:1].upper() + b[1:]
        a = a[:1].lower() + a[1:] if a.split()[0].istitle() and a.split()[0].lower() in _LOWERED else a
    return f"{sentence[: match.start('a')]}{b} {verb} {a}{sentence[match.end('b') :]}"


_LOWERED = frozenset("the a an our this these such each both all many most using".split())


def _agreeing(verb: str, subject: str) -> str:
    """The verb in the number of its new subject."""
    last = subject.rsplit(maxsplit=1)[-1]
    plural = bool(re.search(r"[A-Za-z]s$", last)) and not re.search(r"(?:ss|us|is)$", last)
    head, *rest = verb.split(" ")
    if (head.endswith("ly") or head == "even") and rest:
        return f"{head} {_agreeing(' '.join(rest), subject)}"
    if head in {"is", "are"}:
        head = "are" if plural else "is"
    else:
        base = {"surpasses": "surpass", "implies": "imply"}.get(
            head, head.removesuffix("s") if head != "surpass" else head
        )
        head = base if plural else third_person(base)
    return " ".join([head, *rest])
