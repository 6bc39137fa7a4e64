"""How well sentences answer: the signals one by one, on an embedder whose tokens are worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rag.followup import Standalone
from rag.relevance import Ranker, Relevance
from rag.types import Paper
from vectorstore.passage import Bibliography, Hit, Passage, Vector

ABSTRACT = "Filters are old. The filter needs 40 particles. The filter needs forty particles. Bread is good."


class Letters:
    """A token a word, whose vector is its first three letters: words that begin alike are near."""

    spec = "letters"

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Tokens, ...]:
        return tuple(Tokens(text) for text in texts)

    @staticmethod
    def _vector(text: str) -> Vector:
        vector = np.zeros(3 * 128, dtype=np.float32)
        for place, letter in enumerate(text.lower()[:3]):
            vector[128 * place + ord(letter) % 128] = 1
        return vector / max(1.0, float(np.linalg.norm(vector)))


class Tokens:
    def __init__(self, text: str) -> None:
        words, at = text.split(" "), 0
        self.spans: tuple[tuple[int, int], ...] = ()
        for word in words:
            self.spans += ((at, at + len(word)),)
            at += len(word) + 1
        self.vectors = np.stack([Letters._vector(word) for word in words])


def ranked(question: str, *scores: float, asked: Standalone | None = None, known: int = 1) -> Relevance:
    """The same abstract as so many papers, each found with that score."""
    papers = [Paper(f"p{n}", "", ABSTRACT, untitled=True) for n in range(len(scores))]
    hits = [
        Hit(Passage("", "", 0, 0, Bibliography(p.id, "")), score, score, 0.0)
        for p, score in zip(papers, scores, strict=True)
    ]
    return Ranker(Letters(), lambda _: known, 10).rank(
        asked or Standalone(question), list(zip(papers, hits, strict=True))
    )


def best(found: Relevance) -> str:
    return max(found.sentences, key=lambda s: s.score).quote.text


def test_every_sentence_is_a_quote_word_for_word() -> None:
    found = ranked("What does the filter need?", 0.5)
    assert [s.quote.text for s in found.sentences] == [ABSTRACT[s.quote.start : s.quote.end] for s in found.sentences]
    assert len(found.sentences) == 4


def test_each_word_has_its_nearest_token() -> None:
    found = ranked("Do filters need bread?", 0.5)
    words = [word.text for word in found.words]
    assert words == ["filters", "bread"]
    matches = {s.quote.text: dict(zip(words, s.matches, strict=True)) for s in found.sentences}
    assert matches["Bread is good."]["bread"] == pytest.approx(1)
    assert matches["Bread is good."]["filters"] < 0.5
    assert matches["The filter needs 40 particles."]["filters"] == pytest.approx(1)


def test_a_number_counts_when_one_is_asked_for_in_figures_or_in_words() -> None:
    def scores(question: str) -> dict[str, float]:
        return {s.quote.text: s.score for s in ranked(question, 0.5).sentences}

    plain, numbered = scores("Does a filter need many particles?"), scores("How many particles does a filter need?")
    assert best(ranked("How many particles does a filter need?", 0.5)).startswith("The filter needs")
    gain = {text: numbered[text] - plain[text] for text in plain}
    assert gain["The filter needs 40 particles."] == pytest.approx(gain["Filters are old."] + 0.1, abs=1e-5)


def test_an_opening_counts_less_than_the_same_words_later() -> None:
    text = "The filter is old. The filter is old."
    paper = Paper("p", "", text, untitled=True)
    hit = Hit(Passage("", "", 0, 0, Bibliography("p", "")), 0.5, 0.5, 0.0)
    first, second = Ranker(Letters(), lambda _: 1, 10).rank(Standalone("Is the filter old?"), [(paper, hit)]).sentences
    assert second.score - first.score == pytest.approx(0.06, abs=1e-5)
    assert first.matched == pytest.approx(second.matched)


def test_a_paper_that_retrieval_put_higher_counts_more_but_is_no_nearer_for_its_words() -> None:
    found = ranked("What does the filter need?", 0.9, 0.4)
    high, low = found.sentences[:4], found.sentences[4:]
    assert all(a.score - b.score == pytest.approx(0.25) for a, b in zip(high, low, strict=True))


def test_a_follow_up_stays_with_the_papers_that_it_leans_on() -> None:
    found = ranked("", 0.5, 0.5, asked=Standalone("And how many?", "What does the filter need", ("p1",)))
    assert max(found.sentences, key=lambda s: s.score).quote.paper_id == "p1"
    assert [word.text for word in found.words][-1] == "filter"


def test_a_word_that_stands_nowhere_weighs_half() -> None:
    def weight(known: int) -> float:
        return next(w.weight for w in ranked("filter?", 0.5, known=known).words)

    assert weight(0) == pytest.approx(0.5 * np.log(1 + 10.5 / 0.5))


def test_a_question_without_words_ranks_by_paper_alone() -> None:
    found = ranked("???", 0.9, 0.1)
    assert found.sentences[1].score > found.sentences[5].score
