"""The `footnote-eval` command: a suite and a system in, a table of figures with their intervals out."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NoReturn

import click

from eval.errors import EvalError
from eval.run import Run, run
from eval.score import Rate, Verdict, rates
from eval.suite import Question, read_suite
from rag.assistant import Assistant
from rag.errors import FootnoteError, UsageError
from rag.sample import sample_path
from vectorstore.errors import StoreError

_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """Measure how well Footnote answers, through the same path as its users'."""


@cli.command("run")
@click.argument("suite", required=False, type=click.Path(path_type=Path))
@click.option("--papers", metavar="FILE", help="Papers to ask about. [default: the sample corpus]")
@click.option("--split", type=click.Choice(["dev", "test", "all"]), default="all", show_default=True)
@click.option("--llm", metavar="SPEC", default="quote", show_default=True, help="What writes the answers.")
@click.option("--embedder", metavar="SPEC", default="minilm", show_default=True, help="What embeds the papers.")
@click.option("-k", type=click.IntRange(min=1), default=6, show_default=True, help="Papers read for an answer.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Save every answer and the figures here.")
@click.option("--failures", is_flag=True, help="Print each question that went wrong, and how.")
def run_command(
    suite: Path | None,
    papers: str | None,
    split: str,
    llm: str,
    embedder: str,
    k: int,
    out: Path | None,
    failures: bool,
) -> None:
    """Ask the questions of SUITE and score the answers.

    SUITE is a JSONL file of questions; without one, the 142 over the sample corpus. A suite's papers sample-01,
    sample-02 … stand for the first, second … paper of --papers, so that the same questions can be asked of another
    wording of the same papers.

    \b
    Examples:
      footnote-eval run --split test
      footnote-eval run --papers abstracts.txt --failures
    """
    questions = tuple(q for q in read_suite(suite) if split in {"all", q.split})
    if not questions:
        raise UsageError(f"the suite has no question in its {split} split")
    with tempfile.TemporaryDirectory() as folder:
        ids = _indexed(papers or str(sample_path()), Path(folder), embedder)
        began = perf_counter()
        with Assistant.open(index=folder, llm=llm, k=k) as assistant:
            done = _asked(assistant, questions, ids)
        seconds = perf_counter() - began
    figures = rates(done.verdicts)
    _print(done, figures, seconds)
    if failures:
        for verdict in done.verdicts:
            _print_failure(verdict)
    if out:
        _save(out, done, figures)


def _indexed(papers: str, folder: Path, embedder: str) -> dict[str, str]:
    """Suite id → id in the index, by the papers' order in the file."""
    from rag.embed import make_embedder  # noqa: PLC0415
    from rag.index import index_papers, opened_for_writing  # noqa: PLC0415
    from rag.load import load_papers  # noqa: PLC0415

    loaded = load_papers([papers])
    with opened_for_writing(folder, embedder, make_embedder) as (store, maker):
        index_papers(store, maker, loaded)
        return {f"sample-{n:02}": source.paper_id for n, (source, _) in enumerate(store.listing(), 1)}


def _asked(assistant: Assistant, questions: Sequence[Question], ids: dict[str, str]) -> Run:
    with click.progressbar(length=len(questions), label="asking", file=sys.stderr) as bar:
        return run(assistant, questions, ids, lambda _: bar.update(1))


def _print(done: Run, figures: Sequence[Rate], seconds: float) -> None:
    n = len(done.verdicts)
    click.echo(f"{n} questions, llm {done.llm}, embedder {done.embedder}, {1000 * seconds / n:.0f} ms a question")
    for figure in figures:
        click.echo(f"{figure.name:<32}{figure}")


def _print_failure(verdict: Verdict) -> None:
    question, answer = verdict.question, verdict.answer
    wrong = []
    if question.answerable:
        wrong += ["it abstained"] if verdict.abstained else []
        wrong += ["fact missing"] if not verdict.fact and not verdict.abstained else []
        wrong += ["reference missing"] if not verdict.references and not verdict.abstained else []
        wrong += ["reference too many"] if verdict.precision is not None and verdict.precision < 1 else []
    elif not verdict.abstained:
        wrong.append("it answered")
    if wrong:
        cited = ", ".join(reference.paper.title for reference in answer.references)
        click.echo(f"\n{question.id}: {', '.join(wrong)}\n  Q: {question.text}\n  A: {answer.text[:400]}")
        click.echo(f"  cited: {cited or 'nothing'}; should: {', '.join(question.papers) or 'nothing'}")


def _save(out: Path, done: Run, figures: Sequence[Rate]) -> None:
    from rag.answer_json import to_json  # noqa: PLC0415

    out.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": v.question.id, "fact": v.fact, "references": v.references, **to_json(v.answer)} for v in done.verdicts
    ]
    (out / "answers.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    table = {f.name.strip(): {"value": f.value, "low": f.low, "high": f.high, "n": f.n} for f in figures}
    summary = {"llm": done.llm, "embedder": done.embedder, "figures": table}
    (out / "figures.json").write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Run the command and end the process with its status."""
    try:
        cli.main(prog_name="footnote-eval", standalone_mode=False)
    except click.ClickException as error:
        _fail(f"{error.format_message()}; see footnote-eval --help", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped", _INTERRUPTED)
    except (FootnoteError, StoreError, EvalError, OSError) as error:
        _fail(str(error), 2 if isinstance(error, UsageError) else 1)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"footnote-eval: {' '.join(message.split())}", err=True)
    sys.exit(code)
