"""Options that several commands share."""

from __future__ import annotations

import click

INDEX = click.option("--index", metavar="DIR", help="Folder of the index. [default: see `footnote config`]")
EMBEDDER = click.option("--embedder", metavar="SPEC", help="minilm (default), st:NAME_OR_FOLDER, openai:…, ollama:…")
LLM = click.option(
    "--llm", metavar="SPEC", help="quote (default: the papers' own sentences), openai:…, anthropic:…, ollama:…"
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
BATCH = click.option(
    "--batch", metavar="Q.jsonl", help='Read questions as lines of {"id", "question"}; - for standard input.'
)
OUT = click.option(
    "--out",
    metavar="FILE",
    default="-",
    help="With --batch: where the results go. [default: standard output]",
)
