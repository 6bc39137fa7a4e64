"""The vectors of an index, in Chroma through langchain-chroma: cosine space, telemetry off.

It turns entries into stored rows and a question's vector into passage ids with their cosines; and gives back whole
records, since every row holds all that is known of its paper. It does not know what a question is, nor who made the
vectors. Chroma and LangChain appear nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import chromadb
import httpx
import numpy as np
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from vectorstore.errors import StoreMissing, StoreUnusable
from vectorstore.filter import Filter, author_keys, name_words
from vectorstore.manifest import Manifest
from vectorstore.passage import Bibliography, Entry, Passage, Record, Vector
from vectorstore.place import Place

# Chroma's own default, ef_search 100, found 96 % of the nearest 100 passages of SciFact; a search here asks for 200.
_SPACE: Any = {"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 400, "max_neighbors": 24}}
_PAGE = 1000  # rows read at a time
_TIMEOUT = httpx.Timeout(120, connect=10)  # seconds
_REVISION = "footnote_revision"


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

    # What any method may raise when the files are damaged, the disk is full or the server gone.
    failures = (ChromaError, OSError, httpx.HTTPError)

    def __init__(self, client: Any, place: Place, manifest: Manifest) -> None:
        self._client = client
        self._place = place
        self.manifest = manifest
        self._rows = client.get_collection(place.collection, embedding_function=None)

    @classmethod
    def open(cls, place: Place) -> DenseIndex:
        """The index at the place; StoreMissing when there is none, StoreUnusable when it cannot be read."""
        client = _client(place)
        with ExitStack() as undo:
            undo.callback(_let_go, client)
            try:
                metadata = client.get_collection(place.collection, embedding_function=None).metadata
            except (NotFoundError, ValueError):
                raise StoreMissing(f"there is no index at {place.text}; make one: footnote index PAPERS") from None
            index = cls(client, place, Manifest.from_metadata(metadata, place.text))
            undo.pop_all()
        return index

    @classmethod
    def create(cls, place: Place, manifest: Manifest) -> DenseIndex:
        """A new, empty index at the place."""
        client = _client(place)
        with ExitStack() as undo:
            undo.callback(_let_go, client)
            client.create_collection(
                place.collection, metadata=manifest.as_metadata(), configuration=_SPACE, embedding_function=None
            )
            undo.pop_all()
        return cls(client, place, manifest)

    def close(self) -> None:
        """Let go of the files or the server; the last to do so in this process closes them."""
        _let_go(self._client)

    def add(self, entries: Sequence[Entry], hashes: Mapping[str, str]) -> None:
        """Put all entries of some papers in, in place of any of the same id. hashes: paper id → its record's hash."""
        numbers: dict[str, int] = {}
        for entry in entries:
            numbers[entry.passage.paper_id] = numbers.get(entry.passage.paper_id, 0) + 1
        step = self._client.get_max_batch_size()
        for first in range(0, len(entries), step):
            part = entries[first : first + step]
            self._collection(_Handed([e.vector for e in part])).add_texts(
                texts=[e.passage.text for e in part],
                metadatas=[_metadata(e.passage, hashes[e.passage.paper_id], numbers) for e in part],
                ids=[e.passage.id for e in part],
            )

    def remove(self, passage_ids: Sequence[str]) -> None:
        """Take passages out; ids that are not there are passed over."""
        for first in range(0, len(passage_ids), _PAGE):
            self._rows.delete(ids=list(passage_ids[first : first + _PAGE]))

    def ids_of(self, paper_ids: Sequence[str]) -> frozenset[str]:
        """The ids of the papers' passages."""
        return frozenset(i for page in self._pages(paper_ids, []) for i in page["ids"])

    def search(self, vector: Vector, k: int, only: Filter) -> dict[str, float]:
        """The ids of the k passages nearest to a unit vector → their cosines (−1..1), nearest first."""
        found = self._rows.query(query_embeddings=[vector], n_results=k, where=only.where(), include=["distances"])
        return {i: 1.0 - distance for i, distance in zip(found["ids"][0], found["distances"][0], strict=True)}

    def cosines(self, passage_ids: Sequence[str], vector: Vector) -> dict[str, float]:
        """The exact cosine of each passage with a unit vector."""
        if not passage_ids:
            return {}
        found = self._rows.get(ids=list(passage_ids), include=["embeddings"])
        scores = np.asarray(found["embeddings"], dtype=np.float32) @ vector
        return dict(zip(found["ids"], scores.tolist(), strict=True))

    def count(self) -> int:
        """How many passages there are."""
        return int(self._rows.count())

    def ids(self) -> Iterator[str]:
        """The ids of all passages."""
        for page in self._pages(None, []):
            yield from page["ids"]

    def vectors(self) -> Iterator[tuple[list[str], Vector]]:
        """All vectors, some at a time: passage ids, and (n, dim)."""
        for page in self._pages(None, ["embeddings"]):
            yield page["ids"], np.asarray(page["embeddings"], dtype=np.float32)

    def records(self, paper_ids: Sequence[str] | None = None) -> Iterator[tuple[Record | str, tuple[Passage, ...]]]:
        """Papers (None: all) with their passages, in order; only the id of one whose passages are not of one state."""
        rows: dict[str, list[tuple[Passage, Mapping[str, Any]]]] = {}
        for page in self._pages(paper_ids, ["documents", "metadatas"]):
            for i, text, kept in zip(page["ids"], page["documents"], page["metadatas"], strict=True):
                rows.setdefault(kept["paper_id"], []).append((_passage(i, text, kept), kept))
        for paper_id, found in rows.items():
            found.sort(key=lambda row: row[0].start)
            passages = tuple(passage for passage, _ in found)
            states = {(kept["hash"], kept["of"]) for _, kept in found}
            whole = len(states) == 1 and len(found) == found[0][1]["of"]
            yield (_record(passages, found[0][1]["hash"]) if whole else paper_id), passages

    def _pages(self, paper_ids: Sequence[str] | None, include: list[str]) -> Iterator[Any]:
        """The rows of papers (None: all), some at a time."""
        if paper_ids is None:
            for first in range(0, self.count(), _PAGE):
                yield self._rows.get(limit=_PAGE, offset=first, include=include)
            return
        for first in range(0, len(paper_ids), _PAGE):
            part = list(paper_ids[first : first + _PAGE])
            yield self._rows.get(where={"paper_id": {"$in": part}}, include=include)

    @property
    def revision(self) -> str:
        """Changes when a run of writes begins and when it ends; "" before the first."""
        metadata = self._client.get_collection(self._place.collection, embedding_function=None).metadata
        return str((metadata or {}).get(_REVISION, ""))

    def mark(self, revision: str) -> None:
        """Set the revision."""
        self._rows.modify(metadata={**self.manifest.as_metadata(), _REVISION: revision})

    def _collection(self, vectors: _Handed) -> Chroma:
        name = self._place.collection
        return Chroma(name, client=self._client, embedding_function=vectors, create_collection_if_not_exists=False)


