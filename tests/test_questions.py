"""The evaluation questions: their form, their balance, and that each expected fact stands in its papers.

The questions ask in a researcher's own words, so the last test measures how many of those words the papers
already use: a set that only repeats the abstracts would flatter any retrieval by words.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
QUESTIONS = ROOT / "eval" / "data" / "questions.jsonl"
SAMPLE = ROOT / "rag" / "data" / "sample.jsonl"
ORIGINAL = Path(__file__).parents[2] / "shared/corpus/neurips-2026-abstracts.txt"

PAPERS = [f"sample-{number:02d}" for number in range(1, 20)]
ANSWERABLE = ("fact", "explain", "which", "compare", "typo", "followup")
UNANSWERABLE = ("near_miss", "off_topic")
KEYS = ["id", "split", "type", "question", "papers", "also", "must", "must_not", "answer", "follows"]
LITERAL = {
    "How many MCP repositories did the fault study mine?": ("fact", ["sample-11"]),
    "Which filter avoids the partition function?": ("which", ["sample-10"]),
    "What is the capital of France?": ("off_topic", []),
    "How many GPUs were used to train Wisp?": ("near_miss", []),
}
STOP = frozenset(
    re.findall(
        r"\w+",
        """
    a about after against all also am an and any are as at be been before being between both but by can
    could did do does don done during each else ever few for from further get gets got had has have
    having he her here his how i if in instead into is isn it its just me more most much my no nor not
    of off on once one ones only or other others our out over own re same she should so some such than
    that the their them then there these they this those through to too under until up very was we were
    what when where whether which while who whom whose why will with within without would you your
    """,
    )
)

Row = dict[str, Any]


def read_jsonl(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


ROWS = read_jsonl(QUESTIONS)


def sample_abstracts() -> dict[str, str]:
    return {paper["id"]: paper["abstract"] for paper in read_jsonl(SAMPLE)}


def original_abstracts() -> dict[str, str]:
    if not ORIGINAL.exists():
        pytest.skip(f"the original abstracts are not shipped, and {ORIGINAL} is not on this machine")
    blocks = [block for block in ORIGINAL.read_text(encoding="utf-8").split("\n\n") if block.strip()]
    return dict(zip(PAPERS, blocks[1:], strict=True))


def joined(row: Row, abstracts: dict[str, str]) -> str:
    return "\n".join(abstracts[paper] for paper in row["papers"])


def missing(abstracts: dict[str, str]) -> list[tuple[str, str]]:
    """Each (question id, pattern) that the question's own papers do not satisfy."""
    return [
        (row["id"], pattern)
        for row in ROWS
        for pattern in row["must"]
        if not re.search(pattern, joined(row, abstracts), re.IGNORECASE | re.DOTALL)
    ]


def stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] in "eyi" else word


def content_words(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+(?:[.,]\d+)?", text.lower())
    return [stem(word) for word in words if word not in STOP and (len(word) > 1 or word.isdigit())]


def test_rows_have_the_agreed_form() -> None:
    for row in ROWS:
        assert list(row) == KEYS, row["id"]
        assert row["split"] in ("dev", "test"), row["id"]
        assert row["type"] in ANSWERABLE + UNANSWERABLE, row["id"]
        assert row["question"].strip() == row["question"] != "", row["id"]
        assert row["answer"].strip(), row["id"]
        assert set(row["papers"] + row["also"]) <= set(PAPERS), row["id"]
        assert not set(row["papers"]) & set(row["also"]), row["id"]
        answerable = row["type"] in ANSWERABLE
        assert bool(row["papers"]) == bool(row["must"]) == answerable, row["id"]
        if not answerable:
            assert not row["also"] + row["must_not"], row["id"]


def test_ids_and_questions_are_unique() -> None:
    for key in ("id", "question"):
        values = Counter(row[key] for row in ROWS)
        assert [value for value, count in values.items() if count > 1] == []


def test_there_are_enough_questions_of_each_kind() -> None:
    types = Counter(row["type"] for row in ROWS)
    unanswerable = sum(types[name] for name in UNANSWERABLE)
    assert len(ROWS) >= 60
    assert unanswerable >= 20
    assert types["near_miss"] * 2 >= unanswerable
    assert set(types) == {*ANSWERABLE, *UNANSWERABLE}


def test_every_paper_has_at_least_four_answerable_questions() -> None:
    papers = Counter(paper for row in ROWS for paper in row["papers"])
    assert {paper: papers[paper] for paper in PAPERS if papers[paper] < 4} == {}


def test_the_splits_are_balanced_over_types_and_papers() -> None:
    types = Counter((row["type"], row["split"]) for row in ROWS)
    for name in ANSWERABLE + UNANSWERABLE:
        assert abs(types[name, "dev"] - types[name, "test"]) <= 2, name
    papers = Counter((paper, row["split"]) for row in ROWS for paper in row["papers"])
    for paper in PAPERS:
        assert min(papers[paper, "dev"], papers[paper, "test"]) >= 2, paper


def test_the_questions_of_the_brief_are_there_literally() -> None:
    found = {row["question"]: (row["type"], row["papers"]) for row in ROWS if row["question"] in LITERAL}
    assert found == LITERAL


def test_patterns_compile() -> None:
    for row in ROWS:
        for pattern in row["must"] + row["must_not"]:
            re.compile(pattern, re.IGNORECASE | re.DOTALL)


def test_patterns_are_not_met_by_the_question_itself() -> None:
    """Repeating the question must not pass for an answer (a which-question may name its method)."""
    echoes = [
        row["id"]
        for row in ROWS
        if row["type"] in ("fact", "explain", "compare", "typo", "followup")
        and all(re.search(pattern, row["question"], re.IGNORECASE | re.DOTALL) for pattern in row["must"])
    ]
    assert echoes == []


def test_follow_ups_continue_an_earlier_row_of_the_same_split() -> None:
    earlier: dict[str, Row] = {}
    for row in ROWS:
        assert (row["follows"] is not None) == (row["type"] == "followup"), row["id"]
        if row["follows"] is not None:
            assert earlier[row["follows"]]["split"] == row["split"], row["id"]
            assert earlier[row["follows"]]["type"] in ANSWERABLE, row["id"]
        earlier[row["id"]] = row


def test_expected_facts_stand_in_the_sample_papers() -> None:
    assert missing(sample_abstracts()) == []


def test_reference_answers_have_the_facts_they_are_the_reference_for() -> None:
    for row in ROWS:
        for pattern in row["must"]:
            assert re.search(pattern, row["answer"], re.IGNORECASE | re.DOTALL), (row["id"], pattern)
        for pattern in row["must_not"]:
            assert not re.search(pattern, row["answer"], re.IGNORECASE | re.DOTALL), (row["id"], pattern)


def test_expected_facts_stand_in_the_original_abstracts() -> None:
    assert missing(original_abstracts()) == []


@pytest.mark.parametrize("wording", [sample_abstracts, original_abstracts])
def test_questions_use_mostly_their_own_words(wording: Callable[[], dict[str, str]]) -> None:
    abstracts = wording()
    shares = []
    for row in ROWS:
        if row["papers"]:
            known = set(content_words(joined(row, abstracts)))
            words = content_words(row["question"])
            shares.append(sum(word in known for word in words) / len(words))
    assert sum(shares) / len(shares) <= 0.5
