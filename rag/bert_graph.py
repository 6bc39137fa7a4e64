"""Turns the weights of a BERT encoder into an ONNX graph: token ids in, token and text vectors out.

It knows the architecture (Devlin et al. 2019) and the names of the weights, and nothing of files, hashes,
tokenizers or sessions. Attention and the residual layer norms are ONNX Runtime's own fused operators, so that
no optimiser has to find them again.

    ids, mask (batch, length) ─▶ embeddings ─▶ layers × [attention, feed-forward] ─▶ tokens (batch, length, width)
                                       mean over mask ─▶ pooled (batch, width), unit length
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

_FUSED = "com.microsoft"
_OPSET = 17
_IR = 8

Weights = Mapping[str, NDArray[np.float32]]


ADAPTED = 2.0  # times the product of an adapter's thin matrices


def adapted(weights: Weights, adapter: Mapping[str, NDArray[Any]]) -> Weights:
    """The weights with a low-rank adapter merged in (Hu et al. 2021, arXiv:2106.09685).

    adapter: for a layer NAME.weight (out, in), NAME.down (rank, in) and NAME.up (out, rank); other entries are let be.
    """
    merged = dict(weights)
    for down in (name for name in adapter if name.endswith(".down")):
        layer = down.removesuffix(".down")
        thin = adapter[f"{layer}.up"].astype(np.float32) @ adapter[down].astype(np.float32)
        merged[f"{layer}.weight"] = weights[f"{layer}.weight"] + ADAPTED * thin
    return merged


@dataclass(slots=True)
class _Graph:
    weights: Weights
    eps: float
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def add(self, op: str, inputs: list[str], name: str, *, outputs: list[str] | None = None, **attrs: Any) -> str:
        domain = _FUSED if op in {"Attention", "SkipLayerNormalization", "BiasGelu"} else ""
        out = outputs or [name]
        self.nodes.append(helper.make_node(op, inputs, out, name=name, domain=domain, **attrs))
        return out[0]

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name: str, *, transposed: bool = False) -> str:
        value = self.weights[name]
        return self.constant(name, value.T if transposed else value)

    def linear(self, x: str, name: str, *, bias: bool = True) -> str:
        y = self.add("MatMul", [x, self.weight(f"{name}.weight", transposed=True)], f"{name}/matmul")
        return self.add("Add", [y, self.weight(f"{name}.bias")], f"{name}/add") if bias else y

    def norm(self, name: str) -> list[str]:
        return [self.weight(f"{name}.weight"), self.weight(f"{name}.bias")]


def bert_graph(weights: Weights, *, layers: int, heads: int, eps: float = 1e-12) -> bytes:
    """The serialised graph; inputs `ids`, `mask` (int64), outputs `tokens`, `pooled` (float32)."""
    graph = _Graph(weights, eps)
    graph.add("Cast", ["mask"], "mask32", to=TensorProto.INT32)
    x = _embeddings(graph)
    for layer in range(layers):
        x = _layer(graph, x, f"encoder.layer.{layer}", heads)
    graph.add("Identity", [x], "tokens")
    _mean(graph, x)
    width = weights["embeddings.LayerNorm.weight"].shape[0]
    return _serialised(graph, width)


def _embeddings(graph: _Graph) -> str:
    words = graph.add("Gather", [graph.weight("embeddings.word_embeddings.weight"), "ids"], "words")
    length = graph.add("Shape", ["ids"], "length", start=1, end=2)
    places = graph.weights["embeddings.position_embeddings.weight"]
    # One text per row, so every token is of type 0: its vector is folded into the positions'.
    places = places + graph.weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.constant("positions", places)
    zero = graph.constant("zero", np.array([0], dtype=np.int64))
    cut = graph.add("Slice", [table, zero, length], "positions/cut")
    summed = graph.add("Add", [words, cut], "embeddings")
    return graph.add(
        "LayerNormalization",
        [summed, *graph.norm("embeddings.LayerNorm")],
        "embeddings/norm",
        epsilon=graph.eps,
    )


def _layer(graph: _Graph, x: str, name: str, heads: int) -> str:
    own = f"{name}.attention.self"
    parts = [f"{own}.{part}" for part in ("query", "key", "value")]
    joint = np.concatenate([graph.weights[f"{p}.weight"].T for p in parts], axis=1)
    bias = np.concatenate([graph.weights[f"{p}.bias"] for p in parts])
    inputs = [x, graph.constant(f"{own}.qkv", joint), graph.constant(f"{own}.qkv_bias", bias), "mask32"]
    seen = graph.add("Attention", inputs, f"{own}/attention", num_heads=heads)
    x = _residual(
        graph, graph.linear(seen, f"{name}.attention.output.dense", bias=False), x, f"{name}.attention.output"
    )
    up = graph.linear(x, f"{name}.intermediate.dense", bias=False)
    up = graph.add("BiasGelu", [up, graph.weight(f"{name}.intermediate.dense.bias")], f"{name}/gelu")
    return _residual(graph, graph.linear(up, f"{name}.output.dense", bias=False), x, f"{name}.output")


def _residual(graph: _Graph, y: str, x: str, name: str) -> str:
    inputs = [y, x, *graph.norm(f"{name}.LayerNorm"), graph.weight(f"{name}.dense.bias")]
    return graph.add("SkipLayerNormalization", inputs, f"{name}/norm", epsilon=graph.eps)


def _mean(graph: _Graph, x: str) -> None:
    weight = graph.add("Cast", ["mask"], "mask/float", to=TensorProto.FLOAT)
    last = graph.constant("last_axis", np.array([2], dtype=np.int64))
    middle = graph.constant("middle_axis", np.array([1], dtype=np.int64))
    column = graph.add("Unsqueeze", [weight, last], "mask/column")
    kept = graph.add("Mul", [x, column], "tokens/kept")
    # The mean's divisor is left out: it cancels when the sum is brought to unit length.
    total = graph.add("ReduceSum", [kept, middle], "tokens/sum", keepdims=0)
    graph.add("LpNormalization", [total], "pooled", axis=-1, p=2)


def _serialised(graph: _Graph, width: int) -> bytes:
    ints = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in ("ids", "mask")]
    tokens = helper.make_tensor_value_info("tokens", TensorProto.FLOAT, ["batch", "length", width])
    pooled = helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["batch", width])
    body = helper.make_graph(graph.nodes, "bert", ints, [tokens, pooled], list(graph.constants.values()))
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, 1)]
    model: onnx.ModelProto = helper.make_model(body, opset_imports=opsets, ir_version=_IR)
    return bytes(model.SerializeToString())
