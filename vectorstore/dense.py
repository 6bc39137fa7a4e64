"""The vectors of an index, in Chroma through langchain-chroma: cosine space, telemetry off.

It turns entries into stored rows and a question's vector into passages with their cosines. It does not know
what a paper or a question is, nor who made the vectors. Chroma and LangChain appear nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from vectorstore.errors import StoreMissing, StoreUnusable
from vectorstore.manifest import Manifest
from vectorstore.passage import Bibliography, Entry, Passage, Vector

_SPACE: Any = {"hnsw": {"space": "cosine"}}
_NAME = "passages"


class _Handed(Embeddings):
    """Hands LangChain vectors that were computed before, in the order of the texts."""

    def __init__(self, vectors: Sequence[Vector] = ()) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors handed in, one a text."""
        return [vector.tolist() for vector, _ in zip(self._vectors, texts, strict=True)]

    def embed_query(self, text: str) -> list[float]:
        """Never asked for: searches are made by vector."""
        raise NotImplementedError(text)


class DenseIndex:
    """Passages by the meaning of their text."""

    failures = (ChromaError, OSError)  # what any method may raise when the files are damaged or the disk is full

    def __init__(self, client: Any, where: str, manifest: Manifest) -> None:
        self._client = client
        self.where = where
        self.manifest = manifest
        self._chroma = self._collection(_Handed())

    @classmethod
    def open(cls, folder: Path) -> DenseIndex:
        """The index in `folder`; StoreMissing when there is none, StoreUnusable when it cannot be read."""
        client = _client(folder)
        with ExitStack() as undo:
            undo.callback(client.close)
            try:
                metadata = client.get_collection(_NAME, embedding_function=None).metadata
            except (NotFoundError, ValueError):
                raise StoreMissing(f"there is no index at {folder}; make one: footnote index PAPERS") from None
            manifest = Manifest.from_metadata(metadata, str(folder))
            undo.pop_all()
        return cls(client, str(folder), manifest)

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> DenseIndex:
        """A new, empty index in `folder`."""
        client = _client(folder)
        client.create_collection(_NAME, metadata=manifest.as_metadata(), configuration=_SPACE, embedding_function=None)
        return cls(client, str(folder), manifest)

    def close(self) -> None:
        """Let go of the files; the last to do so in this process closes them."""
        self._client.close()

    def add(self, entries: Sequence[Entry]) -> None:
        """Put entries in; one whose passage id stands already replaces it."""
        step = self._client.get_max_batch_size()
        for first in range(0, len(entries), step):
            part = entries[first : first + step]
            self._collection(_Handed([e.vector for e in part])).add_texts(
                texts=[e.passage.text for e in part],
                metadatas=[_metadata(e.passage) for e in part],
                ids=[e.passage.id for e in part],
            )

    def remove(self, passage_ids: Sequence[str]) -> None:
        """Take passages out; ids that are not there are passed over."""
        if passage_ids:
            self._chroma.delete(ids=list(passage_ids))

    def ids_of(self, paper_id: str) -> frozenset[str]:
        """The ids of a paper's passages."""
        return frozenset(self._chroma.get(where={"paper_id": paper_id}, include=[])["ids"])

    def search(self, vector: Vector, k: int) -> Iterator[tuple[Passage, float]]:
        """The k passages nearest to a unit vector, nearest first, each with its cosine (−1..1)."""
        found = self._chroma.similarity_search_by_vector_with_relevance_scores(vector.tolist(), k=k)
        for document, distance in found:
            yield _passage(str(document.id), document.page_content, document.metadata), 1.0 - distance

    def cosines(self, passage_ids: Sequence[str], vector: Vector) -> dict[str, float]:
        """The exact cosine of each passage with a unit vector."""
        if not passage_ids:
            return {}
        found = self._chroma.get(ids=list(passage_ids), include=["embeddings"])
        scores = np.asarray(found["embeddings"], dtype=np.float32) @ vector
        return dict(zip(found["ids"], scores.tolist(), strict=True))

    def count(self) -> int:
        """How many passages there are."""
        return int(self._client.get_collection(_NAME, embedding_function=None).count())

    def _collection(self, vectors: _Handed) -> Chroma:
        return Chroma(_NAME, client=self._client, embedding_function=vectors, create_collection_if_not_exists=False)


def _client(folder: Path) -> Any:
    path = str(folder / "chroma")
    try:
        return chromadb.PersistentClient(path, Settings(anonymized_telemetry=False))
    except (ChromaError, OSError, ValueError) as error:
        if isinstance(error, ChromaError):
            # Chroma keeps what it failed to start, and would hand it out even when the files have been mended.
            SharedSystemClient._identifier_to_system.pop(path, None)
        raise StoreUnusable.at(folder, error) from error


def _metadata(passage: Passage) -> dict[str, str | int | bool]:
    source = passage.source
    kept: dict[str, str | int | bool] = {
        "paper_id": source.paper_id,
        "title": source.title,
        "untitled": source.untitled,
        "authors": json.dumps(source.authors, ensure_ascii=False),
        "venue": source.venue,
        "url": source.url,
        "doi": source.doi,
        "start": passage.start,
        "end": passage.end,
    }
    return kept if source.year is None else {**kept, "year": source.year}


def _passage(passage_id: str, text: str, kept: Mapping[str, Any]) -> Passage:
    source = Bibliography(
        paper_id=kept["paper_id"],
        title=kept["title"],
        untitled=kept["untitled"],
        authors=tuple(json.loads(kept["authors"])),
        year=kept.get("year"),
        venue=kept["venue"],
        url=kept["url"],
        doi=kept["doi"],
    )
    return Passage(passage_id, text, kept["start"], kept["end"], source)
