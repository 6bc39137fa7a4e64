"""Hits: one a paper, best first, no more than asked for, and those of the conversation besides."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import KeywordEmbedder

from rag.embed import make_embedder
from rag.index import index_papers
from rag.opening import opened_for_writing
from rag.retrieve import retrieve
from rag.text import search_words
from rag.types import Paper
from vectorstore.store import VectorStore

FIRST = [
    ("How many particles does the filter need?", "filter"),
    ("Which drug works against cancer?", "cancer"),
    ("how long is the PROOF", "graph"),
    ("language model", "language"),
    ("the wettest hill", "bare"),  # no word of the embedder's: found by its words alone
]


def ids(store: VectorStore, question: str, k: int, *also: str) -> list[str]:
    hits = retrieve(store, KeywordEmbedder(), question, k, also=also)
    return [hit.passage.paper_id for hit in hits]


@pytest.mark.parametrize(("question", "paper"), FIRST)
def test_the_paper_that_answers_comes_first(store: VectorStore, question: str, paper: str) -> None:
    assert ids(store, question, 3)[0] == paper


@pytest.mark.parametrize("k", [1, 2, 4, 5, 50, 200])
def test_k_papers_or_all_there_are(store: VectorStore, k: int) -> None:
    found = ids(store, "a filter against cancer", k)
    assert len(found) == len(set(found)) == min(k, 5)
    assert set(found[:2]) <= {"filter", "cancer"}


def test_scores_fall(store: VectorStore) -> None:
    hits = retrieve(store, KeywordEmbedder(), "a filter against cancer", 5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]


def test_also_brings_up_papers_below_k_in_their_place(store: VectorStore) -> None:
    best = ids(store, "language model", 5)
    assert ids(store, "language model", 1, best[4], best[2], "unknown") == [best[0], best[2], best[4]]
    assert ids(store, "language model", 3, best[0], best[1]) == best[:3]


def test_a_paper_of_many_passages_is_one_hit_by_its_best(place: str, papers: tuple[Paper, ...]) -> None:
    plain = "Nothing of interest is told in this sentence, which goes on and on for quite a while. " * 12
    long = Paper("long", "A long one", plain + "Only the end tells of cancer. " + plain)
    with opened_for_writing(place, "keyword", KeywordEmbedder) as (store, embedder):
        index_papers(store, embedder, [*papers, long])
        assert store.counts() == (6, 8)
        hits = retrieve(store, embedder, "cancer", 6)
        assert sorted(hit.passage.paper_id for hit in hits) == sorted(["long", *(paper.id for paper in papers)])
        (hit,) = (hit for hit in hits if hit.passage.paper_id == "long")
        assert "cancer" in hit.passage.text
        assert hit.passage.text == long.abstract[hit.passage.start : hit.passage.end]


def test_an_empty_index_has_no_hit(place: str) -> None:
    with opened_for_writing(place, "keyword", KeywordEmbedder) as (store, embedder):
        assert retrieve(store, embedder, "cancer", 6) == ()


SAMPLED = [
    ("How can I keep the weights of a fine-tuned model from being stolen?", 10),
    ("What is the capital of France?", 3),
]


@pytest.mark.parametrize(("question", "k"), SAMPLED)
def test_the_sample_index_answers_with_whole_passages(sample_index: Path, question: str, k: int) -> None:
    with VectorStore.open(sample_index, search_words) as store:
        hits = retrieve(store, make_embedder("minilm"), question, k)
        found = store.papers([hit.passage.paper_id for hit in hits])
    assert len(hits) == len(found) == k
    for hit in hits:
        abstract = found[hit.passage.paper_id].abstract
        assert hit.passage.text == abstract[hit.passage.start : hit.passage.end]
        assert -1 <= hit.dense <= 1
        assert hit.lexical >= 0
