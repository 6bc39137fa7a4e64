"""Turns an index into a LangChain retriever: a query in, one Document a paper out, with all that it takes to cite it.

from rag.langchain import FootnoteRetriever
chain = {"context": FootnoteRetriever.open(k=8), "question": RunnablePassthrough()} | prompt | model

Importing this imports langchain-core, which `import rag` does not.
"""

from __future__ import annotations

from pathlib import Path

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from rag.assistant import Assistant
from rag.filters import Names, make_filter
from rag.retrieve import NO_FILTER
from rag.types import Paper
from vectorstore.filter import Filter
from vectorstore.passage import Hit


class FootnoteRetriever(BaseRetriever):
    """Finds papers by an Assistant's own search. Safe in several threads; also a context manager that lets go.

    k: papers for a query, 1 and up. only: the papers that may be found. passages: a Document's text is the passage
    that was found, not the whole abstract.
    """

    assistant: Assistant
    k: int = Field(default=8, ge=1)
    only: Filter = NO_FILTER
    passages: bool = False

    @classmethod
    def open(
        cls,
        index: str | Path | None = None,
        k: int = 8,
        *,
        year: str | int | None = None,
        venue: Names = (),
        author: Names = (),
        paper: Names = (),
        passages: bool = False,
        reranker: str | None = None,
    ) -> FootnoteRetriever:
        """Over an index that exists, the settings' own by default; filters as on the command line.

        Raises vectorstore.errors.StoreError when there is no usable index, rag.errors.UsageError for a wrong filter.
        """
        only = make_filter(year, venue, author, paper)
        assistant = Assistant.open(index=index, llm="quote", reranker=reranker)
        return cls(assistant=assistant, k=k, only=only, passages=passages)

    def __enter__(self) -> FootnoteRetriever:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index, also of that of an Assistant that was given."""
        self.assistant.close()

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager  # nothing within a search is worth a callback
        found = self.assistant.search(query, self.k, self.only)
        pairs = zip(found.hits, found.papers, strict=True)
        return [_document(number, hit, paper, self.passages) for number, (hit, paper) in enumerate(pairs, 1)]


def _document(number: int, hit: Hit, paper: Paper, passages: bool) -> Document:
    """number: the hit's place, from 1. start, end: character offsets of the passage into the abstract."""
    passage = hit.passage
    return Document(
        id=paper.id,
        page_content=passage.text if passages else paper.abstract,
        metadata={
            "number": number,
            "paper_id": paper.id,
            "title": paper.title,
            "untitled": paper.untitled,
            "authors": list(paper.authors),
            "year": paper.year,
            "venue": paper.venue,
            "url": paper.url,
            "doi": paper.doi,
            "score": hit.score,
            "dense": hit.dense,
            "lexical": hit.lexical,
            "passage": passage.text,
            "start": passage.start,
            "end": passage.end,
        },
    )
