"""The README's file tree, made from the modules' own first lines; `make readme` writes it into README.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"(?<=<!-- tree -->\n```\n).*?(?=```\n<!-- /tree -->)", re.DOTALL)
_PACKAGES = ("rag", "rag/load", "vectorstore", "ui", "eval")
_OTHERS = {
    "rag/data/": "the sample corpus and the JSON Schema of an answer",
    "ui/assets/": "the page's style, script and icon",
    "eval/data/": "the question set over the sample corpus",
    "eval/LOG.md": "what was measured and tried, with dates, also what failed",
    "tests/": "tests, one file a module; fakes.py and scripted.py come in by the same doors as real ones",
    "docs/": "the pictures in this page",
    "constraints.txt": "the versions that everything was tested with",
}


def tree() -> str:
    """A line a file: its path, and what its docstring begins with."""
    rows = [(f"{package}/{p.name}", _first_line(p)) for package in _PACKAGES for p in _modules(package)]
    rows += _OTHERS.items()
    width = max(len(path) for path, _ in rows) + 2
    return "".join(f"{path:<{width}}{text}\n" for path, text in rows)


def _modules(package: str) -> list[Path]:
    return sorted((ROOT / package).glob("*.py"))


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n")[0].rstrip(".")


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(FENCE.sub(lambda _: tree(), readme.read_text("utf-8")), "utf-8")
