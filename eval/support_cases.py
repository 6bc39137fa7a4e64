"""Turns papers into cases for the check of a sentence against its quotes: corrupted ones, and ones that are faithful.

    papers file ─ drawn ─▶ papers ─▶ corrupted, swapped references │ own sentences, paraphrases, TL;DRs, conclusions

Half of all papers, by a hash of their ids, are `dev`, where thresholds may be set; the others are `test`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from random import Random

import numpy as np

from eval.beir import read_collection
from eval.corrupt import KINDS, corruptions
from eval.corrupt_names import Names
from eval.errors import SuiteError
from eval.faithful import paraphrases
from rag.load import load_papers
from rag.question import content_words
from rag.sentences import sentence_spans
from rag.text import shown
from rag.types import Paper, Quote

_LONG_ENOUGH = 6  # content words of a sentence that says something of its own paper
_THE_SAME = 0.7  # share of them, by weight, from which another paper's sentence may well say the same


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence with what it is said to rest on. kind, form: what was done to it; titles: of the papers quoted."""

    kind: str
    form: str
    sentence: str
    quotes: tuple[Quote, ...]
    titles: tuple[str, ...]
    faithful: bool


def half_of(paper_id: str) -> str:
    """Of which half a paper is: "dev" or "test"."""
    return ("dev", "test")[hashlib.sha256(paper_id.encode()).digest()[0] % 2]


def drawn(papers: Path, limit: int, split: str, seed: int) -> tuple[Paper, ...]:
    """Those of `limit` papers, drawn by chance, that are of the split ("all": each)."""
    found = [paper for paper in load_papers([papers]) if isinstance(paper, Paper)]
    Random(seed).shuffle(found)  # noqa: S311
    kept = tuple(paper for paper in found[:limit] if split in {"all", half_of(paper.id)})
    if not kept:
        raise SuiteError(f"{papers} holds no paper in its {split} half")
    return kept


def quotes_of(paper: Paper) -> tuple[Quote, ...]:
    """All sentences of the abstract; not an item's number that stands alone."""
    spans = [span for span in sentence_spans(paper.abstract) if len(paper.abstract[slice(*span)].split()) > 1]
    return tuple(Quote(paper.id, paper.abstract[a:b], a, b) for a, b in spans)


def titles_of(paper: Paper) -> tuple[str, ...]:
    """Its title, when it has one of its own."""
    return () if paper.untitled else (paper.title,)


def corrupted(papers: Sequence[Paper], seed: int) -> Iterator[Case]:
    """Of each abstract and kind, one sentence with one thing changed, quoted as it was."""
    names = Names.of(paper.abstract for paper in papers)
    for paper in papers:
        found: defaultdict[str, defaultdict[str, list[Case]]] = defaultdict(lambda: defaultdict(list))
        for quote in quotes_of(paper):
            for made in corruptions(quote.text, names, paper, f"{seed} {paper.id}"):
                case = Case(made.kind, made.form, made.text, (quote,), titles_of(paper), faithful=False)
                found[made.kind][made.form].append(case)
        for kind in KINDS:
            if forms := found[kind]:
                dice = Random(f"{seed} {paper.id} {kind}")  # noqa: S311
                yield dice.choice(forms[dice.choice(sorted(forms))])  # a rare form is as likely as a common one


def swapped_references(papers: Sequence[Paper], seed: int) -> Iterator[Case]:
    """Of each abstract one sentence as it is, quoted from another: the likest sentence of all, and any sentence."""
    owned = [(paper, quote) for paper in papers for quote in quotes_of(paper)]
    likeness = _Likeness([quote.text for _, quote in owned], [paper.id for paper, _ in owned])
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, (paper, quote) in enumerate(owned):
        if len(set(content_words(quote.text))) >= _LONG_ENOUGH:
            places[paper.id].append(place)
    for paper in papers:
        dice = Random(f"{seed} {paper.id}")  # noqa: S311
        if not places[paper.id]:
            continue
        place = dice.choice(places[paper.id])
        chosen = {"likest": likeness.nearest(place), "random": dice.randrange(len(owned))}
        for form, other in chosen.items():
            if other is not None and owned[other][0].id != paper.id:
                theirs, quote = owned[other]
                sentence = owned[place][1].text
                yield Case("reference", form, sentence, (quote,), titles_of(theirs), faithful=False)


