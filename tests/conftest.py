"""What tests share: a few papers by hand, a small index over them, the sample index, and no trace of the user.

Nothing here stands in for Chroma, SQLite or the real embedder; only `KeywordEmbedder` (fakes.py) is made for tests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from chroma_server import ChromaServer, chroma_server
from fakes import KeywordEmbedder

import rag
from rag.embed import make_embedder
from rag.index import index_papers
from rag.load import load_papers
from rag.opening import opened_for_writing
from rag.sample import sample_path
from rag.specs import KEYS
from rag.text import search_words
from rag.types import Paper
from vectorstore.store import VectorStore

PAPERS = (
    Paper(
        id="filter",
        title="A particle filter for slow models",
        abstract=(
            "We study the particle filter. It needs 40 particles, where others need 400. "
            "The error falls by 12 percent on three data sets."
        ),
        authors=("Ada Lovelace", "Alan Turing"),
        year=2021,
        venue="NeurIPS",
        url="https://example.org/filter",
        doi="10.1000/filter",
    ),
    Paper(
        id="cancer",
        title="A drug against cancer in mice",
        abstract=(
            "The drug halves the growth of cancer in mice. Of 80 mice, 60 lived for two years. "
            "No side effect of the drug was seen at 5 mg a day."
        ),
        authors=("Marie Curie",),
        year=1998,
        venue="Nature",
        doi="10.1000/cancer",
    ),
    Paper(
        id="graph",
        title="Short proofs about graphs",
        abstract=(
            "Every planar graph can be coloured with 4 colours. Our proof of this takes 30 pages. "
            "A computer checks the proof in 9 hours."
        ),
        authors=("Paul Erdős", "François Viète", "Đặng Thị 李"),
        year=2005,
    ),
    Paper(
        id="language",
        title="Small language models",
        abstract=(
            "A language model with 135 million weights writes 20 words a second. "
            "A larger model is right in 71 of 100 cases, the small one in 38."
        ),
        authors=("Grace Hopper", "Ada Lovelace"),
        year=2024,
        venue="ICML",
        url="https://example.org/language",
    ),
    Paper(
        id="bare",
        title="Rain was measured on 7 hills",
        abstract="Rain was measured on 7 hills. The wettest hill had 3,000 mm a year.",
        untitled=True,
    ),
)


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache folder for the run and all its workers, so that the embedder's graph is made once."""
    base = tmp_path_factory.getbasetemp()
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting, key, index or file of the user reaches a test; each starts in an empty folder."""
    for name in list(os.environ):
        if name.startswith("FOOTNOTE_") or name in KEYS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    rag._opened.cache_clear()
    yield
    rag._opened.cache_clear()


@pytest.fixture
def papers() -> tuple[Paper, ...]:
    """Five papers: "filter", "cancer", "graph", "language", and "bare", which has no author, year or own title."""
    return PAPERS


@pytest.fixture
def embedder() -> KeywordEmbedder:
    """A fresh KeywordEmbedder."""
    return KeywordEmbedder()


@pytest.fixture
def store_folder(tmp_path: Path, papers: tuple[Paper, ...]) -> Path:
    """The folder of an index over `papers`, made with a KeywordEmbedder of its own and closed."""
    folder = tmp_path / "index"
    with opened_for_writing(folder, "keyword", KeywordEmbedder) as (store, maker):
        index_papers(store, maker, papers)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A Chroma server for all tests of this process."""
    with chroma_server(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture(params=["folder", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A place for an index, once in a folder and once on a server, where nothing is yet."""
    if request.param == "folder":
        return str(tmp_path / "place")
    running: ChromaServer = request.getfixturevalue("server")
    return running.place(f"test-{uuid4().hex}")


@pytest.fixture
def stored(place: str, papers: tuple[Paper, ...]) -> str:
    """The place of an index over `papers`, made with a KeywordEmbedder of its own and closed; on both engines."""
    with opened_for_writing(place, "keyword", KeywordEmbedder) as (store, maker):
        index_papers(store, maker, papers)
    return place


@pytest.fixture
def store(stored: str) -> Iterator[VectorStore]:
    """The index over `papers`, open; on both engines."""
    with VectorStore.open(stored, search_words) as opened:
        yield opened


@pytest.fixture(scope="session")
def sample_index(_cache: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index over the sample corpus, made with the real `minilm`; read it, do not write to it."""
    folder = tmp_path_factory.mktemp("sample") / "index"
    with opened_for_writing(folder, "minilm", make_embedder) as (store, maker):
        index_papers(store, maker, load_papers([sample_path()]))
    return folder
