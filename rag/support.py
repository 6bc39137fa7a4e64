"""Tells whether the words that a sentence cites say what the sentence says.

Checked in turn: numbers by value, units and bounds; names; negations; directions; the two sides of a comparison; and
whether enough of its content stands there. What is said in quite other words is not understood. It knows no model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from rag.polarity import Line, direction, line, negation, overlap, swapped
from rag.quantities import quantities, stands_in
from rag.text import searched, words
from rag.types import Quote

# Found on the dev halves of the corruptions and of the summaries (eval/LOG.md).
_ENOUGH = 0.38
_DOUBTED = 0.3  # of the score, when something is wrong

_LETTERS = r"[^\W\d_]"
_NAME = re.compile(rf"{_LETTERS}[\w+]*(?:[-./']\w+)*|\d+[\w+]*{_LETTERS}[\w+]*(?:[-./]\w+)*")
_FIGURE = re.compile(r"\d+(?:[xXkKMBTbms]|[a-z]{2,}|[kM]?[GMKT]?[bBhH]?[zs]?)(?:-fold)?")
_OPENS = re.compile(r"(?:^|[.:;?!“\"(\[]|\b[a-z]\))\s*$")
_SHORT = 4  # letters; a name of more may take an ending, "Bayesian" for "Bayes"
_LONG = 10  # letters of a name that may be misspelt in two
# Acronyms that every reader knows, and a word of which one has to stand there when they do not.
_KNOWN: dict[str, str] = {
    "rnn": "recurrent", "lstm": "recurrent", "cnn": "convolution", "dcnn": "convolution", "convnet": "convolution",
    "gan": "adversarial", "wgan": "wasserstein", "dnn": "neural", "nn": "neural", "ann": "neural", "gnn": "graph",
    "gcn": "graph", "mlp": "perceptron|feedforward|fully", "vae": "variational|autoencoder", "ae": "autoencoder",
    "sgd": "gradient", "rl": "reinforcement", "drl": "reinforcement", "marl": "agent", "mbrl": "model-based",
    "mdp": "decision process|markov", "pomdp": "partially", "llm": "language model", "lm": "language model",
    "vlm": "vision", "nlp": "language", "nmt": "translation", "mt": "translation", "qa": "question", "kl": "divergence",
    "svm": "vector machine", "pca": "principal", "svd": "singular", "mcmc": "monte carlo", "mse": "squared",
    "ml": "learn", "dl": "deep", "ai": "intelligen", "gp": "gaussian process", "ood": "distribution",
    "iid": "identically", "sota": "state", "soa": "state", "ssl": "supervis", "fl": "federated", "dp": "privacy",
    "ot": "transport", "2d": "dimension", "3d": "dimension", "imagenet": "image", "api": "interface",
    "us": "united", "uk": "kingdom", "cl": "continual|contrastive|curriculum", "mri": "magnetic", "ct": "tomograph",
    "rct": "random", "bmi": "body mass",
    "ci": "confidence", "icu": "intensive", "ehr": "record", "gpu": "hardware", "nas": "architecture search",
}  # fmt: skip
_SMALL_WORDS = frozenset("of the and for in to a on".split())


@dataclass(frozen=True, slots=True)
class Support:
    """ok: whether the quotes say so. reason: what of the sentence they do not say, "" when ok. score: 0..1, for
    ranking: how much of its content stands there, less when something contradicts. contradicts: whether the quotes say
    the opposite, as far as can be told. thin: whether all that is wrong is that too little of it stands there.
    """

    ok: bool
    reason: str
    score: float
    contradicts: bool = False
    thin: bool = False


def check(sentence: str, quotes: Sequence[Quote], titles: Sequence[str] = (), *, foreign: bool = False) -> Support:
    """Whether the quotes, taken together, support the sentence; never, when there are none.

    sentence: without markers. titles: of the papers quoted; names and words may stand there. foreign: the sentence is
    in another language than the quotes, so that numbers, units and names alone are compared.
    """
    if not quotes:
        return Support(ok=False, reason="it cites nothing", score=0.0)
    sentence = searched(sentence)
    texts = [searched(quote.text) for quote in quotes]
    there = " ".join([*texts, *map(searched, titles)])
    sources = [line(text) for text in texts]
    wrong = _wrong_number(sentence, there) or _wrong_name(sentence, there)
    if foreign:
        return Support(not wrong, wrong, 0.0 if wrong else 1.0)
    said = line(sentence)
    share = overlap(said, line(there))
    if wrong:
        return Support(ok=False, reason=wrong, score=share * _DOUBTED)
    if opposite := _opposite(said, sources):
        return Support(ok=False, reason=opposite, score=share * _DOUBTED, contradicts=True)
    enough = share >= _ENOUGH
    return Support(enough, "" if enough else "too little of it stands in what it cites", share, thin=not enough)


def _wrong_number(sentence: str, there: str) -> str:
    source = quantities(there)
    for said in quantities(sentence):
        why = "" if said.named else stands_in(said, source)
        if why:
            return {
                "number": f"the number {said.text} does not stand in what it cites",
                "unit": f"the number {said.text} stands there with another unit",
                "bound": f"the number {said.text} is a bound the other way there",
            }[why]
    return ""


def _opposite(said: Line, sources: Sequence[Line]) -> str:
    if word := negation(said, sources):
        return f"what it cites says the opposite, or does not deny it (“{word}”)"
    if word := direction(said, sources):
        return f"what it cites has the opposite of “{word}”"
    if word := swapped(said, sources):
        return f"what it cites has the two sides of “{word}” the other way round"
    return ""


def _wrong_name(sentence: str, there: str) -> str:
    found = frozenset(words(there))
    for name in _names(sentence):
        parts = _parts(name)
        plain = not any(map(str.isupper, name[1:]))
        if not all(_stands(part, found, plain=plain) for part in parts) and not _written_otherwise(parts, name, there):
            return f"the name {name} does not stand in what it cites"
    return ""


def _names(sentence: str) -> Iterator[str]:
    """Words that look like names: with a capital or a digit inside, or a capital where no sentence begins."""
    long: list[str] = re.findall(rf"{_LETTERS}{{4,}}", sentence)
    headline = sum(word[0].isupper() for word in long) > len(long) / 2
    for m in _NAME.finditer(sentence):
        name = m.group().removesuffix("'s")
        if _FIGURE.fullmatch(name) or sentence[m.start() - 1 : m.start()] in {".", ","}:
            continue
        inner = any(map(str.isupper, name[1:])) or (any(map(str.isdigit, name)) and any(map(str.isalpha, name)))
        begins = headline or _OPENS.search(sentence[: m.start()])
        if len(name) > 1 and (inner or (name[0].isupper() and not begins)):
            yield name


def _parts(name: str) -> tuple[str, ...]:
    """The words of a name that make it one: of "LLM-based" the first."""
    pieces = re.split(r"[-/]", name)
    kept = [piece for piece in pieces if any(char.isupper() or char.isdigit() for char in piece)]
    return tuple(part for piece in kept for part in words(piece))


def _stands(part: str, found: frozenset[str], *, plain: bool) -> bool:
    """Whether a word stands there. plain: not written as an acronym, so that it may have another ending or a slip."""
    if part in found or part.removesuffix("s") in found or part + "s" in found:
        return True
    if len(part) <= _SHORT or not part.isalpha() or not plain:
        return False
    if any(word[: len(part) - 2] == part[:-2] for word in found if len(word) > _SHORT - 1):
        return True
    slips = 2 if len(part) >= _LONG else 1 if len(part) > _SHORT + 2 else 0
    return bool(slips) and any(Levenshtein.distance(part, word, score_cutoff=slips) <= slips for word in found)


def _written_otherwise(parts: Sequence[str], name: str, there: str) -> bool:
    """Whether a name stands there joined, divided, as initials or spelt out."""
    there = there.lower()
    letters = [letter for part in parts for letter in part]
    if len(letters) > 2 and re.search(rf"(?<![a-z0-9]){'[-_ ]?'.join(map(re.escape, letters))}(?:s|-|\b)", there):
        return True
    bare = "".join(letters).removesuffix("s")
    if any(word in there for word in _KNOWN.get(bare, "").split("|") if word):
        return True
    if len(bare) <= 2 or not bare.isalpha() or not name[:2].isupper():
        return False
    spelt = re.findall(r"[^\W\d_]+", there)
    initials = "".join(word[0] for word in spelt)
    return bare in initials or bare in "".join(word[0] for word in spelt if word not in _SMALL_WORDS)
