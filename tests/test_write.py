"""What becomes of what a model writes, and that an answer comes whatever it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scripted import ScriptedLLM

from rag.cite import Citer, Numbering
from rag.errors import BackendError
from rag.prompt import ABSTENTION
from rag.types import Answer, Paper, Prompt, Quote
from rag.write import Clock, Unsupported, written

STUDY, NEEDS = "We study the particle filter.", "It needs 40 particles, where others need 400."
PAPER = Paper("filter", "A particle filter", f"{STUDY} {NEEDS}")
EVIDENCE = tuple(
    Quote("filter", text, start, start + len(text)) for text in (STUDY, NEEDS) for start in [PAPER.abstract.index(text)]
)
PROMPT = Prompt("How many particles does the filter need?", (PAPER,), EVIDENCE, (0.5, 3.0))
RIGHT, WRONG = "It needs 40 particles [2].", "It needs 41 particles [2]."


class Failing(ScriptedLLM):
    """Says its pieces, then fails."""

    def stream(self, prompt: Prompt) -> Iterator[str]:
        yield from super().stream(prompt)
        raise BackendError("the LLM broke off; ask again")


def grown(llm: ScriptedLLM, unsupported: Unsupported = "mark") -> list[Answer]:
    base = Answer(PROMPT.question, llm=llm.spec, done=False)
    answers = list(written(base, llm, Citer(PROMPT, Numbering()), Clock(), unsupported))
    assert [answer.done for answer in answers] == [False] * (len(answers) - 1) + [True]
    last = answers[-1]
    cited = {number for claim in last.claims for number in claim.references}
    assert cited == {reference.number for reference in last.references}
    return answers


def final(*pieces: str, unsupported: Unsupported = "mark") -> Answer:
    return grown(ScriptedLLM(pieces), unsupported)[-1]


def test_what_is_supported_is_said_and_nothing_added() -> None:
    answer = final(RIGHT)
    assert answer.text == "It needs 40 particles [1]."
    assert (answer.abstained, answer.notices, answer.dropped) == (False, (), ())


def test_sentences_come_one_by_one() -> None:
    texts = [answer.text for answer in grown(ScriptedLLM([f"{RIGHT} ", "It is a particle filter [1]. "]))]
    assert texts[0] == "It needs 40 particles [1]."
    assert texts[-1] == "It needs 40 particles [1]. It is a particle filter [1]."


def test_what_is_not_supported_is_marked_or_dropped() -> None:
    marked, dropped = (final(f"{RIGHT} {WRONG}", unsupported=how) for how in ("mark", "drop"))  # type: ignore[arg-type]
    assert [claim.supported for claim in marked.claims] == [True, False]
    assert "41" not in dropped.text
    assert [claim.text for claim in dropped.dropped] == ["It needs 41 particles [1]."]
    assert dropped.notices == (
        "Of what the model wrote: 1 of its sentences was not supported by the abstracts and left out.",
    )


@pytest.mark.parametrize(
    ("said", "notice"),
    [
        ("", "The model wrote nothing; the papers' own sentences answer instead."),
        ("[1] [2]", "The model wrote nothing; the papers' own sentences answer instead."),
        (WRONG, "Nothing that the model wrote stands in the abstracts; the papers' own sentences answer instead."),
        (
            "I'm sorry, but I can't help with that.",
            "The model declined to answer; the papers' own sentences answer instead.",
        ),
    ],
)
def test_where_nothing_is_supported_the_papers_answer(said: str, notice: str) -> None:
    answer = final(said)
    assert NEEDS in answer.text
    assert all(claim.supported for claim in answer.claims)
    assert answer.notices == (notice,)
    assert "41" not in answer.text


def test_what_was_said_before_a_failure_stays_and_is_completed() -> None:
    answer = grown(Failing([f"{RIGHT} ", "It is half a sen"]))[-1]
    assert answer.text.startswith("It needs 40 particles [1].")
    assert answer.claims[0].supported
    assert answer.notices == (
        "The LLM broke off; ask again; what it had said stays, and the papers' own sentences complete it.",
    )


def test_a_failure_at_once_is_answered_by_the_papers() -> None:
    answer = grown(Failing([]))[-1]
    assert NEEDS in answer.text
    assert answer.notices == ("The LLM broke off; ask again; the papers' own sentences answer instead.",)


def test_a_model_may_say_that_there_is_no_answer() -> None:
    answer = final(ABSTENTION)
    assert (answer.abstained, answer.text, answer.claims, answer.references) == (True, ABSTENTION, (), ())
    assert answer.abstain_reason == "The model found no answer in the abstracts."
    assert answer.nearest == (PAPER,)


def test_what_was_shown_is_not_taken_back_by_giving_up() -> None:
    answer = final(f"{RIGHT} {ABSTENTION}")
    assert (answer.abstained, answer.text) == (False, "It needs 40 particles [1].")


def test_a_model_that_repeats_itself_is_stopped_and_heard_once() -> None:
    answer = final(*[f"{RIGHT} " for _ in range(1000)])
    assert answer.text == "It needs 40 particles [1]."
    assert len(answer.claims) == 1


def test_a_thought_that_was_shown_is_taken_back() -> None:
    answers = grown(ScriptedLLM([f"{WRONG} ", "Or so. Hm.", "</think>", RIGHT]))
    assert any("41" in answer.text for answer in answers)
    assert answers[-1].text == "It needs 40 particles [1]."
    assert not answers[-1].notices


def test_what_was_removed_or_put_right_is_told() -> None:
    answer = final(f"{RIGHT} The filter needs forty particles [7].")
    assert answer.notices == (
        "Of what the model wrote: 1 of its references pointed to no paper and was removed; "
        "at 1 of its sentences the reference was wrong or missing and was put right.",
    )


def test_stages_are_timed() -> None:
    laps = final(RIGHT).timings_ms
    assert set(laps) >= {"first_word", "total"}
    assert 0 <= laps["first_word"] <= laps["total"]
