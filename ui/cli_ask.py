"""`footnote ask`, `footnote chat` and `footnote search`: questions in, answers or hits out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from rag.errors import UsageError
from ui.cli_batch import Row, each_row, opened_batch
from ui.cli_json import json_text
from ui.cli_options import (
    AS_JSON,
    BATCH,
    CONSTRAINTS,
    EMBEDDER,
    INDEX,
    LLM,
    OUT,
    RERANKER,
    UNSUPPORTED,
    VERIFIER,
    FilteringCommand,
    filters,
)
from ui.cli_text import answer_text, hits_text, tail_text
from ui.scope_text import scope_text
from vectorstore.filter import Filter

if TYPE_CHECKING:
    from rag import Assistant
    from rag.types import Answer, Prompt, Turn
    from rag.write import Unsupported

K = click.option("-k", type=int, metavar="N", help="Papers read for an answer. [default: 6]")


@click.command(cls=FilteringCommand)
@click.argument("question", required=False)
@INDEX
@LLM
@EMBEDDER
@RERANKER
@K
@UNSUPPORTED
@VERIFIER
@AS_JSON
@BATCH
@OUT
@CONSTRAINTS
@filters
def ask(
    question: str | None,
    index: str | None,
    llm: str | None,
    embedder: str | None,
    reranker: str | None,
    k: int | None,
    unsupported: Unsupported | None,
    verifier: str | None,
    as_json: bool,
    batch: str | None,
    out: str,
    constraints: bool,
    only: Filter,
) -> None:
    """Answer QUESTION from the papers in the index.

    With --batch, questions come from a file, one JSON object a line: {"id": "1", "question": "…"}; "follows": "ID"
    makes one a follow-up of an earlier line, and "filter": {"year": "2024..", "venue": ["ICML"], "author": ["Smith"],
    "paper": ["ID"]} chooses papers in place of the options. Answers are written as lines of JSON as they are made.

    \b
    Examples:
      footnote ask "How many MCP repositories did the fault study mine?"
      footnote ask --json "Which filter avoids the partition function?"
      footnote ask --year 2024.. --venue ICML "What is known about activation steering?"
      footnote ask "Which ICML papers since 2024 study activation steering?"
      footnote ask --batch questions.jsonl --out answers.jsonl
    """
    _one_of(question, batch, out)
    with _assistant(index, llm, embedder, k, reranker, unsupported, verifier) as bot:
        if batch is not None:
            _ask_batch(bot, batch, out, only, constraints)
            return
        answer = bot.ask(str(question), only=only, constraints=constraints)
        if as_json:
            from rag.answer_json import to_json  # noqa: PLC0415

            _print_json(to_json(answer))
        else:
            click.echo(answer_text(answer))


@click.command(cls=FilteringCommand)
@click.argument("question", required=False)
@INDEX
@EMBEDDER
@RERANKER
@click.option("-k", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="Papers to list.")
@AS_JSON
@BATCH
@OUT
@filters
def search(
    question: str | None,
    index: str | None,
    embedder: str | None,
    reranker: str | None,
    k: int,
    as_json: bool,
    batch: str | None,
    out: str,
    only: Filter,
) -> None:
    """List the papers nearest to QUESTION, without an answer.

    --json and --batch give {"id", "hits": [{"paper_id", "score", "dense", "lexical", "title", "passage"}]}, one hit
    a paper, best first. dense is a cosine (−1 to 1), lexical BM25, score their fusion within this question. A
    reranker changes the order alone. A row of --batch may have a "filter" of its own, as for `footnote ask`.
    """
    _one_of(question, batch, out)
    with _assistant(index, "quote", embedder, None, reranker) as bot:
        if batch is not None:
            with opened_batch(batch, out) as (rows, write):

                def handle(row: Row) -> None:
                    chosen = only if row.only is None else row.only
                    write({"id": row.id, "hits": _hits(bot.search(row.question, k, chosen))})

                each_row(rows, handle)
        elif as_json:
            _print_json({"hits": _hits(bot.search(str(question), k, only))})
        else:
            click.echo(hits_text(bot.search(str(question), k, only), bot.scope(only)))


@click.command(cls=FilteringCommand)
@INDEX
@LLM
@EMBEDDER
@RERANKER
@K
@UNSUPPORTED
@VERIFIER
@filters
def chat(
    index: str | None,
    llm: str | None,
    embedder: str | None,
    reranker: str | None,
    k: int | None,
    unsupported: Unsupported | None,
    verifier: str | None,
    only: Filter,
) -> None:
    """Ask and ask on, in this terminal. Empty line or Ctrl-D: the end; Ctrl-C: stops an answer.

    What chooses papers holds for the whole conversation.
    """
    from rag.types import Turn  # noqa: PLC0415

    history: tuple[Turn, ...] = ()
    with _assistant(index, llm, embedder, k, reranker, unsupported, verifier) as bot:
        click.echo(
            f"{bot.paper_count():,} papers from {bot.index}, answered by {bot.llm}. An empty line ends.",
            err=True,
        )
        if scope := bot.scope(only):
            click.echo(scope_text(scope), err=True)
        while question := _asked():
            answer = _streamed(bot, question, history, only)
            if answer is not None:
                cited = tuple(reference.paper.id for reference in answer.references)
                history += (Turn("user", question), Turn("assistant", answer.text, cited))


def _asked() -> str:
    try:
        return str(click.prompt("\n?", default="", show_default=False, prompt_suffix=" ")).strip()
    except click.Abort:
        return ""


def _streamed(bot: Assistant, question: str, history: Sequence[Turn], only: Filter) -> Answer | None:
    """Print the answer as it grows; None when Ctrl-C stopped it."""
    said, answer = "", None
    try:
        for answer in bot.stream(question, history, only):
            click.echo(answer.text.removeprefix(said), nl=False)
            said = answer.text
    except KeyboardInterrupt:
        click.echo("  (stopped)")
        return None
    click.echo()
    if answer is not None:
        click.echo("\n".join(tail_text(answer)))
    return answer


def _ask_batch(bot: Assistant, batch: str, out: str, only: Filter, constraints: bool) -> None:
    from rag.answer_json import to_json  # noqa: PLC0415
    from rag.types import Turn  # noqa: PLC0415

    told: dict[str, tuple[tuple[Turn, ...], Filter]] = {}
    with opened_batch(batch, out) as (rows, write):

        def handle(row: Row) -> None:
            if row.follows is not None and row.follows not in told:
                raise UsageError(f"it follows {row.follows!r}, which was not answered before it")
            history, before = told[row.follows] if row.follows is not None else ((), only)
            chosen = before if row.only is None else row.only  # a conversation keeps its filter until it has another
            answer = bot.ask(row.question, history, chosen, constraints=constraints)
            cited = tuple(reference.paper.id for reference in answer.references)
            told[row.id] = (*history, Turn("user", row.question), Turn("assistant", answer.text, cited)), chosen
            write({"id": row.id, **to_json(answer)})

        each_row(rows, handle)


def _assistant(
    index: str | None,
    llm: str | None,
    embedder: str | None,
    k: int | None,
    reranker: str | None,
    unsupported: Unsupported | None = None,
    verifier: str | None = None,
) -> Assistant:
    from rag import Assistant  # noqa: PLC0415

    return Assistant.open(
        index=index, llm=llm, embedder=embedder, k=k, reranker=reranker, unsupported=unsupported, verifier=verifier
    )


def _one_of(question: str | None, batch: str | None, out: str) -> None:
    if (question is None) == (batch is None):
        command = click.get_current_context().command_path
        raise UsageError(f'give one question in quotes: {command} "…"; or a file of them: --batch FILE')
    if batch is None and out != "-":
        raise UsageError("--out goes with --batch; for one question write > FILE")


def _print_json(value: object) -> None:
    click.echo(json_text(value, sys.stdout.encoding, indent=2))


def _hits(found: Prompt) -> list[dict[str, object]]:
    return [
        {
            "paper_id": hit.passage.paper_id,
            "score": round(hit.score, 4),
            "dense": round(hit.dense, 4),
            "lexical": round(hit.lexical, 4),
            "title": hit.passage.source.title,
            "passage": hit.passage.text,
        }
        for hit in found.hits
    ]
