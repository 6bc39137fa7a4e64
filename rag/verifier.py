"""Verifiers: entailment models that may be asked besides rag.support; the table that turns a spec into one.

none               the default: rag.support decides alone
st:NAME_OR_FOLDER  any cross-encoder of sentence-transformers whose labels are entailment, contradiction and the like

A verifier has a say where rag.support found nothing wrong: it may find a sentence unsupported that has the words of its
quotes, and supported what says the same in others. Numbers, names and negations stay with rag.support.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, Protocol

from rag.cross_encoder import CrossEncoderModel
from rag.errors import BackendError, ModelError
from rag.repair import Backed
from rag.specs import make, needs_name, takes_no_name
from rag.support import Support
from rag.text import searched

DEFAULT_VERIFIER = "none"
_log = logging.getLogger(__name__)

Verdict = Literal["entailment", "neutral", "contradiction"]


class Verifier(Protocol):
    """Reads what is cited and what is said together; `spec` says which it is."""

    @property
    def spec(self) -> str:
        """The spec that makes this verifier again."""

    def judge(self, cited: str, said: str) -> Verdict:
        """Whether what is said follows from what is cited; BackendError when it cannot tell."""


def make_verifier(spec: str) -> Verifier | None:
    """The verifier that a spec names, None for "none" and ""; UnknownSpec or ModelError say what is wrong."""
    return make("verifier", spec or DEFAULT_VERIFIER, _TABLE)


def confirmed(found: Backed, sentence: str, verifier: Verifier) -> Backed:
    """What a sentence rests on, with the verifier's word on it; as it was when the verifier fails.

    sentence: without markers, in the language of its quotes.
    """
    support = found.support
    if not found.quotes or not (support.ok or support.thin):
        return found
    try:
        verdict = verifier.judge(" ".join(searched(quote.text) for quote in found.quotes), searched(sentence))
    except BackendError as error:
        _log.warning("%s; the built-in check decided alone", error)
        return found
    if verdict == "entailment":
        return replace(found, support=Support(ok=True, reason="", score=support.score))
    opposite = verdict == "contradiction"
    reason = f"what it cites {'says the opposite' if opposite else 'does not say so'}, going by {verifier.spec}"
    return replace(found, support=Support(ok=False, reason=reason, score=support.score, contradicts=opposite))


class EntailmentVerifier:
    """An entailment cross-encoder; the likeliest of its labels is its verdict."""

    def __init__(self, name: str) -> None:
        self.spec = f"st:{name}"
        self._model = CrossEncoderModel(name, "verifier")
        self._verdicts = tuple(map(_verdict, self._model.labels))
        if "entailment" not in self._verdicts or len(self._verdicts) < 2:
            labels = ", ".join(self._model.labels)
            raise ModelError(f"{name!r} is no verifier: its labels are {labels}, and none is entailment")

    def judge(self, cited: str, said: str) -> Verdict:
        """The likeliest label of the pair."""
        return self._verdicts[int(self._model.scores([(cited, said)])[0].argmax())]


def _verdict(label: str) -> Verdict:
    known = label.casefold()
    if known.startswith("contradict"):
        return "contradiction"
    return "entailment" if known.startswith("entail") else "neutral"


_TABLE: Mapping[str, Callable[[str], Verifier | None]] = {
    "none": partial(takes_no_name, "verifier", "none"),
    "st": lambda name: EntailmentVerifier(needs_name("verifier", "st", name, "NAME_OR_FOLDER")),
}
