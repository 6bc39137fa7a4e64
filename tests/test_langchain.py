"""Footnote as a LangChain retriever: what a Document holds, the ways to call one, and a real chain."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fakes import KeywordEmbedder
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from pydantic import ValidationError

from rag.assistant import Assistant
from rag.errors import UsageError
from rag.filters import make_filter
from rag.langchain import FootnoteRetriever
from rag.quote import QuoteLLM
from rag.text import search_words
from rag.types import Paper
from vectorstore.errors import StoreMissing
from vectorstore.store import VectorStore

QUESTIONS = (
    ("How many particles does the filter need?", "filter"),
    ("Which drug works against cancer?", "cancer"),
    ("How long is the proof?", "graph"),
    ("Which language model is small?", "language"),
)


@pytest.fixture
def bot(store_folder: Path) -> Iterator[Assistant]:
    with VectorStore.open(store_folder, search_words) as store:
        yield Assistant(store, KeywordEmbedder(), QuoteLLM())


@pytest.fixture
def retriever(bot: Assistant) -> FootnoteRetriever:
    return FootnoteRetriever(assistant=bot, k=3)


@pytest.fixture(scope="module")
def sample(sample_index: Path) -> Iterator[FootnoteRetriever]:
    with FootnoteRetriever.open(index=sample_index, k=4) as opened:
        yield opened


def ids(documents: list[Document]) -> list[str]:
    return [str(document.metadata["paper_id"]) for document in documents]


def test_a_document_holds_all_that_it_takes_to_cite_it(
    retriever: FootnoteRetriever, bot: Assistant, papers: tuple[Paper, ...]
) -> None:
    first, *rest = retriever.invoke(QUESTIONS[0][0])
    hit = bot.search(QUESTIONS[0][0], 3).hits[0]
    (paper, *_) = papers
    assert first.id == "filter"
    assert first.page_content == paper.abstract
    assert first.metadata == {
        "number": 1,
        "paper_id": "filter",
        "title": "A particle filter for slow models",
        "untitled": False,
        "authors": ["Ada Lovelace", "Alan Turing"],
        "year": 2021,
        "venue": "NeurIPS",
        "url": "https://example.org/filter",
        "doi": "10.1000/filter",
        "score": hit.score,
        "dense": hit.dense,
        "lexical": hit.lexical,
        "passage": hit.passage.text,
        "start": hit.passage.start,
        "end": hit.passage.end,
    }
    assert [document.metadata["number"] for document in rest] == [2, 3]
    assert len(set(ids([first, *rest]))) == 3


def test_a_paper_that_says_little_of_itself(retriever: FootnoteRetriever) -> None:
    first = retriever.invoke("the wettest hill")[0].metadata
    assert (first["paper_id"], first["untitled"], first["authors"], first["year"]) == ("bare", True, [], None)


def test_passages_are_the_words_of_the_abstract(sample_index: Path, sample: FootnoteRetriever) -> None:
    question = "Which filter avoids the partition function?"
    whole = sample.invoke(question)
    with FootnoteRetriever.open(sample_index, 4, passages=True) as opened:
        parts = opened.invoke(question)
    assert ids(parts) == ids(whole)
    for part, abstract in zip(parts, whole, strict=True):
        start, end = part.metadata["start"], part.metadata["end"]
        assert part.page_content == abstract.page_content[start:end] == part.metadata["passage"]
    assert any(len(p.page_content) < len(w.page_content) for p, w in zip(parts, whole, strict=True))


def test_invoke_batch_and_their_async_forms_agree(retriever: FootnoteRetriever) -> None:
    asked = [question for question, _ in QUESTIONS]
    one_by_one = [retriever.invoke(question) for question in asked]
    assert [ids(found)[0] for found in one_by_one] == [paper for _, paper in QUESTIONS]
    assert retriever.batch(asked) == one_by_one

    async def every() -> tuple[list[list[Document]], list[list[Document]]]:
        alone = await asyncio.gather(*map(retriever.ainvoke, asked))
        return list(alone), await retriever.abatch(asked)

    assert asyncio.run(every()) == (one_by_one, one_by_one)


def test_it_can_be_asked_from_many_threads(sample: FootnoteRetriever) -> None:
    asked = [question for question, _ in QUESTIONS] * 4
    alone = [sample.invoke(question) for question in asked[:4]] * 4
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(sample.invoke, asked)) == alone


def test_a_chain_of_prompt_and_model(retriever: FootnoteRetriever) -> None:
    sent: list[str] = []

    def numbered(documents: list[Document]) -> str:
        return "\n".join(f"[{d.metadata['number']}] {d.metadata['title']}: {d.page_content}" for d in documents)

    def kept(prompt: object) -> object:
        sent.append(str(prompt))
        return prompt

    chain = (
        {"context": retriever | numbered, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template("Answer from these:\n{context}\n\n{question}")
        | RunnableLambda(kept)
        | FakeListChatModel(responses=["It needs 40 particles [1]."])
        | StrOutputParser()
    )
    assert chain.invoke(QUESTIONS[0][0]) == "It needs 40 particles [1]."
    assert "[1] A particle filter for slow models: We study the particle filter. It needs 40" in sent[0]
    assert QUESTIONS[0][0] in sent[0]


def test_callbacks_see_the_search(retriever: FootnoteRetriever) -> None:
    class Listener(BaseCallbackHandler):
        found = 0

        def on_retriever_end(self, documents: object, **_: object) -> None:
            assert isinstance(documents, list)
            self.found += len(documents)

    listener = Listener()
    retriever.invoke(QUESTIONS[0][0], config={"callbacks": [listener]})
    assert listener.found == 3


def test_a_filter_holds(bot: Assistant, sample_index: Path) -> None:
    only = make_filter("2021..", author="lovelace")
    assert set(ids(FootnoteRetriever(assistant=bot, only=only).invoke("cancer"))) == {"filter", "language"}
    with FootnoteRetriever.open(sample_index, paper=["sample-03", "sample-07"]) as opened:
        assert set(ids(opened.invoke("filter"))) == {"sample-03", "sample-07"}
    with FootnoteRetriever.open(sample_index, year=1066) as opened:
        assert opened.invoke("filter") == []


def test_what_is_wrong_is_said(sample_index: Path, bot: Assistant) -> None:
    with pytest.raises(StoreMissing, match="there is no index at nowhere"):
        FootnoteRetriever.open("nowhere")
    with pytest.raises(UsageError, match="'soon' is no year"):
        FootnoteRetriever.open(sample_index, year="soon")
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        FootnoteRetriever(assistant=bot, k=0)


def test_importing_rag_imports_no_langchain() -> None:
    code = "import sys, {}; print(*sorted(m for m in ('langchain', 'langchain_core') if m in sys.modules))"
    said = {
        name: subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True)
        for name in ("rag", "rag.langchain")
    }
    assert said["rag"].stdout.split() == []
    assert "langchain_core" in said["rag.langchain"].stdout.split()
