"""The same paper twice is left out by name; two papers are never taken for one."""

from __future__ import annotations

import gzip
import io
import json
import random
from itertools import islice
from pathlib import Path

import pytest

from rag.load import Reject, load_papers
from rag.load.keys import KeyTable, Places, key_of
from rag.load.sketch import agreement, sketch
from rag.types import Paper

ABSTRACTS = Path(__file__).parents[2] / "shared" / "data" / "ml_abstracts" / "icml_2020_2025.jsonl.gz"
LATEX = (
    r"We prove that $\ell_2$-regularized training with ``noisy'' labels has a \emph{structural} bias of size"
    r" $\Omega(1)$ --- no amount of data removes it, and on nine benchmarks our one-line correction recovers"
    r" 82\%--94\% of the gap it leaves."
)
PLAIN = (
    "We prove that ℓ2-regularized training with “noisy” labels has a structural bias of size Ω(1) — no amount of data"
    " removes it, and on nine benchmarks our one-line correction recovers 82%–94% of the gap it leaves."
)
OTHER = (
    "Glacier meltwater carries iron into the fjord, and plankton blooms follow it within nine days, as samples from"
    " forty stations over two summers show; the size of a bloom grows with the slope of the bed under the ice."
)


def outcomes(*records: dict[str, object]) -> list[str]:
    """For each record its reason for being left out, "" for one that went in."""
    lines = "\n".join(map(json.dumps, records)).encode()
    found = load_papers(["-"], stdin=io.BytesIO(lines))
    return [one.why.replace("standard input:", "") if isinstance(one, Reject) else "" for one in found]


PAIRS = [
    ({"doi": "10.1234/X"}, {"doi": "https://doi.org/10.1234/x", "abstract": OTHER}, "has the same DOI as 1"),
    ({"arxiv": "2001.01234v1"}, {"eprint": "2001.01234v2", "abstract": OTHER}, "has the same arXiv number as 1"),
    ({"title": "On {B}ias: A Study of Four"}, {"title": "On bias — a study of four"}, "has the same title as 1"),
    ({"title": "One"}, {"title": "Two", "abstract": PLAIN}, "has the same abstract as 1"),
    ({}, {"abstract": PLAIN.upper()}, "has the same abstract as 1"),
    ({}, {"abstract": PLAIN.replace("nine", "ten")}, "has nearly the same abstract as 1"),
    ({"id": "a"}, {"id": "a", "abstract": OTHER}, "has the same id (a) as 1"),
    (
        {"title": "A Longer Title of Words"},
        {"title": "A longer title of words", "abstract": OTHER},
        "has the same title as 1",
    ),
    ({"title": "Introduction"}, {"title": "Introduction", "abstract": OTHER, "authors": ["Cy"]}, ""),
    (
        {"title": "Reproducibility of the Great Work", "authors": ["Ann Lee"]},
        {"title": "Reproducibility of the Great Work", "authors": ["Bo Ng"], "abstract": OTHER},
        "",
    ),
    ({"title": "One"}, {"title": "Two", "abstract": OTHER}, ""),
    ({"id": "a"}, {"id": "A", "abstract": OTHER}, ""),
]


@pytest.mark.parametrize(("first", "second", "why"), PAIRS)
def test_pairs(first: dict[str, object], second: dict[str, object], why: str) -> None:
    assert outcomes({"abstract": LATEX, **first}, {"abstract": LATEX, **second}) == ["", why]


def test_a_duplicate_in_another_file_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f"\n\n{json.dumps({'abstract': LATEX})}\n")
    (tmp_path / "b.txt").write_text(PLAIN)
    found = list(load_papers([tmp_path / "a.jsonl", tmp_path / "b.txt"]))
    assert isinstance(found[0], Paper)
    assert isinstance(found[1], Reject)
    assert found[1].where == f"{tmp_path / 'b.txt'}:1"
    assert found[1].why == f"has the same abstract as {tmp_path / 'a.jsonl'}:3"


def test_agreement_follows_the_share_of_common_runs() -> None:
    words = [f"w{place}" for place in range(200)]
    changed = [*words[:100], "new", *words[101:]]
    assert agreement(sketch(words), sketch(words)) == 1
    assert agreement(sketch(words), sketch(changed)) > 0.8
    assert agreement(sketch(words), sketch(words[::-1])) < 0.2


def test_a_key_table_agrees_with_a_dict() -> None:
    table, expected = KeyTable(), dict[int, int]()
    for number in range(9000):
        key = key_of(str(number % 7000))
        table.add(key, number)
        expected.setdefault(key, number)
    assert all(table.get(key) == number for key, number in expected.items())
    assert table.get(key_of("never added")) is None


def test_places_come_back_as_they_were() -> None:
    places, given = Places(), ["a.csv:3", "a.csv:record 17", "b:9", "no number", "a.csv:4"]
    for place in given:
        places.append(place)
    assert [places[index] for index in range(3)] == given[:3]
    assert places[3].startswith("no number")
    assert len(places) == 5


@pytest.mark.skipif(not ABSTRACTS.exists(), reason="the shared abstracts are not on this machine")
def test_real_papers_are_told_apart_and_small_changes_are_seen_through() -> None:
    with gzip.open(ABSTRACTS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in islice(lines, 600)]
    chosen = random.Random(3)  # noqa: S311 – a test's changes, not a secret
    changed = [{"abstract": _with_words_changed(record["abstract"], 3, chosen)} for record in records[:150]]
    reasons = outcomes(*records, *changed)
    assert reasons[:600] == [""] * 600
    missed = [reason for reason in reasons[600:] if "the same abstract" not in reason]
    assert len(missed) <= 3


def _with_words_changed(text: str, many: int, chosen: random.Random) -> str:
    words = text.split()
    for _ in range(many):
        words[chosen.randrange(len(words))] = chosen.choice(["the", "novel", "method", "results"])
    return " ".join(words)
