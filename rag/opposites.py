"""Words of direction and their opposites: "increase" and "reduce", "better" and "worse", by their stems."""

from __future__ import annotations

from functools import lru_cache

_ENDINGS = (
    "ations", "ation", "ating", "ated", "ates", "ate", "ments", "ment", "ings", "ing", "ied", "ies", "sses", "ed", "es",
    "ingly", "edly", "ly", "s", "e", "y",
)  # fmt: skip
# Groups of words, each with its two sides.
_GROUPS = (
    # magnitude
    "increase rise raise grow growth grew grown boost amplify expand expansion enlarge high more most larger large "
    "big greater great up above over exceed longer long maximal maximum maximize maximise max many widen upper "
    "double gain tall deep heavy wide broad broaden abundant heavier elevate upward over-"
    "|decrease reduce reduction low lower lessen drop fall fell fallen decline shrink shrank diminish less least small "
    "smaller fewer few down below under beneath shorter short minimal minimum minimize minimise min little narrow cut "
    "halve mitigate loss shallow light thin scarce lighter downward",
    # quality
    "better best improve improvement enhance enhancement outperform surpass superior superiority strengthen strong "
    "gain win beat benefit good well robust accurate succeed success successful effective excel advance"
    "|worse worst worsen degrade degradation deteriorate underperform inferior inferiority weaken weak hurt harm lose "
    "lag poor poorly bad badly fragile inaccurate fail failure unsuccessful ineffective impair",
    "mitigate alleviate ease relieve reduce remedy overcome solve resolve|worsen aggravate exacerbate intensify",
    "expand expansion stretch|contract contraction compress shrink",
    "sublinear sublinearly|superlinear superlinearly",
    "increasing increasingly|decreasing decreasingly",
    "surpass exceed outperform lead ahead|trail lag behind underperform",
    "gain improvement improve|deteriorate deterioration loss",
    "accelerate acceleration|decelerate deceleration",
    "fast faster fastest quick quickly rapid rapidly accelerate acceleration speedup speed|slow slower slowest slowly "
    "slowdown decelerate gradual gradually",
    "easy easier easily simple simpler simplify simplicity ease|hard harder difficult difficulty complex complicated "
    "complicate complexity",
    "before prior precede earlier early first previous previously|after following subsequent subsequently later late "
    "last follow final",
    "positive positively|negative negatively",
    "cheap cheaper inexpensive|expensive costly dear",
    "support confirm agree agreement corroborate consistent line accord match|contradict refute disagree disagreement "
    "conflict oppose contrary inconsistent odds",
    "enable allow facilitate help permit encourage promote|prevent hinder impede block prohibit inhibit forbid "
    "discourage suppress",
    "include inclusion|exclude exclusion",
    "accept acceptance|reject rejection",
    "always|never",
    "same identical|different",
    "tight tighter|loose looser",
    "sparse sparser|dense denser",
    "local locally|global globally",
    "online|offline",
    "near nearer close closer|far farther distant",
    "rich richer|poor poorer",
    "add addition|remove removal",
    "internal|external",
    "attract|repel",
    "active activate activation|passive deactivate inhibit",
    "optimistic|pessimistic",
    "common frequent frequently often|rare rarely infrequent uncommon seldom",
    "safe safer|dangerous harmful",
    "all every each|none no",
    "start begin|end stop finish",
    "convex|concave nonconvex",
    "discrete|continuous",
    "static|dynamic",
    "lossless|lossy",
    "overfit overestimate|underfit underestimate",
    "majority|minority",
    "full fully complete completely entire|partial partially incomplete",
    "explicit explicitly|implicit implicitly",
    "direct directly|indirect indirectly",
)


def stem(token: str) -> str:
    """A lower-case word without its ending, so that "reduces" and "reduction" meet; coarse, and the same everywhere."""
    if token.endswith("ss"):
        return token
    for ending in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= 3:
            return token[: -len(ending)]
    return token


@lru_cache(maxsize=1)
def opposites() -> dict[str, frozenset[tuple[int, int]]]:
    """Stem → the groups it belongs to and its side in each, 1 or −1; a word may be in several."""
    found: dict[str, set[tuple[int, int]]] = {}
    for group, row in enumerate(_GROUPS):
        for sign, side in zip((1, -1), row.split("|"), strict=True):
            for word in side.split():
                found.setdefault(stem(word), set()).add((group, sign))
    return {word: frozenset(sides) for word, sides in found.items()}
