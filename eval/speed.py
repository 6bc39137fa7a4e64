"""Measures an index that is there: how fast it is searched and asked, what it takes, what Chroma's graph misses."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import numpy as np

from eval.errors import SuiteError
from rag.assistant import Assistant
from rag.embed import Embedder, SentenceTransformerEmbedder, make_embedder
from rag.minilm import model_folder
from rag.text import search_words, searched
from vectorstore.passage import Vector
from vectorstore.store import VectorStore

Figures = dict[str, float]
_DEPTHS = (10, 100)  # at which the graph's recall is told
_WARM = 5  # questions asked before the clock runs


def questions_in(path: Path, limit: int) -> tuple[str, ...]:
    """The first texts of a JSONL file of questions ("question" or "text")."""
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        found = tuple(str(row.get("question") or row["text"]) for row in rows[:limit])
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, AttributeError) as error:
        raise SuiteError(f'{path} is no JSONL file of questions ("question" or "text"): {error}') from error
    if len(found) <= _WARM:
        raise SuiteError(f"{path} holds {len(found)} questions; more than {_WARM} are needed")
    return found


def measured(index: str, questions: Sequence[str]) -> Figures:
    """Name → figure, in the order in which they were taken: memory is read before anything else is loaded."""
    with Assistant.open(index=index, llm="quote") as assistant:
        searches = _times(lambda text: assistant.search(text, 10), questions)
        answers = _times(assistant.ask, questions)
        spec = assistant.embedder
    peak = _peak_mib()
    with VectorStore.open(index, search_words) as store:
        papers, passages = store.counts()
        embedder = make_embedder(spec)
        embeddings = _times(embedder.embed_query, questions)
        recalls = _recalls(store, embedder, questions)
    found: Figures = {"papers": papers, "passages": passages}
    found |= _spread("search for 10 papers", searches) | _spread("answer of quote", answers)
    found |= {"peak memory so far, MiB": peak} | _spread("question embedding", embeddings)
    if spec == "minilm":
        torch = _times(SentenceTransformerEmbedder(str(model_folder())).embed_query, questions)
        found |= _spread("question embedding, torch", torch)
        found["search / torch's embedding"] = median(searches) / median(torch)
    return found | recalls


def _times(call: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    for text in questions[:_WARM]:
        call(text)
    times = []
    for text in questions[_WARM:]:
        began = perf_counter()
        call(text)
        times.append(1000 * (perf_counter() - began))
    return times


def _spread(name: str, times: Sequence[float]) -> Figures:
    return {f"{name}, ms p50": median(times), f"{name}, ms p95": quantiles(times, n=20)[-1]}


def _peak_mib() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _recalls(store: VectorStore, embedder: Embedder, questions: Sequence[str]) -> Figures:
    """The share of the exactly nearest passages that Chroma's graph finds, on average over the questions."""
    vectors = np.stack([embedder.embed_query(searched(text)) for text in questions])
    exact = _nearest(store, vectors, max(_DEPTHS))
    return {
        f"graph's recall@{k}": float(np.mean([_share(store, *pair, k) for pair in zip(vectors, exact, strict=True)]))
        for k in _DEPTHS
    }


def _share(store: VectorStore, vector: Vector, exact: Sequence[str], k: int) -> float:
    return len(set(store.nearest(vector, k)) & set(exact[:k])) / len(exact[:k])


def _nearest(store: VectorStore, questions: Vector, k: int) -> list[list[str]]:
    """For each question the ids of the k passages of the highest cosine, worked out over all, some at a time."""
    best: list[list[tuple[float, str]]] = [[] for _ in questions]
    for ids, vectors in store.vectors():
        scores = questions @ vectors.T
        for row, so_far in zip(scores, best, strict=True):
            so_far += [(float(row[i]), ids[i]) for i in np.argsort(-row)[:k]]
            so_far.sort(reverse=True)
            del so_far[k:]
    return [[i for _, i in row] for row in best]
