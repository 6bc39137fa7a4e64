"""Which module may import what, how long it may be, and what a fresh process pays for."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("rag", "ui", "vectorstore", "eval")
MODULES = tuple(sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")))
# package → the other packages of ours that it may know
MAY_KNOW = {"vectorstore": set(), "rag": {"vectorstore"}, "ui": {"rag", "vectorstore"}, "eval": {"rag", "vectorstore"}}
# what comes from outside and is kept at the edge → the only files that know it
ONLY_IN = {
    "chromadb": ("vectorstore/dense.py",),
    "langchain_chroma": ("vectorstore/dense.py",),
    "langchain_core": ("vectorstore/dense.py", "rag/chat_model.py", "rag/embed.py", "rag/langchain.py"),
    "langchain": ("rag/embed.py", "rag/chat_model.py"),
    "gradio": ("ui/page*.py",),
    "sentence_transformers": ("rag/cross_encoder.py", "rag/embed.py"),
    "onnxruntime": ("rag/minilm.py",),
    "tokenizers": ("rag/minilm.py", "eval/reader_train.py"),
    "onnx": ("rag/bert_graph.py",),
    "py3langid": ("rag/language.py",),
    "sqlite3": ("vectorstore/*.py",),
    "httpx": ("vectorstore/dense.py", "rag/llms.py"),
    "filelock": ("vectorstore/lock.py",),
    "click": ("ui/*.py", "eval/cli*.py", "eval/reader_train.py"),
    "rich": ("ui/cli*.py",),
}
# seconds to import, and not needed to say --help
HEAVY = ("chromadb", "torch", "gradio", "langchain", "langchain_core", "sentence_transformers", "transformers")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, anywhere in it."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield ".".join([*package[: len(package) - node.level + 1], node.module or ""])
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def tops(path: Path) -> set[str]:
    return {module.partition(".")[0] for module in imported(path)}


@pytest.fixture(params=MODULES, ids=name)
def module(request: pytest.FixtureRequest) -> Path:
    return Path(str(request.param))


def test_all_packages_are_walked() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == set(PACKAGES)
    assert ROOT / "rag/load/papers.py" in MODULES
    assert "rag.text" in set(imported(ROOT / "rag/load/papers.py"))
    assert "rag.load.record" in set(imported(ROOT / "rag/load/papers.py"))


def test_imports_run_one_way(module: Path) -> None:
    package = module.relative_to(ROOT).parts[0]
    assert tops(module) & set(PACKAGES) <= MAY_KNOW[package] | {package}


def test_frameworks_stay_at_the_edge(module: Path) -> None:
    wrong = [
        framework
        for framework in tops(module) & set(ONLY_IN)
        if not any(module.relative_to(ROOT).match(pattern) for pattern in ONLY_IN[framework])
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "framework",
    ["chromadb", "langchain_chroma", "httpx", "filelock", "sentence_transformers", "onnxruntime", "onnx"],
)
def test_the_edge_is_where_it_is_said_to_be(framework: str) -> None:
    assert {name(path) for path in MODULES if framework in tops(path)} == set(ONLY_IN[framework])


def test_a_module_says_what_it_is(module: Path) -> None:
    assert ast.get_docstring(tree(module)), f"{name(module)} has no docstring"


def test_a_module_is_not_too_long(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("entry", ["rag", "ui.cli"])
def test_a_fresh_process_pays_for_nothing_heavy(entry: str) -> None:
    code = f"import sys, {entry}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""


def test_the_public_names_of_rag_are_all() -> None:
    """What `from rag import *` gives is what the package itself imports or defines for others, and sorted."""
    import rag

    public = {
        name
        for name, value in vars(rag).items()
        if not name.startswith("_") and callable(value) and value.__module__.startswith(("rag", "vectorstore"))
    }
    assert set(rag.__all__) == public
    assert list(rag.__all__) == sorted(rag.__all__)