class _Likeness:
    """Which sentence of another paper shares the most words, rare ones weighing more (cosine of idf)."""

    def __init__(self, texts: Sequence[str], owners: Sequence[str]) -> None:
        self._words = [sorted(set(content_words(text))) for text in texts]
        counts = Counter(word for words in self._words for word in words)
        self._idf = {word: log(len(texts) / count) + 0.1 for word, count in counts.items()}
        self._lengths = np.array([sum(self._idf[w] ** 2 for w in words) ** 0.5 for words in self._words])
        postings: defaultdict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(self._words):
            for word in words:
                postings[word].append(place)
        self._postings = {word: np.array(places) for word, places in postings.items()}
        self._owners = np.array(owners)

    def nearest(self, place: int) -> int | None:
        """Its place, or None when none is like; sentences that may well say the same are passed over."""
        shared = np.zeros(len(self._owners))
        for word in self._words[place]:
            shared[self._postings[word]] += self._idf[word] ** 2
        shared[self._owners == self._owners[place]] = 0
        shared[shared > _THE_SAME * self._lengths[place] ** 2] = 0
        scores = shared / np.maximum(self._lengths, 1e-9)
        best = int(scores.argmax())
        return best if scores[best] > 0 else None


def own_sentences(papers: Sequence[Paper]) -> Iterator[Case]:
    """Each sentence of each abstract, quoted as it is."""
    for paper in papers:
        for quote in quotes_of(paper):
            yield Case("own sentences", "", quote.text, (quote,), titles_of(paper), faithful=True)


def own_paraphrases(papers: Sequence[Paper], seed: int) -> Iterator[Case]:
    """Of each abstract and rule, one sentence said otherwise, quoted as it was."""
    for paper in papers:
        found: defaultdict[str, list[Case]] = defaultdict(list)
        for quote in quotes_of(paper):
            for form, text in paraphrases(quote.text):
                case = Case("paraphrases", form, text, (quote,), titles_of(paper), faithful=True)
                found[form].append(case)
        for form, cases in found.items():
            yield Random(f"{seed} {paper.id} {form}").choice(cases)  # noqa: S311


def summaries(folder: Path, split: str) -> Iterator[Case]:
    """Authors' one-line summaries, a collection in BEIR's form: each sentence of them against its whole abstract."""
    collection = read_collection(folder)
    papers = {p.id: p for p in load_papers([collection.corpus]) if isinstance(p, Paper)}
    for query, text in collection.queries.items():
        for paper_id in collection.judgements[query]:
            if paper_id in papers and split in {"all", half_of(paper_id)}:
                yield from _against("TL;DR", text, papers[paper_id])


def conclusions(folder: Path, split: str) -> Iterator[Case]:
    """PubMedQA's long answers, sentence by sentence, against the abstracts whose conclusions they were."""
    papers = {p.id: p for p in load_papers([folder / "corpus.jsonl"]) if isinstance(p, Paper)}
    for line in (folder / "qa.jsonl").read_text("utf-8").split("\n"):
        row = json.loads(line) if line.strip() else {}
        if row and row["id"] in papers and split in {"all", half_of(row["id"])}:
            yield from _against("conclusion", row["long_answer"], papers[row["id"]])


def _against(kind: str, text: str, paper: Paper) -> Iterator[Case]:
    plain, quotes = shown(text), quotes_of(paper)
    for start, end in sentence_spans(plain):
        yield Case(kind, "", plain[start:end], quotes, titles_of(paper), faithful=True)
