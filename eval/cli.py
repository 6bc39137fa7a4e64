"""The `footnote-eval` command: a suite and a system in, a table of figures with their intervals out."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import NoReturn

import click

from eval.abstention import judged, table
from eval.beir import Collection, read_collection
from eval.bench import BASELINE, CORPUS, compared, ratio
from eval.cli_faults import faults
from eval.cli_support import COMMANDS
from eval.errors import EvalError
from eval.retrieval import MEASURES, measures
from eval.run import Run, run
from eval.score import Rate, Verdict, rates
from eval.speed import measured, questions_in
from eval.suite import Question, read_suite
from rag.assistant import Assistant
from rag.errors import FootnoteError, UsageError
from rag.sample import sample_path
from vectorstore.errors import StoreError

_INTERRUPTED = 130
_SAMPLED = 99  # papers that a suite can name by their place in the index


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def cli() -> None:
    """Measure how well Footnote answers, through the same path as its users'."""


@cli.command("run")
@click.argument("suite", required=False, type=click.Path(path_type=Path))
@click.option("--papers", metavar="FILE", help="Papers to ask about. [default: the sample corpus]")
@click.option("--index", metavar="PLACE", help="Ask this index instead, which holds the papers.")
@click.option("--split", type=click.Choice(["train", "dev", "test", "all"]), default="all", show_default=True)
@click.option("--llm", metavar="SPEC", default="quote", show_default=True, help="What writes the answers.")
@click.option("--embedder", metavar="SPEC", default="minilm", show_default=True, help="What embeds the papers.")
@click.option("-k", type=click.IntRange(min=1), default=6, show_default=True, help="Papers read for an answer.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Save every answer and the figures here.")
@click.option("--failures", is_flag=True, help="Print each question that went wrong, and how.")
def run_command(
    suite: Path | None,
    papers: str | None,
    index: str | None,
    split: str,
    llm: str,
    embedder: str,
    k: int,
    out: Path | None,
    failures: bool,
) -> None:
    """Ask the questions of SUITE and score the answers.

    SUITE is a JSONL file of questions; without one, the 142 over the sample corpus. A suite's papers sample-01,
    sample-02 … stand for the first, second … paper of --papers (or of --index), so that the same questions can be
    asked of another wording of the same papers.

    \b
    Examples:
      footnote-eval run --split test
      footnote-eval run --papers abstracts.txt --failures
    """
    questions = tuple(q for q in read_suite(suite) if split in {"all", q.split})
    if not questions:
        raise UsageError(f"the suite has no question in its {split} split")
    with tempfile.TemporaryDirectory() as folder:
        if index is None:
            _indexed(papers or str(sample_path()), Path(folder), embedder)
        elif papers:
            raise UsageError("--papers and --index exclude each other")
        with Assistant.open(index=index or folder, llm=llm, k=k) as assistant:
            ids = {f"sample-{n:02}": paper.id for n, paper in enumerate(assistant.papers(_SAMPLED), 1)}
            began = perf_counter()
            done = _asked(assistant, questions, ids)
        seconds = perf_counter() - began
    figures = rates(done.verdicts)
    _print(done, figures, seconds)
    if failures:
        for verdict in done.verdicts:
            _print_failure(verdict)
    if out:
        _save(out, done, figures)


@cli.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("--index", metavar="PLACE", required=True, help="The index that holds the papers asked about.")
@click.option("--split", type=click.Choice(["train", "dev", "test", "all"]), default="all", show_default=True)
@click.option("--taken-out", is_flag=True, help="Ask each answerable question again as if its papers were not there.")
@click.option("--off-topic", metavar="FILE", type=click.Path(path_type=Path), help="A suite about other papers, too.")
def abstention(suite: Path, index: str, split: str, taken_out: bool, off_topic: Path | None) -> None:
    """Tell how well each signal, and their mix, parts answerable questions of SUITE from unanswerable ones.

    Printed are AUROC and risk: of the questions answered when 20, 40 … 100 % of all are, the share that cannot be. The
    questions of --off-topic, all of them, count as unanswerable.

    \b
    Examples:
      footnote-eval abstention ml_questions.jsonl --index my-index --split dev
      footnote-eval abstention ml_questions.jsonl --index my-index --off-topic pubmedqa.jsonl
      footnote-eval abstention pubmedqa.jsonl --index my-index --taken-out
    """
    questions = [q for q in read_suite(suite) if split in {"all", q.split} and not q.follows]
    foreign = [q for q in read_suite(off_topic) if not q.follows] if off_topic else []
    progress = click.progressbar(length=len(questions) + len(foreign), label="asking", file=sys.stderr)
    with Assistant.open(index=index) as assistant, progress as bar:
        right, wrong = judged(assistant, questions, taken_out=taken_out, foreign=foreign, progress=bar.update)
    if not right or not wrong:
        raise UsageError("the suite needs answerable and unanswerable questions; see --taken-out and --off-topic")
    click.echo(f"{len(right)} answerable, {len(wrong)} not\n{'signal':<12}{'AUROC':>8}{'risk at 20, 40 … 100 %':>40}")
    for name, (auroc, risks) in table(right, wrong).items():
        click.echo(f"{name:<12}{auroc:>8.3f}{'  '.join(f'{risk:.3f}' for risk in risks):>40}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--qrels", metavar="NAME", default="", help="Which judgements in FOLDER. [default: the only qrels*.tsv]")
