"""`footnote index` and `footnote papers`: what goes into an index, and what is in it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rag.errors import UsageError
from ui.cli_batch import refuse_overwriting
from ui.cli_json import json_text
from ui.cli_options import AS_JSON, EMBEDDER, INDEX

if TYPE_CHECKING:
    from rag.index import Repair, Report
    from rag.load import Meter, Reject
    from rag.types import Paper

_REJECTS_SHOWN = 20


@click.command()
@click.argument("files", nargs=-1, metavar="PAPERS...")
@click.option("--sample", is_flag=True, help="Index the 19 papers that come with Footnote.")
@INDEX
@EMBEDDER
@click.option("--prune", is_flag=True, help="Remove papers from the index that are not in PAPERS.")
@click.option("--rebuild", is_flag=True, help="Make the index anew; the old one stays until the new one is whole.")
@click.option("--check", is_flag=True, help="Read no PAPERS: see that the index is sound, and mend it if it is not.")
@click.option("--rejects", type=click.Path(), metavar="FILE", help="Write every rejected record to FILE, one a line.")
def index(
    files: tuple[str, ...],
    sample: bool,
    index: str | None,
    embedder: str | None,
    prune: bool,
    rebuild: bool,
    check: bool,
    rejects: str | None,
) -> None:
    """Put PAPERS into the index.

    PAPERS are files (or - for standard input) of JSONL, JSON, CSV, TSV, BibTeX, RIS, CSL-JSON, or plain text with a
    blank line between abstracts; gzipped or not. What is in the index already and has not changed is left alone.
    A record without an abstract, or one that is there twice, is rejected by name, and the rest go in.

    \b
    Examples:
      footnote index papers.jsonl more.bib
      zcat dump.csv.gz | footnote index -
      footnote index --rebuild --embedder st:BAAI/bge-small-en-v1.5 papers.jsonl
      footnote index --check
    """
    from rag.load import Meter, load_papers  # noqa: PLC0415
    from rag.sample import sample_path  # noqa: PLC0415

    if check:
        if files or sample or embedder or prune or rebuild or rejects:
            raise UsageError("--check goes with --index alone; it reads no papers")
        click.echo(_checked(index))
        return
    if not files and not sample:
        raise UsageError("name the papers files to index, or --sample for the papers that come with Footnote")
    names = [*files, *([str(sample_path())] if sample else [])]
    if rejects:
        _check_writable(rejects, files)
    meter = Meter()
    loaded = load_papers(names, stdin=sys.stdin.buffer, meter=meter)
    try:
        report, place, total = _indexed(loaded, meter, index, embedder, prune=prune, rebuild=rebuild)
    except KeyboardInterrupt:
        kept = "the index is as it was" if rebuild else "what is indexed so far is kept, run it again to go on"
        raise click.Abort(f"stopped; {kept}") from None
    _tell(report, place, total, Path(rejects) if rejects else None)


def _checked(index: str | None) -> str:
    """Mend the index where that is needed; what was found and done."""
    from rag.embed import make_embedder  # noqa: PLC0415
    from rag.index import Repair, repair  # noqa: PLC0415
    from rag.settings import Settings  # noqa: PLC0415
    from rag.text import search_words  # noqa: PLC0415
    from vectorstore.store import VectorStore  # noqa: PLC0415

    with VectorStore.open(Settings.read(index=index).index, search_words, warn=False) as store:
        done = repair(store, make_embedder)
        papers, passages = store.counts()
    holds = f"{_papers(papers)}, {passages:,} passage{'' if passages == 1 else 's'}"
    return f"all is well: {holds}" if done == Repair() else f"{_mended(done)}; the index at {store.where} holds {holds}"


def _mended(done: Repair) -> str:
    parts = [
        (done.restored, f"words of {_papers(done.restored)} made again from Chroma"),
        (done.embedded, f"{_papers(done.embedded)} embedded again"),
        (done.removed, f"{done.removed:,} stray vector{'' if done.removed == 1 else 's'} removed"),
        (len(done.lost), f"{_papers(len(done.lost))} half written and taken out: index again {', '.join(done.lost)}"),
    ]
    return f"mended: {'; '.join(text for number, text in parts if number)}"


def _check_writable(rejects: str, files: Sequence[str]) -> None:
    # Before the indexing, which may take hours, and not after it.
    refuse_overwriting("--rejects", rejects, files)
    try:
        with Path(rejects).open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise UsageError(f"cannot write {rejects}: {error.strerror}") from error


def _indexed(
    loaded: Iterator[Paper | Reject],
    meter: Meter,
    index: str | None,
    embedder: str | None,
    *,
    prune: bool,
    rebuild: bool,
) -> tuple[Report, str, int]:
    from rag.embed import make_embedder  # noqa: PLC0415
    from rag.index import Report, index_papers  # noqa: PLC0415
    from rag.load import Reject  # noqa: PLC0415
    from rag.opening import opened_for_writing  # noqa: PLC0415
    from rag.settings import Settings  # noqa: PLC0415
    from rag.types import Paper  # noqa: PLC0415

    settings = Settings.read(index=index, embedder=embedder)
    # A paper is found before anything is written: a wrong file leaves no empty index behind.
    head: list[Paper | Reject] = []
    for record in loaded:
        head.append(record)
        if isinstance(record, Paper):
            break
    else:
        return Report(rejects=[r for r in head if isinstance(r, Reject)]), settings.index, 0
    papers: Iterable[Paper | Reject] = chain(head, loaded)
    spec = settings.embedder if settings.is_set("embedder") else None
    with (
        opened_for_writing(settings.index, spec, make_embedder, rebuild=rebuild) as (store, maker),
        _bar(meter) as progress,
    ):
        report = index_papers(store, maker, papers, prune=prune, progress=progress)
        return report, settings.index, store.counts()[0]


@contextmanager
def _bar(meter: Meter) -> Iterator[Callable[[Report], None]]:
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("reading papers …")

        def progress(report: Report) -> None:
            rate = report.seen / report.seconds if report.seconds else 0.0
            left = _time_left(report.seconds, meter.fraction)
            bar.update(task, description=f"{report.seen:,} papers, {rate:,.0f} a second{left}")

        yield progress


def _time_left(seconds: float, fraction: float | None) -> str:
    """By the share of the files that was read; "" when that tells nothing, as of a file that is read whole."""
    if not fraction or fraction >= 1 or seconds < 1:
        return ""
    minutes, rest = divmod(round(seconds * (1 - fraction) / fraction), 60)
    return f", {minutes} min {rest:02} s left" if minutes else f", {rest} s left"


def _tell(report: Report, place: str, total: int, rejects: Path | None) -> None:
    for reject in report.rejects[:_REJECTS_SHOWN]:
        click.echo(_line(reject), err=True)
    more = len(report.rejects) - _REJECTS_SHOWN
    if more > 0:
        click.echo(f"… and {more:,} more rejected; --rejects FILE writes them all", err=True)
    if rejects:
        rejects.write_text("".join(f"{_line(reject)}\n" for reject in report.rejects), encoding="utf-8")
    counts = [("new", report.new), ("changed", report.changed), ("unchanged", report.unchanged)]
    counts += [("removed", report.removed), ("rejected", len(report.rejects))]
    said = ", ".join(f"{number:,} {what}" for what, number in counts if number)
    if not report.seen:
        click.echo(f"footnote: no paper could be read ({said or 'the files hold none'}); nothing was indexed", err=True)
        raise click.exceptions.Exit(1)
    click.echo(f"{said}, in {report.seconds:.1f} s; the index at {place} holds {_papers(total)}")


def _line(reject: Reject) -> str:
    what = f"“{reject.what}” " if reject.what else ""
    return f"{reject.where}: {what}rejected: {reject.why}"


def _papers(number: int) -> str:
    return f"{number:,} paper{'' if number == 1 else 's'}"


@click.command()
@INDEX
@AS_JSON
def papers(index: str | None, as_json: bool) -> None:
    """List the papers in the index."""
    from rag.answer_json import paper_json  # noqa: PLC0415
    from rag.assistant import papers_in  # noqa: PLC0415
    from rag.settings import Settings  # noqa: PLC0415

    kept = papers_in(Settings.read(index=index).index)
    if as_json:
        click.echo(json_text([paper_json(paper) for paper in kept], sys.stdout.encoding, indent=2))
        return
    for paper in kept:
        where = " ".join(filter(None, (paper.venue, str(paper.year or ""))))
        tail = [", ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else ""), where, paper.id]
        click.echo(f"{paper.title}{'  (label from the abstract)' if paper.untitled else ''}")
        click.echo("    " + " · ".join(filter(None, tail)))
