"""The words that corruptions turn into one another: units, opposites, verbs and their negated forms."""

from __future__ import annotations

import re
from collections.abc import Mapping

NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty".split()

# unit → another of the same kind; each is looked for only behind a figure.
UNITS: Mapping[str, str] = dict(
    pair.split(":")
    for pair in (
        "ms:s milliseconds:seconds millisecond:second second:minute seconds:minutes sec:min minutes:hours minute:hour "
        "min:h hours:days hour:day days:weeks day:week weeks:months week:month months:years month:year years:months "
        "year:month TB:GB GB:MB MB:GB KB:MB kB:MB GiB:MiB gigabytes:megabytes megabytes:gigabytes bits:bytes bit:byte "
        "bytes:bits mm:cm cm:mm km:m kilometers:meters kilometres:metres meters:kilometers metres:kilometres nm:mm "
        "kg:g mg:g μg:mg mL:L kHz:Hz MHz:kHz GHz:MHz Hz:kHz mW:W GFLOPs:TFLOPs MFLOPs:GFLOPs TFLOPs:GFLOPs dB:Hz "
        "thousand:million million:billion billion:million trillion:billion thousands:millions millions:billions"
    ).split()
)

# The letter behind a figure: 7B, 57k, 12M.
SCALES: Mapping[str, str] = {"k": "M", "K": "M", "M": "B", "B": "M", "T": "B"}

_VERB_ENDINGS = ("", "s", "d", "ing")
_OPPOSITES = """
increase increases increased increasing increasingly / decrease decreases decreased decreasing decreasingly
higher highest / lower lowest
faster fastest / slower slowest
outperform outperforms outperformed outperforming / underperform underperforms underperformed underperforming
above / below
improve improves improved improving improvement improvements / \
    worsen worsens worsened worsening deterioration deteriorations
larger largest bigger biggest / smaller smallest smaller smallest
before / after
better best / worse worst
strengthen strengthens strengthened strengthening / weaken weakens weakened weakening
stronger strongest strongly / weaker weakest weakly
longer longest / shorter shortest
easier easiest / harder hardest
cheaper / costlier
accelerate accelerates accelerated accelerating acceleration / decelerate decelerates decelerated decelerating \
    deceleration
maximize maximizes maximized maximizing maximization / minimize minimizes minimized minimizing minimization
maximise maximises maximised maximising maximisation / minimise minimises minimised minimising minimisation
positive positively / negative negatively
deeper deepest / shallower shallowest
wider widest / narrower narrowest
earlier earliest / later latest
superior superiority / inferior inferiority
amplify amplifies amplified amplifying / attenuate attenuates attenuated attenuating
encourage encourages encouraged encouraging / discourage discourages discouraged discouraging
efficient efficiently efficiency / inefficient inefficiently inefficiency
sufficient sufficiently / insufficient insufficiently
overestimate overestimates overestimated overestimating overestimation / \
    underestimate underestimates underestimated underestimating underestimation
sublinear sublinearly / superlinear superlinearly
enhance enhances enhanced enhancing enhancement / impair impairs impaired impairing impairment
alleviate alleviates alleviated alleviating / aggravate aggravates aggravated aggravating
expand expands expanded expanding / contract contracts contracted contracting
successful successfully / unsuccessful unsuccessfully
often frequently / rarely rarely
richer / poorer
denser / sparser
tighter tightest / looser loosest
closer closest / farther farthest
simpler / more complex
fewer / more
safer / riskier
same / opposite
majority / minority
"""
# One way only: what would come of the way back is said by another line, or reads badly.
_ONE_WAY = """
reduce reduces reduced reducing reduction reductions / increase increases increased increasing increase increases
greater greatest / smaller smallest
boost boosts boosted boosting / reduce reduces reduced reducing
degrade degrades degraded degrading degradation / improve improves improved improving improvement
exceed exceeds exceeded exceeding / trail trails trailed trailing
surpass surpasses surpassed surpassing / trail trails trailed trailing
mitigate mitigates mitigated mitigating / worsen worsens worsened worsening
less / more
high / low
large / small
fast / slow
low / high
small / large
slow / fast
strong / weak
weak / strong
sharper / blunter
rises / falls
grows / shrinks
grow / shrink
"""
PHRASES: Mapping[str, str] = {
    "at least": "at most",
    "at most": "at least",
    "more than": "less than",
    "less than": "more than",
    "fewer than": "more than",
    "up to": "at least",  # only before a figure: see `directions`
    "upper bound": "lower bound",
    "upper bounds": "lower bounds",
    "lower bound": "upper bound",
    "lower bounds": "upper bounds",
    "the most": "the least",
    "in favour of": "against",
    "consistent with": "contrary to",
    "in line with": "contrary to",
}


