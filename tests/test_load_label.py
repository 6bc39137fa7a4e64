"""Labels of untitled papers: of their own words, at most twelve, never silly, never the same twice."""

from __future__ import annotations

import gzip
import json
import re
from itertools import islice
from pathlib import Path

import pytest

from rag.load.label import Labels, label_of
from rag.load.phrases import capitalised, cut, initials_fit
from rag.load.wordlists import FUNCTION_WORDS
from rag.text import searched, shown, words

SHARED = Path(__file__).parents[2] / "shared"
ABSTRACTS = SHARED / "data" / "ml_abstracts" / "icml_2020_2025.jsonl.gz"
AFTER = " It is faster than the state of the art. We hope it helps."

LABELS = [
    (
        "Tools fail. We introduce Toolbreaker, a drop-in, protocol-aware layer.",
        "Toolbreaker: drop-in, protocol-aware layer",
    ),
    ("We present the Open Ledger Dataset (OLD), an open copy of ledgers.", "Open Ledger Dataset (OLD)"),
    ("Filters diverge. The resulting $\\textbf{Moment Kalman Filter}$ (MKF) does not.", "Moment Kalman Filter (MKF)"),
    ("We propose federated sparse averaging (FedSparAvg), to send less.", "Federated sparse averaging (FedSparAvg)"),
    ("We propose LAtent Goal learning (LAGO), which is fast.", "LAtent Goal learning (LAGO)"),
    ('We introduce "Snow is White", a benchmark.', "Snow is White"),
    ("We propose a new framework called SnowCat, which is fast.", "SnowCat"),
    ("Nets are big. Crisp is a first-order pruning method, and Crisp wins.", "Crisp: first-order pruning method"),
    ("There is a mechanism, which we term *Amplitude First Learning*.", "Amplitude First Learning"),
    ("We formulate the \\emph{two-streams hypothesis}: two are better.", "Two-streams hypothesis"),
    (
        "We study best-arm identification in large dueling bandits under the sole assumption that a winner exists.",
        "Best-arm identification in large dueling bandits",
    ),
    ("We study the problem of learning halfspaces with noise.", "Learning halfspaces with noise"),
    ("We study geodesically convex (g-convex) problems on cones.", "Geodesically convex problems on cones"),
    ("Here, we theoretically formalize what it means to measure sameness.", "What it means to measure sameness"),
    ("We propose an approach to $k$-means clustering of streams.", "Approach to k-means clustering of streams"),
    ("Glacier ice melts. The glacier ice carries iron. Iron feeds plankton.", "Glacier ice melts"),
    (
        "An einem Tag im Mai war alles anders als zuvor in der Stadt",
        "Einem Tag im Mai war alles anders als zuvor in der Stadt",
    ),
    ("本文研究了大规模语言模型的可靠性,并提出了一种新的评价方法。", "本文研究了大规模语言模型的可靠性"),
]


@pytest.mark.parametrize(("abstract", "expected"), LABELS)
def test_labels(abstract: str, expected: str) -> None:
    assert label_of(shown(abstract), abstract) == expected


CUTS = [
    ("a simple, fast method that works", "fast method that works"),
    ("the role of noise in training, and more", "role of noise in training"),
    ("to learn rare words from text.", "rare words from text"),
    ("sparse graphs and show that they grow", "sparse graphs"),
    ("how the size of a batch changes what is learned by very deep networks", "how the size of a batch changes"),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), CUTS)
def test_cut(text: str, expected: str) -> None:
    assert cut(text) == expected


def test_small_rules() -> None:
    assert capitalised("sparse nets") == "Sparse nets"
    assert capitalised("k-means at scale") == "k-means at scale"
    assert capitalised("iBOT: masks") == "iBOT: masks"
    assert initials_fit(["Moment", "Kalman", "Filter"], "MKF")
    assert not initials_fit(["Kalman", "Filter"], "MKF")


def test_labels_differ_within_a_run() -> None:
    labels = Labels()
    given = [labels.label(f"We study sparse graphs of {what} in nature." + AFTER * 2) for what in ("trees", "rivers")]
    given += [labels.label("We study sparse graphs of trees in nature." + AFTER * 2) for _ in range(30)]
    assert len(set(given)) == len(given)
    assert all(len(label.split()) <= 12 for label in given)


SILLY = re.compile(r"[\\${}§]|\b[Ww]e\b|^\W|\s[,;:]|\(\s|[,;:]$")


@pytest.mark.skipif(not ABSTRACTS.exists(), reason="the shared abstracts are not on this machine")
def test_no_label_of_a_real_abstract_is_silly() -> None:
    with gzip.open(ABSTRACTS, "rt", encoding="utf-8") as lines:
        abstracts = [json.loads(line)["abstract"] for line in islice(lines, 0, None, 24)]
    labels = Labels()
    given = [(labels.label(shown(abstract), abstract), abstract) for abstract in abstracts]
    assert len({label for label, _ in given}) == len(given)
    for label, abstract in given:
        assert 1 <= len(label.split()) <= 12, label
        assert not SILLY.search(label), (label, abstract)
        assert label.split()[-1].lower() not in FUNCTION_WORDS, (label, abstract)
        assert label.count("(") == label.count(")"), (label, abstract)
        held = "".join(words(searched(abstract)))
        assert all(word in held for word in words(label)), (label, abstract)
