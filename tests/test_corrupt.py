"""Corruptions of hand-made sentences: what each kind changes, what it leaves alone, and the commands that count."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner
from fakes import KeywordEmbedder

from eval.cli_support import corruptions as corruptions_command
from eval.cli_support import support as support_command
from eval.corrupt import KINDS, corruptions
from eval.corrupt_figures import numbers, units
from eval.corrupt_names import Names
from eval.corrupt_sense import directions, negations, swaps
from eval.corrupt_words import OPPOSITES, third_person
from eval.errors import SuiteError
from eval.faithful import paraphrases
from eval.support_cases import corrupted, drawn, half_of, quotes_of, swapped_references
from eval.support_data import auroc, cosines, overlaps, read_labelled
from rag.types import Paper

ABSTRACTS = (
    "We train GALAX on MNIST and CIFAR-10. In ImageNet the error falls by 12%. A Gaussian prior, a Poisson one help.",
    "Our BERTish model beats the LSTM on SQuAD. The Gaussian prior and the Poisson one differ. It needs 40 hours.",
    "The Bernoulli prior and a Rayleigh one agree, as Bernoulli and Rayleigh said. We use VGG-16 and WMT-14.",
)
PAPER = Paper("p", "A title", ABSTRACTS[0])


def texts(found: Iterable[tuple[str, str]]) -> set[str]:
    return {text for _, text in found}


def dice() -> random.Random:
    return random.Random(1)  # noqa: S311


# --- what is changed, word for word -------------------------------------------------------------------------------

CHANGED: list[tuple[Callable[[str], Iterable[tuple[str, str]]], str, set[str]]] = [
    (units, "It takes 30 ms a query.", {"It takes 30 s a query."}),
    (units, "Training takes two hours.", {"Training takes two days."}),
    (units, "The index needs 12 GB.", {"The index needs 12 MB."}),
    (units, "We collect 3 million pairs.", {"We collect 3 billion pairs."}),
    (units, "A 7B model is enough.", {"A 7M model is enough."}),
    (units, "It is 2x faster.", {"It is 2% faster."}),
    (units, r"It is $10\times$ faster.", {r"It is $10\%$ faster."}),
    (units, "It fails on 60% of the pairs.", {"It fails on 60 of the pairs."}),
    (units, "It gives a 5% improvement.", {"It gives a 5x improvement."}),
    (units, "The error falls by 5%.", {"The error falls by 5 times."}),
    (units, "We use LLaMA 7B and a GPU.", set()),
    (negations, "The model can learn this.", {"The model cannot learn this."}),
    (negations, "The bound is tight.", {"The bound is not tight."}),
    (negations, "We show the bound.", {"We do not show the bound."}),
    (negations, "We found a gap.", {"We did not find a gap."}),
    (negations, "The loss significantly improves it.", {"The loss does not significantly improve it."}),
    (negations, "The model relies on it.", {"The model does not rely on it."}),
    (negations, "The model cannot learn.", {"The model can learn."}),
    (negations, "The model does not rely on it.", {"The model relies on it."}),
    (negations, "The bound is not tight.", {"The bound is tight."}),
    (negations, "It works without labels.", {"It works with labels."}),
    (negations, "There is no gap.", {"There is some gap."}),
    (negations, "The model fails to converge.", {"The model converges."}),
    (negations, "The loss never falls.", {"The loss always falls."}),
    (negations, "It not only learns.", set()),
    (directions, "The loss increases.", {"The loss decreases."}),
    (directions, "Increasing depth helps.", {"Decreasing depth helps."}),
    (directions, "It needs more weights.", {"It needs fewer weights."}),
    (directions, "It is more robust.", {"It is less robust."}),
    (directions, "It outperforms both.", {"It underperforms both."}),
    (directions, "It holds for at least 5 steps.", {"It holds for at most 5 steps."}),
    (directions, "We prove the upper bound.", {"We prove the lower bound."}),
    (directions, "The best of both.", set()),
    (directions, "More recently, it was shown.", set()),
    (directions, "We use large language models.", set()),
    (directions, "It has positive and negative pairs.", set()),
    (swaps, "Our method outperforms strong baselines on both.", {"Strong baselines outperform our method on both."}),
    (swaps, "We show that A is faster than B.", {"We show that B is faster than A."}),
    (swaps, "The score rises from 40% to 60%.", {"The score rises from 60% to 40%."}),
    (swaps, "It uses texture rather than shape.", {"It uses shape rather than texture."}),
    (swaps, "We outperform them.", set()),
]


@pytest.mark.parametrize(("make", "sentence", "expected"), CHANGED)
def test_what_becomes_of_a_sentence(
    make: Callable[[str], Iterable[tuple[str, str]]], sentence: str, expected: set[str]
) -> None:
    assert texts(make(sentence)) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "GPT-4 and Llama 2 are models.",
        "Published in 2019, as said [12].",
        "It stands in Section 3 and Theorem 5.",
        "We use $x_2 + 3y$ and the $\\ell_2$ norm.",
        "See https://example.org/v2/37 for it.",
        "The 2-Wasserstein distance and 3D scenes.",
        "(1) It is fast and 2) it is small.",
        "There is one case and nobody knows zero-shot learning.",
    ],
)
def test_digits_of_names_years_and_formulas_are_no_figures(sentence: str) -> None:
    assert texts(numbers(sentence, dice())) == set()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It needs ", " particles."),
        ("In all, ", " images are used."),
        ("It is right in ", "% of cases."),
        ("It is ", "x as fast."),
        ("It is $", r"\times$ as fast."),
        ("A ", "-bit code is enough."),
    ],
)
@pytest.mark.parametrize("figure", ["40", "57,240", "3.14", "7"])
def test_a_figure_becomes_another_of_its_form(before: str, figure: str, after: str) -> None:
    sentence = before + figure + after
    found = [text for text in texts(numbers(sentence, dice())) if text != sentence]
    if "," in figure and "%" in after:
        return  # no such percentage
    assert found
    for text in found:
        assert text.startswith(before) and text.endswith(after)
        other = text.removeprefix(before).removesuffix(after)
        assert len(other) == len(figure)
        assert float(other.replace(",", "")) != float(figure.replace(",", ""))


def test_number_words_become_others() -> None:
    (text,) = texts(numbers("Three models are used.", dice()))
    assert text.endswith(" models are used.") and not text.startswith("Three") and text[0].isupper()
    assert texts(numbers("It is twice as fast.", dice())) == {"It is five times as fast."}


def test_a_name_becomes_one_of_another_paper_of_its_shape() -> None:
    names = Names.of(ABSTRACTS)
    assert texts(names.swapped("We train GALAX here.", PAPER, dice())) == {"We train LSTM here."}
    (digits,) = texts(names.swapped("We train it on CIFAR-10 alone.", PAPER, dice()))
    assert digits in {"We train it on VGG-16 alone.", "We train it on WMT-14 alone."}
    (proper,) = texts(names.swapped("Here a Poisson prior helps.", PAPER, dice()))
    assert proper in {"Here a Rayleigh prior helps.", "Here a Bernoulli prior helps."}


def test_a_name_is_never_cut_into_nor_taken_from_its_own_paper() -> None:
    names = Names.of(ABSTRACTS)
    for _, text in names.swapped("MNIST and MNIST-like sets, not MNIST2 nor XMNIST.", PAPER, dice()):
        if "MNIST " not in text:
            assert text.endswith("-like sets, not MNIST2 nor XMNIST.")
        for own in ("GALAX", "CIFAR-10"):
            assert own not in text
    assert texts(names.swapped("A convolutional network (CNN) and AI.", PAPER, dice())) == set()


# --- all kinds together -------------------------------------------------------------------------------------------

SENTENCE = "Our method outperforms GALAX by 12% and is not slower than 40 hours of training."


def test_one_thing_changes_at_a_time_and_the_same_each_time() -> None:
    names = Names.of(ABSTRACTS)
    other = Paper("q", "Another", SENTENCE)
    made = corruptions(SENTENCE, names, other, "seed")
    assert made == corruptions(SENTENCE, names, other, "seed")
    assert {one.kind for one in made} >= {"number", "unit", "negation", "direction"}
    assert [KINDS.index(one.kind) for one in made] == sorted(KINDS.index(one.kind) for one in made)
    own = SENTENCE.split()
    for one in made:
        assert one.text != SENTENCE
        if one.kind in {"number", "unit", "name", "direction"}:
            assert sum(a != b for a, b in zip(own, one.text.split(), strict=False)) >= 1
            assert len(set(own) - set(one.text.split())) == 1, one


def test_articles_follow() -> None:
    for before, after in (("We prove an upper bound.", "We prove a lower bound."), ("A decrease.", "An increase.")):
        made = next(one for one in corruptions(before, Names.of(ABSTRACTS), PAPER) if one.kind == "direction")
        assert made.text == after


def test_opposites_are_others_and_inflections_are_kept() -> None:
    assert len(OPPOSITES) >= 80
    for word, other in OPPOSITES.items():
        assert word != other
        if word.endswith("ing") and " " not in other:
            assert other.endswith("ing"), word
    assert [third_person(v) for v in ("rely", "do", "be", "catch", "enjoy", "use")] == [
        *("relies", "does", "is", "catches", "enjoys", "uses")
    ]


FAITHFUL = [
    ("In this paper, we show that graphs help.", "lead dropped", "Graphs help."),
    ("However, graphs help.", "link dropped", "Graphs help."),
    ("We test our code.", "the authors", "The authors test their code."),
    ("It has 57,240 images.", "thousands", "It has 57240 images."),
    ("It has 57,240 images.", "thousands, rounded", "It has 57.2k images."),
    ("It is right in 60% of cases.", "per cent", "It is right in 60 per cent of cases."),
    ("It is 2x as fast.", "times", "It is 2 times as fast."),
    (r"It is $10\times$ as fast.", "figure out of LaTeX", "It is 10x as fast."),
    ("It has 1.5 million rows.", "millions", "It has 1.5M rows."),
    ("It has three parts.", "number words", "It has 3 parts."),
    ("It does not hold and cannot help.", "short forms", "It doesn't hold and cannot help."),
    (
        "The network is trained on pairs of images, which makes it robust.",
        "first half",
        "The network is trained on pairs of images.",
    ),
]


@pytest.mark.parametrize(("sentence", "form", "expected"), FAITHFUL)
def test_a_paraphrase_says_the_same(sentence: str, form: str, expected: str) -> None:
    assert dict(paraphrases(sentence))[form] == expected


# --- cases, and the commands --------------------------------------------------------------------------------------


def papers_file(folder: Path) -> Path:
    lines = [
        f"We train network {name} on {n} data sets of plant leaves. It outperforms the old {name} net by {n + 10}%. "
        f"Our code for leaf {name} cannot be slower than {n} hours. More leaves of {name} improve the accuracy."
        for n, name in enumerate("ALPHAX BETAZ GAMMAT DELTAQ EPSILOM ZETARR".split(), 3)
    ]
    rows = [{"id": f"p{n}", "title": f"Paper {n}", "abstract": text} for n, text in enumerate(lines)]
    path = folder / "papers.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_halves_are_whole_and_apart(tmp_path: Path) -> None:
    path = papers_file(tmp_path)
    every = drawn(path, 100, "all", 1)
    dev, test = drawn(path, 100, "dev", 1), drawn(path, 100, "test", 1)
    assert len(every) == 6
    assert {p.id for p in dev} | {p.id for p in test} == {p.id for p in every}
    assert all(half_of(p.id) == "dev" for p in dev) and all(half_of(p.id) == "test" for p in test)
    assert len(drawn(path, 2, "all", 1)) == 2
    with pytest.raises(SuiteError, match="no paper"):
        drawn(path, 1, half_of(every[-1].id) if half_of(every[0].id) != half_of(every[-1].id) else "none", 1)


def test_cases_quote_what_was_there(tmp_path: Path) -> None:
    papers = drawn(papers_file(tmp_path), 100, "all", 1)
    by_id = {paper.id: paper for paper in papers}
    made = list(corrupted(papers, 1))
    assert made == list(corrupted(papers, 1))
    assert {case.kind for case in made} >= {"number", "name", "negation", "direction"}
    for case in made:
        (quote,) = case.quotes
        assert by_id[quote.paper_id].abstract[quote.start : quote.end] == quote.text != case.sentence
        assert case.titles == (by_id[quote.paper_id].title,) and not case.faithful


def test_a_swapped_reference_is_of_another_paper(tmp_path: Path) -> None:
    papers = drawn(papers_file(tmp_path), 100, "all", 1)
    owners = {quote.text: paper.id for paper in papers for quote in quotes_of(paper)}
    made = list(swapped_references(papers, 1))
    assert {case.form for case in made} == {"likest", "random"}
    for case in made:
        assert owners[case.sentence] != case.quotes[0].paper_id
    alike = [case for case in made if case.form == "likest"]
    assert all(set(case.sentence.split()) & set(case.quotes[0].text.split()) for case in alike)


def test_the_corruptions_command_prints_kinds_and_mistakes(tmp_path: Path) -> None:
    folder = tmp_path / "tldr"
    folder.mkdir()
    corpus = json.dumps({"id": "a", "title": "On leaves", "text": "Leaves are green. They turn red."})
    (folder / "corpus.jsonl").write_text(corpus + "\n", "utf-8")
    (folder / "queries.jsonl").write_text(json.dumps({"id": "q", "text": "Stars shine bright blue."}) + "\n", "utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\ta\t1\n", "utf-8")
    qa = json.dumps({"id": "a", "long_answer": "Leaves are green."})
    (folder / "qa.jsonl").write_text(qa + "\n", "utf-8")
    arguments = [str(papers_file(tmp_path)), "--tldr", str(folder), "--pubmedqa", str(folder), "--show", "2"]
    done = CliRunner().invoke(corruptions_command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    lines = done.output.splitlines()
    begun = [line[:32].strip() for line in lines]
    assert [name for name in begun if name in {*KINDS, "reference", "own sentences", "paraphrases"}] == [
        *(*KINDS, "reference", "own sentences", "paraphrases")
    ]
    assert next(line for line in lines if line.startswith("TL;DR")).split()[1] == "1.000"  # nothing of it is there
    assert next(line for line in lines if line.startswith("conclusion")).split()[1] == "0.000"
    assert "alarm: TL;DR" in done.output and "quotes: Leaves are green. / They turn red." in done.output


CLAIMS = (
    {"claim": "The particle filter needs 40 particles.", "doc_id": "d", "label": "SUPPORT", "split": "dev"},
    {"claim": "The cancer drug kills mice.", "doc_id": "d", "label": "NEI", "split": "dev"},
    {"claim": "The particle filter needs 90 particles.", "doc_id": "d", "label": "CONTRADICT", "split": "dev"},
    {"claim": "It is of the train half.", "doc_id": "d", "label": "NEI", "split": "train"},
)


def claims_file(folder: Path) -> Path:
    folder.mkdir()
    with gzip.open(folder / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        text = "We study filters. The particle filter needs 40 particles."
        file.write(json.dumps({"id": "d", "title": "Filters", "text": text}) + "\n")
    rows = [
        {**row, "rationale_text": ["The particle filter needs 40 particles."][: n != 1]} for n, row in enumerate(CLAIMS)
    ]
    path = folder / "verify.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def test_claims_with_their_abstract_and_with_their_evidence(tmp_path: Path) -> None:
    rows = read_labelled(claims_file(tmp_path / "scifact"))
    assert [row.label for row in rows] == ["support", "neither", "contradict"]
    assert [quote.text for quote in rows[0].evidence] == [
        "We study filters.",
        "The particle filter needs 40 particles.",
    ]
    assert [len(row.rationale) for row in rows] == [1, 0, 1]
    assert overlaps(rows)[0] == 1.0
    assert overlaps(rows)[1] == 0.0
    assert cosines(rows, KeywordEmbedder()) == pytest.approx((1.0, 0.0, 1.0))
    pairs = tmp_path / "pairs.jsonl"
    row = {"id": "1", "claim": "Masks help.", "evidence": "Masks help. We saw it.", "label": "Supports", "split": "dev"}
    pairs.write_text(json.dumps(row) + "\n", "utf-8")
    (read,) = read_labelled(pairs)
    assert (len(read.evidence), read.titles, read.label) == (2, (), "support")


@pytest.mark.parametrize(
    "row", ["{", '{"claim": "x", "label": "SUPPORT", "doc_id": "none"}', '{"split": "train"}', "[1]"]
)
def test_a_wrong_file_of_claims_is_named(tmp_path: Path, row: str) -> None:
    path = claims_file(tmp_path / "scifact")
    path.write_text(row + "\n", "utf-8")
    with pytest.raises(SuiteError, match=r"verify\.jsonl"):
        read_labelled(path)


def test_auroc_by_hand() -> None:
    rate = auroc("x", [0.9, 0.8, 0.4], [0.5, 0.4])
    assert rate.value == pytest.approx((2 + 2 + 0.5) / 6)
    assert 0.0 <= rate.low < rate.value < rate.high <= 1.0
    assert auroc("x", [1.0] * 9, [0.0] * 9).low == 1.0
    assert auroc("x", [], [1.0]).n == 0


def test_the_support_command_prints_the_check_beside_baselines(tmp_path: Path) -> None:
    done = CliRunner().invoke(support_command, [str(claims_file(tmp_path / "scifact"))], catch_exceptions=False)
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert lines[0] == "scifact/verify.jsonl, dev: 1 support, 1 contradict, 1 neither"
    assert next(line for line in lines if line.startswith("check ")).split()[1] == "1.000"
    for name in ("cosine", "word overlap", "check, rationale alone", "accuracy of ok"):
        assert any(line.startswith(name) for line in lines)
