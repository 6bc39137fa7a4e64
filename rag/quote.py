"""The quote backend: answers in the papers' own sentences, with no model, no key and no network.

It picks, out of a prompt's evidence, the sentences most relevant to the question, and puts them in a readable order.
It invents nothing, so all that it says can be checked against the abstract word by word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rag.prompt import ABSTENTION, led_in
from rag.question import Kind, kind_of
from rag.types import Prompt

# How far below the best sentence another may lie, and how many may stand, by the kind of question.
_NEAR: dict[Kind, float] = {"fact": 0.25, "explain": 0.40, "which": 0.30, "compare": 0.40}
_MOST: dict[Kind, int] = {"fact": 3, "explain": 4, "which": 3, "compare": 3}
_PAPERS: dict[Kind, int] = {"fact": 1, "explain": 1, "which": 1, "compare": 2}


class QuoteLLM:
    """An LLM without a model: streams the evidence that answers best, each sentence with its key."""

    spec = "quote"

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Sentences of the abstracts, each followed by its [key]; the abstention when there is no evidence."""
        chosen = choose(prompt)
        if not chosen:
            yield ABSTENTION
            return
        titles = {paper.id: paper.title for paper in prompt.papers}
        lead = kind_of(prompt.question) in {"which", "papers", "compare"}
        for place, (paper_id, keys) in enumerate(groupby(chosen, key=lambda i: prompt.evidence[i].paper_id)):
            yield "\n\n" if place else ""
            for n, key in enumerate(keys):
                text = prompt.evidence[key].text
                yield f"{' ' if n else ''}{led_in(titles[paper_id], text) if lead and not n else text} [{key + 1}]"


def choose(prompt: Prompt) -> tuple[int, ...]:
    """The places in prompt.evidence of the sentences to say, papers best first, sentences in reading order."""
    kind = kind_of(prompt.question)
    if kind == "papers":
        return tuple(_best_of_each(prompt))
    best: dict[str, float] = {}
    for quote, score in zip(prompt.evidence, prompt.relevance, strict=True):
        best[quote.paper_id] = max(score, best.get(quote.paper_id, score))
    top = max(best.values(), default=0.0)
    ranked = sorted((p for p in best if best[p] >= top - _NEAR[kind]), key=lambda p: -best[p])
    return tuple(
        place for paper_id in ranked[: _PAPERS[kind]] for place in _of_paper(prompt, paper_id, best[paper_id], kind)
    )


def _best_of_each(prompt: Prompt) -> Iterator[int]:
    """A sentence of every paper, in their order."""
    for paper in prompt.papers:
        places = [i for i, quote in enumerate(prompt.evidence) if quote.paper_id == paper.id]
        if places:
            yield max(places, key=lambda i: prompt.relevance[i])


def _of_paper(prompt: Prompt, paper_id: str, best: float, kind: Kind) -> Sequence[int]:
    places = [
        i
        for i, (quote, score) in enumerate(zip(prompt.evidence, prompt.relevance, strict=True))
        if quote.paper_id == paper_id and score >= best - _NEAR[kind]
    ]
    return sorted(sorted(places, key=lambda i: -prompt.relevance[i])[: _MOST[kind]])