def _pairs(lines: str, *, back: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines.strip().splitlines():
        left, right = line.split(" / ")
        others = [right.strip()] if " " in right.strip() and len(left.split()) == 1 else right.split()
        for a, b in zip(left.split(), others, strict=True):
            found.setdefault(a, b)
            if back and " " not in b:
                found.setdefault(b, a)
    return found


OPPOSITES: Mapping[str, str] = {
    **_pairs(_ONE_WAY, back=False),
    **_pairs(_OPPOSITES.replace("\\\n", ""), back=True),
    "more": "less",
    "fewer": "more",
}

# Where such a word is a part of a name or an idiom, and its opposite would be no English or say nothing else.
KEPT = re.compile(
    r"more (?:recently|specifically|precisely|generally|importantly|broadly|concretely|and more|or less|formally)"
    r"|(?:one|two|what is|once|no|any|and|even|much|far|or) (?:more|less|longer|better)|less (?:is|and less)|the same"
    r"|(?:to|can|us) better|better understand\w*|the best of|best[- ](?:arm|response|of|known|practices?|effort)"
    r"|large[- ](?:language|vision|multimodal|pre-?trained|model|scale)\w*|(?:very|extra) large|high[- ](?:level|order)"
    r"|low-level|small[- ]world|fast(?:er)? (?:R-CNN|Fourier)|long(?:er)? short|same time"
    r"|(?:reduc\w+|contract\w*|expand\w*|boil\w*) (?:to|it|from)\b|gradient[- ]boost\w*|boosting|contract\w*"
    r"|(?:semi|non|true|false)[- ](?:positive|negative)s?|positive[- ](?:semi|definite)\w*|weak[- ]supervision"
    r"|weakly[- ]\w+|strongly[- ](?:convex|concave|log)\w*|strong(?:ly)? (?:convex|baseline)\w*|up to (?:a|an|the|date)"
    r"|the above|above[- ]mentioned|abovementioned|see (?:above|below)|described (?:above|below)|the latest"
    r"|slow and fast|fast and slow|(?:sooner|earlier) or later|no earlier|before and after|day before|enhanced with"
    r"|higher[- ](?:order|level)|lower[- ](?:order|level)|lower[- ]case|weak(?:ly)? learn\w+|later (?:in|on)"
    r"|minimiz\w+ maxim\w+|empirical risk minimi[sz]ation|expectation[- ]maximi[sz]ation|high demand"
    r"|more often than not|rarely if ever|the (?:above|following)|same as|opposite|majority (?:vote|voting)"
    r"|in (?:large|small) part|large part|(?:by|at) large|grow(?:s|ing)? (?:body|interest)|lower (?:half|semi)\w*",
    re.IGNORECASE,
)

_VERBS = (
    "outperform achieve require provide enable allow reduce lead generalize generalise depend converge contain capture "
    "suggest demonstrate ensure perform consist exhibit surpass exceed learn rely introduce consider assume improve "
    "maintain preserve avoid eliminate prevent accelerate generate produce obtain satisfy recover affect apply remain "
    "become extend incorporate integrate operate exploit combine propose predict encode identify reveal indicate offer "
    "involve determine induce adapt adjust compute detect discover employ exist focus guide explain suffer "
    "need bring hold help give show prove use work serve include follow"
).split()
_SIBILANT = ("s", "x", "z", "ch", "sh")


def third_person(verb: str) -> str:
    """The verb after "it": "rely" → "relies"."""
    if verb in {"do", "go"}:
        return f"{verb}es"
    if verb == "have":
        return "has"
    if verb == "be":
        return "is"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_SIBILANT) else f"{verb}s"


# "relies" → "rely"; nouns that look the same ("shows", "uses", "works") are left out.
BASE_FORMS: Mapping[str, str] = {
    third_person(verb): verb for verb in _VERBS if verb not in {"need", "show", "use", "work"}
}
PAST_FORMS: Mapping[str, str] = {
    "found": "find",
    "showed": "show",
    "observed": "observe",
    "proposed": "propose",
    "achieved": "achieve",
    "evaluated": "evaluate",
    "used": "use",
    "trained": "train",
    "developed": "develop",
    "introduced": "introduce",
    "conducted": "conduct",
    "collected": "collect",
}
