"""The reader: the embedder's weights with the adapter that was trained, and nothing else."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch
from fakes import KeywordEmbedder
from safetensors.numpy import load

from eval.reader_model import Model
from rag import Assistant
from rag.bert_graph import ADAPTED, adapted
from rag.embed import TokenEmbedder, make_embedder
from rag.minilm import MiniLM
from rag.quote import QuoteLLM
from rag.reader import reader
from vectorstore.store import VectorStore

ADAPTER = (files("rag") / "data" / "reader.safetensors").read_bytes()
TEXT = "A filter that keeps 40 particles halves the error on three data sets."


def test_the_adapter_is_small_and_fits_the_weights() -> None:
    assert len(ADAPTER) < 1_000_000
    thin = load(ADAPTER)
    downs = [name for name in thin if name.endswith(".down")]
    assert len(downs) == 6 * 6
    for name in downs:
        assert thin[name].shape[0] == thin[name.replace(".down", ".up")].shape[1] == 8
    assert all(np.isfinite(value).all() for value in thin.values())


def test_an_adapter_is_added_as_the_product_of_its_matrices() -> None:
    weights = {"a.weight": np.zeros((2, 3), dtype=np.float32), "b.weight": np.ones((1, 1), dtype=np.float32)}
    thin = {"a.down": np.array([[1, 0, 2]]), "a.up": np.array([[1], [3]]), "none": np.array(0.5)}
    merged = adapted(weights, thin)
    assert merged["a.weight"].tolist() == [[ADAPTED, 0, 2 * ADAPTED], [3 * ADAPTED, 0, 6 * ADAPTED]]
    assert merged["b.weight"] is weights["b.weight"]
    assert not weights["a.weight"].any()


def test_the_reader_sees_the_same_tokens_otherwise() -> None:
    minilm = make_embedder("minilm")
    assert isinstance(minilm, TokenEmbedder)
    own, read = minilm.embed_tokens([TEXT])[0], reader().embed_tokens([TEXT])[0]
    assert own.spans == read.spans
    assert not np.allclose(own.vectors, read.vectors, atol=0.05)
    assert np.linalg.norm(read.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert reader() is reader()


def test_the_odds_are_those_of_a_softmax_with_a_constant() -> None:
    learnt = load(ADAPTER)
    scale, none = np.exp(float(learnt["scale"])), float(learnt["none"])
    assert reader().odds([none]) == pytest.approx(0, abs=1e-3)
    assert reader().odds([none, none]) == pytest.approx(np.log(2), abs=1e-3)
    assert reader().odds([none - 0.1]) == pytest.approx(-0.1 * scale, rel=1e-2)
    assert reader().odds([]) == -np.inf


def test_an_embedder_of_somebodys_own_reads_for_itself(store: VectorStore, embedder: KeywordEmbedder) -> None:
    with Assistant(store, embedder, QuoteLLM()) as bot:
        assert bot.relevance("What does the particle filter need?")[1].odds is None


def test_what_any_known_embedder_found_is_read_by_the_reader(sample_index: Path) -> None:
    with Assistant.open(index=sample_index) as bot:
        asked, off = "How many MCP repositories did the fault study mine?", "Who won the 1998 World Cup?"
        odds = [bot.relevance(question)[1].odds for question in (asked, off)]
    assert odds[0] is not None and odds[1] is not None
    assert odds[0] > 0 > odds[1]


def test_what_is_run_is_what_was_trained() -> None:
    model = Model(8)
    state = {
        name if name in {"scale", "none"} else f"bert.{name}": torch.tensor(value)
        for name, value in load(ADAPTER).items()
    }
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and not [name for name in missing if name.endswith((".down", ".up"))]
    graph = MiniLM("fp32", ADAPTER)
    ids = graph._tokenizer.encode(TEXT).ids
    with torch.no_grad():
        theirs = model([ids])[0].numpy()[1:-1]
    ours = graph.embed_tokens([TEXT])[0].vectors
    assert (ours * theirs).sum(axis=1).min() > 0.9999
