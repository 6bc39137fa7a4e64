"""What is read out of a question: tables of cases."""

from __future__ import annotations

import pytest

from rag.question import Kind, asked_noun, asks_for_number, content_words, kind_of, names


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Which filter avoids the partition function?", ("filter", "avoids", "partition", "function")),
        ("How does the paper describe skill libraries?", ("skill", "libraries")),
        ("Does GPT-4o beat $\\ell_2$?", ("gpt", "4o", "gpt4o", "beat", "l2")),
        ("哪种滤波", ("哪种", "种滤", "滤波")),
        # nothing but empty words: they are all there is
        ("What is it about?", ("what", "is", "it", "about")),
        ("?!", ()),
        ("", ()),
    ],
)
def test_content_words(question: str, kept: tuple[str, ...]) -> None:
    from rag.text import searched

    assert content_words(searched(question)) == kept


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How does Wisp differ from Whisper?", "compare"),
        ("Compare the two scaling laws.", "compare"),
        ("QNNs versus DNNs?", "compare"),
        ("Which papers are about agents?", "papers"),
        ("List all studies of pruning.", "papers"),
        ("Which paper introduces MCP-Injector?", "which"),
        ("Which filter avoids the partition function?", "which"),
        ("I need a citation for the sign code.", "which"),
        ("Why is activation steering fragile?", "explain"),
        ("How do the agents learn?", "explain"),
        ("What is the idea behind the sign code?", "explain"),
        ("How many repositories were mined?", "fact"),
        ("When was it published?", "fact"),
        ("", "fact"),
        ("漢字", "fact"),
    ],
)
def test_kinds(question: str, kind: Kind) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("How many repositories were mined?", True),
        ("how much faster is it?", True),
        ("What percentage is left?", True),
        ("Which share of the gap is won back?", True),
        ("By what factor does it speed up?", True),
        ("Why is it fragile?", False),
        ("Which filter is it?", False),
        ("", False),
    ],
)
def test_numbers_asked_for(question: str, number: bool) -> None:
    assert asks_for_number(question) is number


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How many GPUs were used to train Wisp?", ("GPUs", "Wisp")),
        ("Does GPT-4o beat LLaMA on CIFAR-100?", ("GPT-4o", "LLaMA", "CIFAR-100")),
        ("What do the Kalman Filter and MCP share?", ("MCP", "Kalman Filter")),
        ("Which filter avoids the partition function?", ()),
        ("What happened in 2024?", ()),
        ("GPT-9 or GPT-9?", ("GPT-9",)),
        ("", ()),
    ],
)
def test_names(question: str, found: tuple[str, ...]) -> None:
    assert names(question) == found


@pytest.mark.parametrize("name", ["NeurIPS", "ImageNet", "DeepSeek-V3"])
def test_a_name_is_found_whole_and_once(name: str) -> None:
    assert names(f"What is said of {name}?") == (name,)


def test_how_many_of_something_names_no_noun() -> None:
    assert asked_noun("How many of them?") == ""


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("How many GPUs were used to train Wisp?", "GPUs"),
        ("How many MCP repositories did the fault study mine?", "MCP repositories"),
        ("how many mice?", "mice"),
        ("How much does it cost?", ""),
        ("Why?", ""),
    ],
)
def test_what_is_to_be_counted(question: str, noun: str) -> None:
    assert asked_noun(question) == noun
