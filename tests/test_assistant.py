"""The whole path, on the sample corpus with the real embedder, and with LLMs that say what they are told to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from answers import SCHEMA, check, turns
from fakes import KeywordEmbedder
from jsonschema import Draft202012Validator, ValidationError
from scripted import RewritingLLM, ScriptedLLM

import rag
from rag.assistant import Assistant, papers_in
from rag.embed import make_embedder
from rag.errors import BackendError, UsageError
from rag.index import index_papers
from rag.language import abstention_in
from rag.opening import opened_for_writing
from rag.prompt import ABSTENTION
from rag.quote import QuoteLLM
from rag.text import search_words
from rag.types import Answer, Paper, Turn
from vectorstore.errors import StoreMismatch, StoreMissing
from vectorstore.passage import Vector
from vectorstore.store import VectorStore

MINED = "How many MCP repositories did the fault study mine?"
FILTER = "Which filter avoids the partition function?"
FRANCE = "What is the capital of France?"
GPUS = "How many GPUs were used to train Wisp?"


@pytest.fixture(scope="module")
def bot(sample_index: Path) -> Iterator[Assistant]:
    with Assistant.open(index=sample_index, llm="quote") as opened:
        yield opened


# --- answers and abstentions --------------------------------------------------------------------------------------


def test_a_fact_is_answered_with_its_paper(bot: Assistant) -> None:
    answer = bot.ask(MINED)
    check(answer)
    assert "1,774" in answer.text
    assert "sample-11" in {reference.paper.id for reference in answer.references}
    assert all(claim.supported for claim in answer.claims)
    assert (answer.question, answer.llm, answer.embedder) == (MINED, "quote", "minilm")
    assert {"retrieve", "first_word", "total"} <= set(answer.timings_ms)


def test_the_right_paper_comes_first(bot: Assistant) -> None:
    answer = bot.ask(FILTER)
    check(answer)
    assert answer.references[0].paper.id == answer.hits[0].passage.paper_id == "sample-10"


@pytest.mark.parametrize("question", [FRANCE, GPUS])
def test_what_the_abstracts_do_not_say_is_not_answered(bot: Assistant, question: str) -> None:
    answer = bot.ask(question)
    check(answer)
    assert answer.abstained
    assert 1 <= len(answer.nearest) <= 3
    assert [paper.id for paper in answer.nearest] == [
        hit.passage.paper_id for hit in answer.hits[: len(answer.nearest)]
    ]


def test_a_near_miss_says_what_is_missing(bot: Assistant) -> None:
    answer = bot.ask(GPUS)
    assert "GPUs" in answer.abstain_reason
    assert answer.nearest[0].id == "sample-06"


@pytest.mark.parametrize("question", [MINED, FILTER, "Which papers are about LLM agents?", FRANCE])
def test_answers_grow(bot: Assistant, question: str) -> None:
    stages = list(bot.stream(question))
    for before, after in pairwise(stages):
        assert not before.done
        assert after.text.startswith(before.text)
        assert after.claims[: len(before.claims)] == before.claims
        assert {r.number for r in before.references} <= {r.number for r in after.references}
    check(stages[-1])
    whole = bot.ask(question)
    assert (whole.text, whole.claims, whole.references) == (
        stages[-1].text,
        stages[-1].claims,
        stages[-1].references,
    )


def test_references_are_numbered_over_the_conversation(bot: Assistant) -> None:
    first = bot.ask(FILTER)
    history = turns(FILTER, first)
    assert [r.number for r in first.references][:1] == [1]
    taken = len(first.references)
    second = bot.ask(MINED, history)
    check(second)
    assert {r.paper.id: r.number for r in second.references}["sample-11"] == taken + 1
    assert f"[{taken + 1}]" in second.text
    third = bot.ask(FILTER, (*history, *turns(MINED, second)))
    check(third)
    assert {r.paper.id: r.number for r in third.references}["sample-10"] == 1
    assert third.text == first.text


def test_a_follow_up_stays_with_its_paper(bot: Assistant) -> None:
    follow_up = bot.ask("And how many threads did they read?", turns(MINED, bot.ask(MINED)))
    check(follow_up)
    assert "57,240" in follow_up.text
    assert follow_up.references[0].paper.id == "sample-11"


# --- whatever is typed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", " ", "\n\t "])
def test_an_empty_question_is_an_error(bot: Assistant, question: str) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        bot.ask(question)


ODD = {
    "10,000 words": "filter partition function " * 3333,
    "one long word": "a" * 50_000,
    "Chinese": "哪种滤波器避免了配分函数？",
    "Arabic": "أي مرشح يتجنب دالة التقسيم؟",
    "emoji": "🤖🔥👩‍👩‍👧",
    "punctuation": "?!?.,;:()[]{}",
    "SQL": "'; DROP TABLE papers; --",
    "FTS": 'filter AND NOT ("partition" NEAR function) * ^ title: -x "',
    "LaTeX": r"What is $R(N) = [1 + c(N-1)N^{-\beta}]^{-1}$ and $\frac{",
    "NUL": "which filter\0 avoids \x07 the partition function",
    "half a pair": "which filter \ud800 avoids the partition function",
    "markers": "What does [1] say, and [99]?",
    "mark-up": "<script>alert(1)</script> **filter** {{x}} {0} %s",
    "lines": "Which filter\navoids\r\nthe partition\u2028function?",
    "stop words": "what is it about",
}


@pytest.mark.parametrize("question", ODD.values(), ids=ODD)
def test_odd_questions_get_sound_answers(bot: Assistant, question: str) -> None:
    answer = bot.ask(question)
    check(answer)
    assert answer.question == question.strip()


def test_several_people_at_once_get_their_own_answers(bot: Assistant) -> None:
    asked = [MINED, FILTER, FRANCE, GPUS] * 6
    alone = {question: bot.ask(question) for question in set(asked)}
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(bot.ask, asked))
    for question, answer in zip(asked, answers, strict=True):
        assert (answer.question, answer.text) == (question, alone[question].text)
        assert answer.references == alone[question].references


# --- the schema ---------------------------------------------------------------------------------------------------


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "place", [(), ("claims", 0), ("references", 0), ("references", 0, "paper"), ("claims", 0, "quotes", 0)]
)
def test_the_schema_forbids_what_it_does_not_know(bot: Assistant, place: tuple[str | int, ...]) -> None:
    found = check(bot.ask(MINED))
    inside: Any = found
    for step in place:
        inside = inside[step]
    inside["surprise"] = 1
    with pytest.raises(ValidationError, match="surprise"):
        Draft202012Validator(SCHEMA).validate(found)


def test_the_schema_names_every_key_that_is_written(bot: Assistant) -> None:
    found = check(bot.ask(MINED))
    assert set(found) == set(SCHEMA["required"]) == set(SCHEMA["properties"]) - {"id"}
    assert set(found["references"][0]["paper"]) == set(SCHEMA["$defs"]["paper"]["properties"])


# --- LLMs that say what they are told to --------------------------------------------------------------------------


def scripted(index: Path, pieces: Sequence[str], question: str = FILTER) -> tuple[Answer, ScriptedLLM]:
    llm = ScriptedLLM(pieces)
    with Assistant.open(index=index, llm=llm) as bot:
        answer = bot.ask(question)
    check(answer)
    assert answer.llm == "scripted"
    return answer, llm


@pytest.mark.parametrize(
    "said",
    [
        ABSTENTION,
        ABSTENTION.rstrip("."),
        f"  {ABSTENTION}\n",
        f"{ABSTENTION} [1]",
        ABSTENTION.replace("'", "’"),
    ],
)
def test_a_model_may_abstain(sample_index: Path, said: str) -> None:
    answer, _ = scripted(sample_index, [said[:7], said[7:]])
    assert answer.abstained
    assert answer.nearest[0].id == "sample-10"


@pytest.mark.parametrize("pieces", [[], [""], [" \n"], ["[1]"], ["..."]])
def test_when_a_model_says_nothing_the_papers_answer(sample_index: Path, pieces: list[str]) -> None:
    answer, _ = scripted(sample_index, pieces)
    assert not answer.abstained
    assert answer.claims
    assert all(claim.supported for claim in answer.claims)
    assert answer.references[0].paper.id == "sample-10"
    assert answer.notices[0].endswith("the papers' own sentences answer instead.")


def test_a_models_sentence_is_checked_against_what_it_cites(sample_index: Path) -> None:
    first, _ = scripted(sample_index, ["x"])
    paper = first.hits[0].passage.source
    answer, llm = scripted(
        sample_index,
        ["It is the Score Kalman Filter", " [1", "].", " It has 4,711 parts [1]. So they say. Bread [9", "99]."],
    )
    assert llm.prompts[0].evidence[0].paper_id == paper.paper_id
    assert answer.text == "It is the Score Kalman Filter [1]. It has 4,711 parts [1]. So they say. Bread."
    assert [claim.references for claim in answer.claims] == [(1,), (1,), (), ()]
    assert [claim.supported for claim in answer.claims][1:] == [False, False, False]
    assert [reference.paper.id for reference in answer.references] == [paper.paper_id]
    assert len(answer.notices) == 1
    assert answer.notices[0] == "Of what the model wrote: 1 of its references pointed to no paper and was removed."


def test_a_model_that_quotes_is_supported(sample_index: Path) -> None:
    _, llm = scripted(sample_index, ["x"])
    evidence = llm.prompts[0].evidence
    answer, _ = scripted(sample_index, [f"{evidence[2].text} [3]\n\n{evidence[0].text} [1][99][100]"])
    assert [claim.supported for claim in answer.claims] == [True, True]
    assert [claim.quotes[0] for claim in answer.claims] == [evidence[2], evidence[0]]
    assert "\n\n" in answer.text


def test_a_model_is_not_asked_what_cannot_be_answered(sample_index: Path) -> None:
    answer, llm = scripted(sample_index, ["Paris [1]."], FRANCE)
    assert answer.abstained
    assert llm.prompts == []


def test_a_model_is_told_the_conversation(sample_index: Path) -> None:
    llm = ScriptedLLM(["So [1]."])
    history = (Turn("user", FILTER), Turn("assistant", "The Score Kalman Filter. [1]", ("sample-10",)))
    with Assistant.open(index=sample_index, llm=llm) as bot:
        check(bot.ask("Why?", history))
    (prompt,) = llm.prompts
    assert (prompt.question, prompt.history) == ("Why?", history)
    assert "partition function" in prompt.context
    assert "sample-10" in {paper.id for paper in prompt.papers}


# --- questions that an LLM rewrites, and languages -----------------------------------------------------------------

CHINESE = "哪种滤波器避免了配分函数？"
WHY = "Why does the Score Kalman Filter avoid the partition function?"
TOLD = (Turn("user", FILTER), Turn("assistant", "The Score Kalman Filter. [1]", ("sample-10",)))


def rewriting(
    index: Path, question: str, reply: str | BackendError, history: Sequence[Turn] = (), k: int | None = None
) -> tuple[Answer, RewritingLLM]:
    llm = RewritingLLM(["x [1]."], reply)
    with Assistant.open(index=index, llm=llm, k=k) as bot:
        answer = bot.ask(question, history)
    check(answer)
    return answer, llm


def test_a_chinese_question_finds_its_paper_and_is_put_to_the_model_in_chinese(sample_index: Path) -> None:
    answer, llm = rewriting(sample_index, CHINESE, FILTER)
    assert (answer.question, answer.searched) == (CHINESE, FILTER)
    assert answer.hits[0].passage.paper_id == "sample-10"
    (prompt,) = llm.prompts
    assert (prompt.question, prompt.context, prompt.language) == (CHINESE, FILTER, "zh")
    assert not any("question is in" in notice for notice in answer.notices)


def test_a_chinese_question_that_the_abstracts_do_not_answer_is_told_so_in_chinese(sample_index: Path) -> None:
    answer, llm = rewriting(sample_index, "法国的首都是哪里？", FRANCE)
    assert (answer.abstained, answer.text) == (True, abstention_in("zh"))
    assert llm.prompts == []


@pytest.mark.parametrize("reply", ["", CHINESE, BackendError("the LLM scripted failed (Told)")])
def test_a_question_that_cannot_be_translated_is_searched_as_it_is(
    sample_index: Path, reply: str | BackendError
) -> None:
    answer, _ = rewriting(sample_index, CHINESE, reply)
    assert answer.searched == ""
    assert answer.notices[0] == (
        "The question is in Chinese, and the LLM could not put it into English; it was searched as it is."
    )


def test_a_follow_up_is_rewritten_and_stays_with_its_paper(sample_index: Path) -> None:
    answer, llm = rewriting(sample_index, "Why?", WHY, TOLD)
    assert answer.searched == WHY
    assert answer.hits[0].passage.paper_id == "sample-10"
    assert (llm.prompts[0].question, llm.prompts[0].context, llm.prompts[0].language) == ("Why?", WHY, "")
    assert "Score Kalman Filter" in llm.asked[0][1]


@pytest.mark.parametrize("reply", ["", "I'm sorry, I can't?", BackendError("the LLM scripted failed (Told)")])
def test_where_rewriting_fails_a_follow_up_goes_by_the_rules(sample_index: Path, reply: str | BackendError) -> None:
    answer, llm = rewriting(sample_index, "Why?", reply, TOLD)
    assert answer.searched == f"Why? ({FILTER.rstrip('?')})"
    assert not any("LLM" in notice and "put it into" in notice for notice in answer.notices)
    assert "sample-10" in {paper.id for paper in llm.prompts[0].papers}


@pytest.mark.parametrize("history", [(), TOLD])
@pytest.mark.parametrize("question", [MINED, FILTER, FRANCE])
def test_what_stands_alone_costs_no_call(sample_index: Path, question: str, history: tuple[Turn, ...]) -> None:
    answer, llm = rewriting(sample_index, question, "Something else?", history)
    assert llm.asked == []
    assert answer.searched == ""


SIDED = "What is the difference between the Score Kalman Filter and MCP-Injector?"
SIDES = f"{SIDED}\n{FILTER}\n{MINED}"


def test_both_sides_of_a_comparison_are_read(sample_index: Path) -> None:
    answer, llm = rewriting(sample_index, SIDED, SIDES, k=3)
    found = [hit.passage.paper_id for hit in answer.hits]
    assert {"sample-10", "sample-11"} <= set(found)
    assert len(found) == len(set(found)) == 3
    assert answer.searched == ""
    assert llm.prompts[0].question == SIDED
    alone, _ = rewriting(sample_index, SIDED, "", k=3)
    assert found[0] == alone.hits[0].passage.paper_id
    one, _ = rewriting(sample_index, SIDED, SIDES, k=1)
    assert [hit.passage.paper_id for hit in one.hits] == found[:1]


def test_years_hold_in_whatever_words(sample_index: Path) -> None:
    answer, llm = rewriting(sample_index, "Are there others since 1990?", "Which other filters avoid sampling?", TOLD)
    assert answer.filter is not None
    assert answer.filter.only.first_year == 1990
    assert llm.prompts[0].question == "Are there others since 1990?"
    answer, _ = rewriting(sample_index, "1990 年以来的论文中，哪种滤波器避免了配分函数？", f"{FILTER[:-1]} since 1990?")
    assert answer.filter is not None
    assert (answer.filter.only.first_year, answer.searched) == (1990, FILTER)
    assert answer.hits[0].passage.paper_id == "sample-10"


def test_the_quote_backend_says_what_a_foreign_question_needs(bot: Assistant) -> None:
    answer = bot.ask("Welcher Filter vermeidet die Zustandssumme?")
    check(answer)
    assert answer.notices[0] == (
        "The question is in German, the abstracts in English; the default embedder reads English alone. Set an LLM "
        "(--llm), or a multilingual embedder such as st:intfloat/multilingual-e5-small."
    )
    assert not any(notice.startswith("Read ") for notice in answer.notices)  # no German word is "mended"
    if answer.abstained:
        assert answer.text == abstention_in("de")
    assert not any("question is in" in notice for notice in bot.ask(FILTER).notices)


class Bilingual(KeywordEmbedder):
    """A KeywordEmbedder that knows two of its words in German, too."""

    def embed_query(self, text: str) -> Vector:
        """(9,)."""
        return super().embed_query(text.replace("Teilchen", "particle").replace("Wirkstoff", "drug"))


def test_an_embedder_that_knows_the_language_answers_without_an_llm(store_folder: Path) -> None:
    with VectorStore.open(store_folder, search_words) as store:
        answer = Assistant(store, Bilingual(), QuoteLLM()).ask("Was macht der Wirkstoff mit Mäusen?")
    check(answer)
    assert answer.references[0].paper.id == "cancer"
    assert answer.notices == (
        "The question is in German, the abstracts in English: whether they answer it was not checked.",
    )


def test_ask_takes_an_llm_that_cannot_be_hashed_and_keeps_its_index_open(sample_index: Path) -> None:
    class Unhashable(ScriptedLLM):
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            return True

    first, second = Unhashable(["x [1]."]), Unhashable(["y [1]."])
    for llm in (first, second, first):
        check(rag.ask(FILTER, index=str(sample_index), llm=llm))
    assert (len(first.prompts), len(second.prompts)) == (2, 1)
    assert rag._opened.cache_info().misses == 2


def test_unsupported_sentences_are_marked_or_dropped(sample_index: Path) -> None:
    _, llm = scripted(sample_index, ["x"])
    supported = f"{llm.prompts[0].evidence[0].text} [1]"
    llm = ScriptedLLM([f"{supported} It has 4,711 parts [1]."])
    marked = rag.ask(FILTER, index=str(sample_index), llm=llm)
    dropped = rag.ask(FILTER, index=str(sample_index), llm=llm, unsupported="drop")
    assert [claim.supported for claim in marked.claims] == [True, False]
    assert [claim.supported for claim in dropped.claims] == [True]
    check(dropped)


# --- indexes ------------------------------------------------------------------------------------------------------


def test_ask_uses_the_default_index(sample_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_INDEX", str(sample_index))
    answer = rag.ask(MINED)
    check(answer)
    assert "1,774" in answer.text
    assert rag.ask(FILTER, history=turns(MINED, answer)).references[0].number == 2
    assert rag.ask(MINED, index=str(sample_index), llm="quote").text == answer.text


def test_without_an_index_the_error_says_how_to_make_one() -> None:
    with pytest.raises(StoreMissing, match="footnote index"):
        rag.ask(MINED)
    with pytest.raises(StoreMissing, match="there is no index at nowhere"):
        Assistant.open(index="nowhere")
    assert not Path("nowhere").exists()


def test_an_index_is_not_searched_with_another_embedder(sample_index: Path) -> None:
    with pytest.raises(StoreMismatch, match=r"minilm, not minilm:fp32.*--rebuild"):
        Assistant.open(index=sample_index, embedder="minilm:fp32")


@pytest.mark.parametrize("k", [1, 3, 19, 100])
def test_k_papers_are_read(sample_index: Path, k: int) -> None:
    with Assistant.open(index=sample_index, llm="quote", k=k) as bot:
        answer = bot.ask(FILTER)
    check(answer)
    assert len(answer.hits) == min(k, 19)


def test_papers_are_listed_in_order(bot: Assistant, sample_index: Path) -> None:
    every = bot.papers(limit=-1)
    assert [paper.id for paper in every] == [f"sample-{n:02}" for n in range(1, 20)]
    assert bot.papers(limit=2, offset=3) == every[3:5]
    assert papers_in(sample_index) == every
    assert bot.paper_count() == 19
    assert bot.paper("sample-07") == every[6]
    assert bot.paper("nothing") is None


def test_search_lists_papers_once_best_first(bot: Assistant) -> None:
    found = bot.search(FILTER, k=5)
    assert [paper.id for paper in found.papers] == [hit.passage.paper_id for hit in found.hits]
    assert len({paper.id for paper in found.papers}) == 5
    assert found.papers[0].id == "sample-10"
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)


def test_an_index_of_one_paper(tmp_path: Path, papers: tuple[Paper, ...]) -> None:
    with opened_for_writing(tmp_path / "one", "minilm", make_embedder) as (store, embedder):
        index_papers(store, embedder, papers[:1])
    with Assistant.open(index=tmp_path / "one", llm="quote") as bot:
        answer = bot.ask("How many particles does the particle filter need?")
        check(answer)
        assert "It needs 40 particles" in answer.text
        check(bot.ask(FRANCE))


def test_an_empty_index_answers_nothing(tmp_path: Path) -> None:
    with opened_for_writing(tmp_path / "none", "minilm", make_embedder) as (store, embedder):
        index_papers(store, embedder, ())
    with Assistant.open(index=tmp_path / "none", llm="quote") as bot:
        answer = bot.ask(MINED)
    check(answer)
    assert answer.abstained
    assert answer.nearest == ()


def test_a_paper_that_was_removed_meanwhile_is_not_cited(store_folder: Path) -> None:
    question = "What does the particle filter need?"
    embedder = KeywordEmbedder()
    with VectorStore.open(store_folder, search_words) as store:
        bot = Assistant(store, embedder, QuoteLLM())
        before = bot.ask(question)
        check(before)
        assert before.references[0].paper.id == "filter"
        with VectorStore.open(store_folder, search_words) as other:
            other.remove(["filter"])
        after = bot.ask(question)
        check(after)
        assert "filter" not in {hit.passage.paper_id for hit in after.hits}
        assert bot.paper_count() == 4
