"""The sample corpus that ships with Footnote: that it is well formed, and that it is a retelling, not a copy.

The 19 records of rag/data/sample.jsonl tell real abstracts in other words. The first tests hold anywhere. The
last ones compare each record with the abstract it retells, and are skipped where those abstracts are not at
hand: they are not part of the repository, so nothing here may quote them.
"""

import json
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest

COUNT = 19
RUN = 8
EIGHT_WORDS = "one two three four five six seven eight"
ORIGINALS = Path(__file__).parents[2] / "shared/corpus/neurips-2026-abstracts.txt"
SAMPLE = files("rag") / "data/sample.jsonl"
MARKUP = re.compile(r"\\(?:emph|text(?:it|bf|tt))\b|\*|`|(?<!\w)_|\s{2}|\n")


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the sample; the fields are those of the file, and no others."""

    id: str
    title: str
    abstract: str
    venue: str
    year: int


def records() -> tuple[Record, ...]:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    return tuple(Record(**json.loads(line)) for line in lines)


def originals() -> tuple[str, ...]:
    """The abstracts, in the order of their file, whose first paragraph is a heading."""
    if not ORIGINALS.is_file():
        pytest.skip(f"the original abstracts are not at {ORIGINALS}")
    paragraphs = re.split(r"\n\s*\n", ORIGINALS.read_text(encoding="utf-8").strip())
    return tuple(paragraphs[1:])


def words(text: str) -> tuple[str, ...]:
    """Runs of letters or digits, lower case; the names of LaTeX commands count as words."""
    return tuple(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold()))


def runs(text: str) -> frozenset[tuple[str, ...]]:
    """Every RUN words that stand side by side."""
    found = words(text)
    return frozenset(found[start : start + RUN] for start in range(len(found) - RUN + 1))


def numbers(text: str) -> frozenset[Decimal]:
    r"""The values of the numerals, in names and formulas too: 57,240 is one; \tfrac12 is a 1 and a 2."""
    plain = unicodedata.normalize("NFKC", text).replace("{,}", ",")
    plain = re.sub(r"\\[dt]?frac\s*([0-9])\s*([0-9])", r" \1 \2 ", plain)
    numerals = re.findall(r"[0-9]+(?:,[0-9]{3})*(?![0-9])(?:\.[0-9]+)?", plain)
    return frozenset(Decimal(numeral.replace(",", "")) for numeral in numerals)


def position(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@dataclass(frozen=True, slots=True)
class Pair:
    original: str
    retelling: Record


@pytest.fixture(params=range(COUNT), ids=lambda index: f"sample-{index + 1:02}")
def pair(request: pytest.FixtureRequest) -> Pair:
    """A record and the abstract it retells."""
    return Pair(originals()[position(request)], records()[position(request)])


@pytest.fixture(params=range(COUNT), ids=lambda index: f"sample-{index + 1:02}")
def record(request: pytest.FixtureRequest) -> Record:
    return records()[position(request)]


def test_the_sample_is_found_as_package_data() -> None:
    assert SAMPLE.is_file()


def test_ids_count_up_to_the_last_paper() -> None:
    assert [record.id for record in records()] == [f"sample-{n:02}" for n in range(1, COUNT + 1)]


def test_titles_are_unique() -> None:
    assert len({record.title.casefold() for record in records()}) == COUNT


def test_title_is_short(record: Record) -> None:
    assert 1 <= len(record.title.split()) <= 12


def test_abstract_is_long_enough_to_ask_about(record: Record) -> None:
    assert len(record.abstract.split()) >= 80


def test_venue_and_year(record: Record) -> None:
    assert (record.venue, record.year) == ("NeurIPS", 2026)


def test_abstract_is_plain_text_with_closed_formulas(record: Record) -> None:
    assert MARKUP.search(record.abstract) is None
    assert record.abstract == record.abstract.strip()
    assert record.abstract.count("$") % 2 == 0


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("57,240 threads in 1,774 repositories", ["57240", "1774"]),
        ("57{,}240 threads", ["57240"]),
        ("between 2--3 and 2–3 points, 82$--$94\\%", ["2", "3", "82", "94"]),
        ("$R^2{>}0.97$, about $4{\\times}$", ["2", "0.97", "4"]),
        ("$q-\\tfrac12$ or $1/2$; $p < 10^{-56}$", ["1", "2", "10", "56"]),
        ("Name2.5-7B, v3, 18.4M, sizes 1,2, the end at 5.", ["2.5", "7", "3", "18.4", "1", "2", "5"]),
        ("2.50 is 2.5", ["2.5"]),
        ("none", []),
    ],
)
def test_numbers_reads_values(text: str, values: list[str]) -> None:
    assert numbers(text) == {Decimal(value) for value in values}


def test_runs_see_through_case_and_punctuation() -> None:
    told = "It said: One two, three-four $five_six$ SEVEN eight."
    assert runs(told) & runs(EIGHT_WORDS) == {tuple(EIGHT_WORDS.split())}


def test_runs_leave_seven_words_alone() -> None:
    assert not runs("one two three four five six seven and") & runs(EIGHT_WORDS)


def test_there_is_an_original_for_each_record() -> None:
    assert len(originals()) == COUNT


def test_retelling_copies_no_run_of_words(pair: Pair) -> None:
    told = f"{pair.retelling.title}. {pair.retelling.abstract}"
    copied = {" ".join(run) for run in runs(told) & runs(pair.original)}
    assert not copied


def test_retelling_keeps_every_number(pair: Pair) -> None:
    lost = numbers(pair.original) - numbers(pair.retelling.abstract)
    assert not lost


def test_retelling_invents_no_number(pair: Pair) -> None:
    invented = numbers(pair.retelling.abstract) - numbers(pair.original)
    assert not invented


def test_retelling_is_about_as_long(pair: Pair) -> None:
    ratio = len(pair.retelling.abstract.split()) / len(pair.original.split())
    assert 0.75 <= ratio <= 1.25