@click.option("--index", metavar="PLACE", help="Search this index, which holds the corpus. [default: a temporary one]")
@click.option("--measure", "names", multiple=True, default=MEASURES, show_default=True, help="As ir_measures names it.")
@click.option("-k", type=click.IntRange(min=1), default=100, show_default=True, help="Papers ranked for a query.")
def retrieval(folder: Path, qrels: str, index: str | None, names: tuple[str, ...], k: int) -> None:
    """Score retrieval on FOLDER, a collection in BEIR's form.

    FOLDER holds corpus.jsonl[.gz], queries.jsonl and qrels (query-id, corpus-id, score). One row each for Footnote's
    fused ranking and for either half of it alone; of a paper that the index does not hold, nothing is found.

    \b
    Examples:
      footnote-eval retrieval scifact --qrels qrels_dev.tsv
      footnote-eval retrieval scifact --qrels qrels_train.tsv --index my-scifact-index
    """
    collection = read_collection(folder, qrels)
    with tempfile.TemporaryDirectory() as temporary:
        if index is None:
            _indexed(str(collection.corpus), Path(temporary), "minilm")
        with Assistant.open(index=index or temporary) as assistant:
            runs, times = _searched(assistant, collection, k)
            click.echo(
                f"{len(collection.queries)} queries over {assistant.paper_count():,} papers, {assistant.embedder}"
            )
    click.echo(f"a search takes {median(times):.1f} ms (median), {quantiles(times, n=20)[-1]:.1f} ms (95th percentile)")
    for name, ranked in runs.items():
        click.echo(
            f"{name:<10}" + "   ".join(f"{rate.name} {rate}" for rate in measures(collection.judgements, ranked, names))
        )


@cli.command()
@click.option("--corpus", type=click.Path(path_type=Path), default=CORPUS, show_default=True)
@click.option("--limit", type=click.IntRange(min=10), default=1000, show_default=True, help="Papers.")
@click.option("--baseline", type=click.Path(path_type=Path), default=BASELINE, show_default=True)
def bench(corpus: Path, limit: int, baseline: Path) -> None:
    """Measure Footnote beside LangChain's tutorial pipeline on the same papers, and print the ratios.

    The tutorial's side is a script that developers of Footnote have; without it, Footnote alone is measured. `make
    bench` installs what that script needs.
    """
    ours, theirs = compared(corpus, limit, baseline)
    if not theirs:
        click.echo(f"{baseline} is not there; Footnote alone:")
    for name, value in ours.items():
        other = theirs.get(name)
        beside = "" if other is None else f"   tutorial {other:10.1f}   ratio {ratio(name, value, other):6.2f} x"
        click.echo(f"{name:<30}{value:10.1f}{beside}")


@cli.command()
@click.argument("index", metavar="PLACE")
@click.argument("questions", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(min=10), default=200, show_default=True, help="Questions asked.")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Save the figures as JSON, too.")
def speed(index: str, questions: Path, limit: int, out: Path | None) -> None:
    """Measure the index at PLACE with the questions of FILE: time, memory, and what Chroma's graph misses.

    FILE is JSONL with a "question" or "text" in each row. Of a `minilm` index, the time of a search is also set against
    that of embedding a question with sentence-transformers on torch.

    \b
    Examples:
      footnote-eval speed my-index questions.jsonl
    """
    figures = measured(index, questions_in(questions, limit))
    for name, value in figures.items():
        click.echo(f"{name:<36}{value:>12,.{0 if value >= 1000 else 3}f}")
    if out:
        out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


for _command in (*COMMANDS, faults):
    cli.add_command(_command)


def _searched(
    assistant: Assistant, collection: Collection, k: int
) -> tuple[dict[str, dict[str, dict[str, float]]], list[float]]:
    runs: dict[str, dict[str, dict[str, float]]] = {"fused": {}, "dense": {}, "lexical": {}}
    times = []
    with click.progressbar(collection.queries.items(), label="searching", file=sys.stderr) as queries:
        for query, text in queries:
            began = perf_counter()
            hits = assistant.search(text, k).hits
            times.append(1000 * (perf_counter() - began))
            runs["fused"][query] = {hit.passage.paper_id: hit.score for hit in hits}
            runs["dense"][query] = {hit.passage.paper_id: hit.dense for hit in hits}
            runs["lexical"][query] = {hit.passage.paper_id: hit.lexical for hit in hits if hit.lexical > 0}
    return runs, times


def _indexed(papers: str, folder: Path, embedder: str) -> None:
    from rag.embed import make_embedder  # noqa: PLC0415
    from rag.index import index_papers  # noqa: PLC0415
    from rag.load import load_papers  # noqa: PLC0415
    from rag.opening import opened_for_writing  # noqa: PLC0415

    loaded = load_papers([papers])
    with opened_for_writing(folder, embedder, make_embedder) as (store, maker):
        index_papers(store, maker, loaded)


def _asked(assistant: Assistant, questions: Sequence[Question], ids: dict[str, str]) -> Run:
    with click.progressbar(length=len(questions), label="asking", file=sys.stderr) as bar:
        return run(assistant, questions, ids, lambda _: bar.update(1))


def _print(done: Run, figures: Sequence[Rate], seconds: float) -> None:
    n = len(done.verdicts)
    said = [len(verdict.answer.claims) for verdict in done.verdicts if not verdict.abstained]
    length = f", {sum(said) / len(said):.1f} sentences an answer" if said else ""
    click.echo(
        f"{n} questions, llm {done.llm}, embedder {done.embedder}, {1000 * seconds / n:.0f} ms a question{length}"
    )
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
