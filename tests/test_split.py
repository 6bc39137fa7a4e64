"""Passages: whole sentences, exact offsets, nothing left out, of about equal length."""

from __future__ import annotations

import pytest

from rag.load import Reject, load_papers
from rag.sample import sample_path
from rag.sentences import sentence_spans
from rag.split import MAX_CHARACTERS, split
from rag.types import Paper

SENTENCE = "Every one of these sentences has just fifty marks."


def paper(abstract: str, paper_id: str = "p") -> Paper:
    return Paper(paper_id, "A title", abstract, ("Ada Lovelace",), 2021)


def of(sentences: int) -> Paper:
    """A paper of so many sentences of 50 characters each: 51 n − 1 in all."""
    return paper(" ".join([SENTENCE] * sentences))


# sentences → how many sentences each passage has
BALANCED = [(1, [1]), (2, [2]), (17, [17]), (18, [9, 9]), (20, [10, 10]), (35, [12, 12, 11]), (36, [12, 12, 12])]


@pytest.mark.parametrize(("sentences", "passages"), BALANCED)
def test_passages_are_of_about_equal_length(sentences: int, passages: list[int]) -> None:
    sizes = sorted(passage.text.count(SENTENCE) for passage in split(of(sentences)))
    assert sum(sizes) == sentences
    assert len(sizes) == len(passages)
    assert max(sizes) - min(sizes) <= 1


# lengths of the sentences → of the passages; a sentence goes where its middle lies
UNEQUAL = [([450, 460, 90], [450, 551]), ([90, 460, 450], [551, 450]), ([300, 350, 300, 50], [651, 351])]


@pytest.mark.parametrize(("sentences", "passages"), UNEQUAL)
def test_unequal_sentences_are_parted_as_evenly_as_may_be(sentences: list[int], passages: list[int]) -> None:
    text = " ".join("W" + "e" * (length - 2) + "." for length in sentences)
    assert [len(passage.text) for passage in split(paper(text))] == passages


def sample() -> list[Paper]:
    return [paper for paper in load_papers([sample_path()]) if not isinstance(paper, Reject)]


@pytest.mark.parametrize("one", [*sample(), of(1), of(40), paper("no full stop"), paper(" Space. At both ends. ")])
def test_passages_are_runs_of_whole_sentences_that_cover_the_abstract(one: Paper) -> None:
    passages = split(one)
    spans = sentence_spans(one.abstract)
    starts, ends = {start for start, _ in spans}, {end for _, end in spans}
    for passage in passages:
        assert passage.text == one.abstract[passage.start : passage.end]
        assert passage.start in starts
        assert passage.end in ends
        assert len(passage.text) <= MAX_CHARACTERS
        assert passage.source == one.bibliography
    assert "".join("".join(p.text for p in passages).split()) == "".join(one.abstract.split())


def test_only_a_sentence_above_the_limit_stands_above_it() -> None:
    long = "This one " + "goes on and " * 100 + "ends."
    passages = split(paper(f"{SENTENCE} {long} {SENTENCE}"))
    assert [p.text for p in passages] == [SENTENCE, long, SENTENCE]
    assert len(long) > MAX_CHARACTERS


def test_an_abstract_of_one_overlong_sentence_is_one_passage() -> None:
    long = "word " * 400 + "end."
    assert [p.text for p in split(paper(long))] == [long]


def test_no_abstract_no_passage() -> None:
    assert split(paper("  ")) == ()


def test_ids_are_stable_and_no_two_are_the_same() -> None:
    ids = [passage.id for passage in split(of(40))]
    assert len(set(ids)) == len(ids) == 3
    assert ids == [passage.id for passage in split(of(40))]
    assert {p.id for p in split(paper("One. Two.", "p"))}.isdisjoint(p.id for p in split(paper("One. Two.", "q")))
