"""What is made of a stream: tables of what models write, then random streams cut anywhere."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest

from rag.cite import Citer, Numbering
from rag.limits import Limits
from rag.messages import messages
from rag.types import Claim, Paper, Prompt, Quote

SENTENCES = {
    "filter": (
        "We study the particle filter.",
        "It needs 40 particles, where others need 400.",
        "Its weights lie in [0, 1].",
        "As in [1], the state x[1] is hidden (95% CI [2, 3], see [2024]).",
    ),
    "cancer": ("The drug halves the growth of cancer in mice.", "Of 80 mice, 60 lived for two years [95% CI 2–3]."),
    "ratio": ("For $R(N) = N. Then$ we derive a law.", "No stop ends this one", "“It works.”"),
}
TITLES = {"filter": "A particle filter", "cancer": "A drug against cancer", "ratio": "On ratios"}


def paper(paper_id: str) -> Paper:
    return Paper(paper_id, TITLES[paper_id], " ".join(SENTENCES[paper_id]))


PAPERS = {paper_id: paper(paper_id) for paper_id in SENTENCES}


def quotes() -> Iterable[Quote]:
    for paper_id, sentences in SENTENCES.items():
        start = 0
        for sentence in sentences:
            yield Quote(paper_id, sentence, start, start + len(sentence))
            start += len(sentence) + 1


# Keys 1 to 4 are of "filter", 5 and 6 of "cancer", 7 to 9 of "ratio".
EVIDENCE = tuple(quotes())
PROMPT = Prompt("?", tuple(PAPERS.values()), EVIDENCE, tuple(1.0 for _ in EVIDENCE))
STUDY, NEEDS, WEIGHTS, INNER, DRUG, MICE, LAW, OPEN, WORKS = (quote.text for quote in EVIDENCE)


def read(text: str | Iterable[str], used: Iterable[str] = ()) -> tuple[tuple[tuple[str, Claim], ...], int]:
    """(separator, claim) of each sentence, and how many keys were invented."""
    citer = Citer(PROMPT, Numbering(used))
    made = tuple(citer.claims([text] if isinstance(text, str) else text))
    return made, citer.invented


def texts(text: str) -> list[str]:
    return [claim.text for _, claim in read(text)[0]]


def only(text: str) -> Claim:
    ((_, claim),) = read(text)[0]
    return claim


def test_the_evidence_stands_in_the_abstracts() -> None:
    for quote in EVIDENCE:
        assert PAPERS[quote.paper_id].abstract[quote.start : quote.end] == quote.text


MARKED = [
    # (what is written, the claim's text, its numbers, the keys of its quotes)
    ("The filter needs 40 particles [2].", "The filter needs 40 particles [1].", (1,), (2,)),
    ("The filter needs 40 particles. [2]", "The filter needs 40 particles. [1]", (1,), (2,)),
    ("The filter needs 40 particles.[2]", "The filter needs 40 particles. [1]", (1,), (2,)),
    ("The filter needs 40 particles [2]", "The filter needs 40 particles [1]", (1,), (2,)),
    ("Filter [2] and drug [5].", "Filter [1] and drug [2].", (1, 2), (2, 5)),
    ("Drug [5] and filter [2].", "Drug [1] and filter [2].", (1, 2), (5, 2)),
    ("Particle filter and cancer drug [2, 5].", "Particle filter and cancer drug [1][2].", (1, 2), (2, 5)),
    ("Particle filter and cancer drug [2; 5].", "Particle filter and cancer drug [1][2].", (1, 2), (2, 5)),
    ("Particle filter and cancer drug [2][5].", "Particle filter and cancer drug [1][2].", (1, 2), (2, 5)),
    ("Particle filter and cancer drug [2] [5].", "Particle filter and cancer drug [1][2].", (1, 2), (2, 5)),
    # two keys of one paper are one number, and so is one key twice
    ("The particle filter needs 40 [1, 2].", "The particle filter needs 40 [1].", (1,), (1, 2)),
    ("The particle filter needs 40 [1][2].", "The particle filter needs 40 [1].", (1,), (1, 2)),
    ("The particle filter needs 40 [2][2].", "The particle filter needs 40 [1].", (1,), (2,)),
    ("[2] The filter needs 40 particles.", "[1] The filter needs 40 particles.", (1,), (2,)),
    ("**The filter needs 40 particles.** [2]", "**The filter needs 40 particles.** [1]", (1,), (2,)),
    ("- The filter needs 40 particles [2]", "- The filter needs 40 particles [1]", (1,), (2,)),
    ("3. The filter needs 40 particles [2]", "3. The filter needs 40 particles [1]", (1,), (2,)),
    # an interval is none
    ("The weights lie in [0, 1] [3].", "The weights lie in [0, 1] [1].", (1,), (3,)),
]


@pytest.mark.parametrize(("written", "text", "numbers", "keys"), MARKED)
def test_markers_become_reference_numbers(
    written: str, text: str, numbers: tuple[int, ...], keys: tuple[int, ...]
) -> None:
    claim = only(written)
    assert claim == Claim(text, numbers, tuple(EVIDENCE[key - 1] for key in keys), supported=True)


INVENTED = [
    # (what is written, what is left, how many keys were invented)
    ("The filter is nice [99].", "The filter is nice.", 1),
    ("The filter is nice [10, 99].", "The filter is nice.", 2),
    ("The filter is nice. [99]", "The filter is nice.", 1),
    ("The filter [99] needs 40 particles [2][98].", "The filter needs 40 particles [1].", 2),
    ("[99] The filter is nice.", "The filter is nice.", 1),
    ("The filter is nice [0].", "The filter is nice.", 1),
    ("The filter is nice [150].", "The filter is nice.", 1),
    (f"{NEEDS} [2][99]", f"{NEEDS} [1]", 1),
    ("As Doe [2024] has it.", "As Doe [2024] has it.", 0),
    ("It lies in [0, 1] for sure.", "It lies in [0, 1] for sure.", 0),
    ("It was [95% CI 2–3] and [CLS].", "It was [95% CI 2–3] and [CLS].", 0),
]


@pytest.mark.parametrize(("written", "left", "count"), INVENTED)
def test_invented_markers_are_removed_and_counted_once(written: str, left: str, count: int) -> None:
    made, invented = read(written)
    assert ([claim.text for _, claim in made], invented) == ([left], count)


CORRECTED = [
    # (what is written, the claim's text, its numbers, the keys of its quotes): cited wrongly, or not at all
    (f"{DRUG} [2]", "The drug halves the growth of cancer in mice [1].", (1,), (5,)),
    (DRUG, "The drug halves the growth of cancer in mice [1].", (1,), (5,)),
    ("The filter needs 40 particles [5].", "The filter needs 40 particles [1].", (1,), (2,)),
    ("The filter needs 40 particles. [99]", "The filter needs 40 particles [1].", (1,), (2,)),
    ("**The filter needs 40 particles.**", "**The filter needs 40 particles [1].**", (1,), (2,)),
    ("Of 80 mice under the drug, 60 lived [1].", "Of 80 mice under the drug, 60 lived [1].", (1,), (6,)),
]


@pytest.mark.parametrize(("written", "text", "numbers", "keys"), CORRECTED)
def test_a_wrong_reference_is_corrected_where_other_words_say_so(
    written: str, text: str, numbers: tuple[int, ...], keys: tuple[int, ...]
) -> None:
    quotes = tuple(EVIDENCE[key - 1] for key in keys)
    assert only(written) == Claim(text, numbers, quotes, supported=True, corrected=True)


def test_more_of_the_paper_that_is_cited_may_complete_a_quote() -> None:
    claim = only("We study the particle filter, which needs 40 particles where others need 400 [1].")
    assert (claim.supported, claim.corrected, claim.references) == (True, False, (1,))
    assert claim.quotes == (EVIDENCE[0], EVIDENCE[1])


FORMS = [
    ("The filter needs 40 particles【2】.", (2,)),
    ("The filter needs 40 particles 【2†source】.", (2,)),
    ("The filter needs 40 particles ［２］.", (2,)),
    ("The filter needs 40 particles (2).", (2,)),
    ("The filter needs 40 particles (1, 2).", (1, 2)),
    ("The filter needs 40 particles [^2].", (2,)),
    ("The filter needs 40 particles[2].", (2,)),
    ("The filter needs 40 particles [1-2].", (1, 2)),
    ("The filter needs 40 particles [1–3].", (1, 2, 3)),
    ("The filter needs 40 particles [1、2].", (1, 2)),
]


@pytest.mark.parametrize(("written", "keys"), FORMS)
def test_markers_are_read_in_every_form_that_models_write(written: str, keys: tuple[int, ...]) -> None:
    claim = only(written)
    assert claim.quotes == tuple(EVIDENCE[key - 1] for key in keys)
    assert claim.text == "The filter needs 40 particles [1]."


NO_MARKERS = [
    "The state x[1] is nice and calm today.",
    "The filter holds `a[2]` for now.",
    "The filter holds \\[ a [2] \\] for now.",
    "The filter (2) is nice.",
    "The filter lies in the interval [2, 3] until tomorrow evening.",
    "The filter lies in [0, 1] for now.",
    "The filter lies in [10-90] for now.",
]


@pytest.mark.parametrize("written", NO_MARKERS)
def test_what_is_no_marker_stays_text(written: str) -> None:
    claim = only(written)
    assert (claim.text, claim.references) == (written, ())


@pytest.mark.parametrize("written", ["", " \n ", "[99]", "[99].", "...", "\n\n—\n\n", "**"])
def test_what_has_no_words_is_no_claim(written: str) -> None:
    assert read(written)[0] == ()


@pytest.mark.parametrize("key", range(1, 10))
@pytest.mark.parametrize("form", ["{quote} [{key}]", "{title}: {quote} [{key}]", "{bare} [{key}]{stop}"])
def test_verbatim_sentences_are_left_untouched(key: int, form: str) -> None:
    """Whatever stands in them: brackets, formulas, numbers, no full stop."""
    quote = EVIDENCE[key - 1]
    bare, stop = (quote.text[:-1], ".") if quote.text.endswith(".") else (quote.text, "")
    title = TITLES[quote.paper_id]
    said = f"{title}: {quote.text}" if "title" in form else quote.text
    written = form.format(quote=quote.text, key=key, title=title, bare=bare, stop=stop)
    made, invented = read(f"{DRUG} [5] {written} {STUDY} [1]", used=("cancer", "filter", "ratio"))
    number = {"cancer": 1, "filter": 2, "ratio": 3}[quote.paper_id]
    assert [claim for _, claim in made] == [
        Claim(f"{DRUG} [1]", (1,), (EVIDENCE[4],)),
        Claim(f"{said} [{number}]", (number,), (quote,)),
        Claim(f"{STUDY} [2]", (2,), (EVIDENCE[0],)),
    ]
    assert invented == 0


def test_a_sentence_that_goes_on_after_the_papers_words_is_one_sentence() -> None:
    assert texts(f"{OPEN} of the many [8]. Next comes this.") == [f"{OPEN} of the many [1].", "Next comes this."]


def test_a_sentence_that_nothing_on_offer_says_is_unsupported_and_says_why() -> None:
    said = "Bananas ripen faster beside apples."
    assert only(said) == Claim(said, (), (), supported=False, reason="it cites nothing")


UNSUPPORTED = [
    "The filter needs 41 particles [2].",
    "Bananas ripen faster beside apples [2].",
    "The drug doubles the growth of cancer in mice [5].",
    "The drug does not halve the growth of cancer [5].",
]


@pytest.mark.parametrize("written", UNSUPPORTED)
def test_unsupported_sentences_are_marked(written: str) -> None:
    claim = only(written)
    assert not claim.supported
    assert claim.reason


@pytest.mark.parametrize(
    ("written", "sentences"),
    [
        ("One is so. Two is too.", ["One is so.", "Two is too."]),
        ("One is so.[1] Two is too.[2]", ["One is so. [1]", "Two is too. [1]"]),
        ("One is so. [1]. Two is too.", ["One is so. [1].", "Two is too."]),
        ("He said “we won.” [1] Two is too.", ["He said “we won.” [1]", "Two is too."]),
        ("One; two. [1, 2] Two is too.", ["One; two. [1]", "Two is too."]),
        ("One is so. [CLS] is a token. Two is too.", ["One is so.", "[CLS] is a token.", "Two is too."]),
        ("By Doe et al. [1] it is so. Two is too.", ["By Doe et al. [1] it is so.", "Two is too."]),
        ("1. One is so [1].\n2. Two is too [5].", ["1. One is so [1].", "2. Two is too [2]."]),
        ("It costs 3.5 million. Two is too.", ["It costs 3.5 million.", "Two is too."]),
        ("One is so. Two is [1", ["One is so.", "Two is"]),
        ("One is so [1].\n\n[5] Two is too.", ["One is so [1].", "[2] Two is too."]),
    ],
)
def test_sentences_end_where_a_reader_sees_their_end(written: str, sentences: list[str]) -> None:
    assert texts(written) == sentences


@pytest.mark.parametrize(
    ("between", "separator"), [(" ", " "), ("  ", " "), ("\n", "\n\n"), ("\n\n", "\n\n"), (" \n ", "\n\n"), ("", " ")]
)
def test_paragraphs_are_kept_as_separators(between: str, separator: str) -> None:
    made, _ = read(f"{STUDY} [1]{between}{DRUG} [5]")
    assert [(sep, claim.text) for sep, claim in made][1] == (separator, f"{DRUG} [2]")


def test_numbers_follow_first_use_in_the_conversation() -> None:
    made, _ = read(f"{STUDY} [1] {DRUG} [5] {LAW} [7] {NEEDS} [2]", used=("ratio", "elsewhere", "ratio", "cancer"))
    assert [claim.references for _, claim in made] == [(4,), (3,), (1,), (4,)]


def test_only_used_papers_get_a_number() -> None:
    numbering = Numbering()
    list(Citer(PROMPT, numbering).claims([f"Nothing of it [99].\n[7]\n{DRUG} [5]"]))
    assert numbering.number("filter") == 2


def test_a_sentence_comes_as_soon_as_it_is_whole() -> None:
    pulled: list[str] = []

    def stream() -> Iterable[str]:
        for piece in (f"{STUDY} [1]", f" {DRUG}", " [5] It", " ends."):
            pulled.append(piece)
            yield piece

    next(iter(Citer(PROMPT, Numbering()).claims(stream())))
    assert len(pulled) == 2


# --- any text, cut anywhere ---------------------------------------------------------------------------------------

CUT = [
    f"{STUDY} [1] {NEEDS} [2]\n\n{TITLES['cancer']}: {DRUG} [5] {MICE} [6]",
    f"{LAW} [7] {WORKS} [9] {INNER} [4] {OPEN} [8]",
    "The filter needs 40 [2]. By Doe et al. Welfare [1, 5] ends. One is so.[1] Two [0, 1][3].\n1. It [99]\n2. So [10].",
    "Costs of $5. Then 3.5 more, e.g. this [CLS]. [1] Z",
]


@pytest.mark.parametrize("text", CUT)
def test_every_cut_in_two_gives_the_same_claims(text: str) -> None:
    whole = read(text)
    for place in range(len(text) + 1):
        assert read([text[:place], text[place:]]) == whole, place
    assert read(list(text)) == whole


PARTS = (
    *(quote.text for quote in EVIDENCE),
    *(quote.text[: len(quote.text) // 2] for quote in EVIDENCE),
    *(f"{TITLES[quote.paper_id]}: {quote.text}" for quote in EVIDENCE[::3]),
    *(f"[{key}]" for key in range(12)),
    *(
        "[1, 5]",
        "[1][7]",
        "[0, 1]",
        "[2024]",
        "[CLS]",
        "[",
        "]",
        "[1",
        "[12,",
        "\n",
        "\n\n",
        ".",
        "?",
        " ",
        "- ",
        "2. ",
    ),
    *("40", "The filter", "et al.", "e.g.", "$x", "$", "Yes!", "“quoted”", "漢字。", "🤖", "e\u0301", "**bold**"),
)


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a test wants the same each time


def random_text(chance: random.Random) -> str:
    return "".join(chance.choice(PARTS) + chance.choice(("", " ", " ")) for _ in range(chance.randint(1, 14)))


def random_pieces(text: str, chance: random.Random) -> list[str]:
    places = sorted(chance.choices(range(len(text) + 1), k=chance.randint(0, 12)))
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


@pytest.mark.parametrize("seed", range(300))
def test_random_streams_keep_the_promises(seed: int) -> None:
    chance = seeded(seed)
    text = random_text(chance)
    citer = Citer(PROMPT, Numbering(["cancer"]))
    made = tuple(citer.claims(random_pieces(text, chance)))
    assert (made, citer.invented) == read(text, ["cancer"])
    numbers = {citer.numbering.number(paper_id): paper_id for paper_id in ("cancer", "filter", "ratio")}
    for separator, claim in made:
        assert separator in {" ", "\n\n"}
        assert claim.text == claim.text.strip() != ""
        assert {numbers[n] for n in claim.references} == {quote.paper_id for quote in claim.quotes}
        for quote in claim.quotes:
            assert quote.text == PAPERS[quote.paper_id].abstract[quote.start : quote.end]
        assert claim.supported <= bool(claim.quotes)
        assert shown_markers(claim) <= set(claim.references), text


def shown_markers(claim: Claim) -> set[int]:
    """The numbers in a claim's text, but for those in the papers' own words and in code: "x[1]"."""
    text = claim.text
    for quote in EVIDENCE:
        text = text.replace(quote.text, "")
    return {int(number) for number in re.findall(r"(?<![A-Za-z$])\[(\d{1,3})\]", text)}


def test_random_streams_lose_no_word_of_a_model() -> None:
    """But for its markers, all that was written is said."""
    for seed in range(200):
        text = random_text(seeded(seed))
        said = " ".join(claim.text for _, claim in read(text)[0])
        assert letters(said) == letters(text), text


def letters(text: str) -> str:
    return "".join(char for char in text if char.isalpha())


def test_the_tags_around_the_evidence_are_no_words_of_an_answer() -> None:
    tag = messages(PROMPT, Limits())[-1][1].partition("\n")[0]
    assert tag.startswith("<abstracts-")
    end = tag.replace("<", "</")
    assert texts(f"{tag}\nIt needs 40 particles [2].{end}\n{end}") == ["It needs 40 particles [1]."]
    assert only("It lies in <abstracts>, they say [2].").text == "It lies in <abstracts>, they say [1]."
