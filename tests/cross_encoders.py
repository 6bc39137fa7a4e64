"""Real cross-encoders of sentence-transformers, small ones of random weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import rag.minilm


def cross_encoder(folder: Path, *labels: str, seed: int = 5) -> Path:
    """Writes one with two layers of width 32 into the folder, the same each time; no labels: it gives one score."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    source = rag.minilm.model_folder()
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"):
        shutil.copy(source / name, folder)
    size = json.loads((source / "config.json").read_text("utf-8"))["vocab_size"]
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    named = {"id2label": dict(enumerate(labels))} if labels else {"num_labels": 1}
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = BertForSequenceClassification(BertConfig(vocab_size=size, initializer_range=0.5, **named, **shape))
    model.save_pretrained(folder)
    return folder