def _client(place: Place) -> Any:
    settings = Settings(anonymized_telemetry=False)
    if place.host:
        return _http_client(place, settings)
    path = str(place.folder / "chroma")
    try:
        return chromadb.PersistentClient(path, settings)
    except (ChromaError, OSError, ValueError) as error:
        if isinstance(error, ChromaError):
            # Chroma keeps what it failed to start, and would hand it out even when the files have been mended.
            SharedSystemClient._identifier_to_system.pop(path, None)
        raise StoreUnusable.at(place.text, error, place.folder) from error


def _http_client(place: Place, settings: Settings) -> Any:
    host = f"[{place.host}]" if ":" in place.host else place.host
    url = f"http{'s' if place.ssl else ''}://{host}:{place.port}/api/v2/heartbeat"
    try:
        # First: Chroma itself would wait for ever for a server that takes the call and says nothing.
        httpx.get(url, timeout=_TIMEOUT).raise_for_status()
        client: Any = chromadb.HttpClient(place.host, place.port, ssl=place.ssl, settings=settings)
    except (ChromaError, OSError, ValueError, httpx.HTTPError) as error:
        raise StoreUnusable(
            f"no Chroma server answers at {place.host}, port {place.port}; start one: chroma run --path FOLDER"
        ) from error
    for session in _sessions(client):
        session.timeout = _TIMEOUT
    return client


def _let_go(client: Any) -> None:
    sessions = _sessions(client)
    client.close()
    for session in sessions:  # Chroma leaves them open
        session.close()


def _sessions(client: Any) -> list[httpx.Client]:
    """A client's connections to a server; none when it works on files."""
    servers = (client._server, client._admin_client._server)
    return [server._session for server in servers if hasattr(server, "_session")]


def _metadata(passage: Passage, digest: str, numbers: Mapping[str, int]) -> dict[str, Any]:
    source = passage.source
    return {
        "paper_id": source.paper_id,
        "title": source.title,
        "untitled": source.untitled,
        "authors": json.dumps(source.authors, ensure_ascii=False),
        "year": source.year,
        "venue": source.venue,
        "url": source.url,
        "doi": source.doi,
        "start": passage.start,
        "end": passage.end,
        "hash": digest,
        "of": numbers[source.paper_id],
        # None takes away what the row had before; left out, it would stay; and Chroma refuses empty lists.
        "author_words": list(author_keys(source.authors)) or None,
        "venue_words": list(dict.fromkeys(name_words(source.venue))) or None,
    }


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


def _record(passages: Sequence[Passage], digest: str) -> Record:
    """The paper whose abstract the passages cover but for single spaces."""
    abstract = ""
    for passage in passages:
        abstract = abstract.ljust(passage.start) + passage.text[max(0, len(abstract) - passage.start) :]
    return Record(passages[0].source, abstract, digest)
