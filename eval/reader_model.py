"""The reader as it is trained: MiniLM whose weights stay, and thin matrices beside them that learn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from transformers import BertModel

from rag.bert_graph import ADAPTED
from rag.minilm import model_folder


class LowRank(nn.Module):
    """A linear layer that stays as it is, and a product of two thin matrices beside it."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / math.sqrt(linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What the layer gives, and a little more."""
        return self.linear(x) + ADAPTED * (x @ self.down.T) @ self.up.T  # type: ignore[no-any-return]


class Model(nn.Module):
    """Texts in, token vectors of unit length out; scale and none turn a cosine into a logit."""

    def __init__(self, rank: int) -> None:
        super().__init__()
        bert: Any = BertModel.from_pretrained(model_folder(), add_pooling_layer=False, attn_implementation="eager")
        bert.requires_grad_(False)
        for part in bert.modules():
            if isinstance(part, nn.Dropout):
                part.p = 0.0  # its low rank keeps it from learning by heart; drawing takes a fifth of the time
        for layer in bert.encoder.layer:
            for name in ("query", "key", "value"):
                setattr(layer.attention.self, name, LowRank(getattr(layer.attention.self, name), rank))
            for block in (layer.attention.output, layer.intermediate, layer.output):
                block.dense = LowRank(block.dense, rank)
        self.bert = bert
        self.scale = nn.Parameter(torch.tensor(3.0))  # of its exponential
        self.none = nn.Parameter(torch.tensor(0.45))

    def forward(self, texts: Sequence[Sequence[int]]) -> list[torch.Tensor]:
        """(tokens, width) of each text, special tokens included."""
        length = max(map(len, texts))
        ids, mask = torch.zeros(len(texts), length, dtype=torch.long), torch.zeros(len(texts), length)
        for i, text in enumerate(texts):
            ids[i, : len(text)] = torch.tensor(text)
            mask[i, : len(text)] = 1
        tokens = functional.normalize(self.bert(ids, attention_mask=mask).last_hidden_state.float(), dim=-1)
        return [tokens[i, : len(text)] for i, text in enumerate(texts)]

    def adapter(self) -> dict[str, np.ndarray[Any, Any]]:
        """The thin matrices, by the name of the weight that their product is added to."""
        found = {name: value.detach().half().numpy() for name, value in self.named_parameters() if value.requires_grad}
        return {name.removeprefix("bert."): value for name, value in found.items()}
