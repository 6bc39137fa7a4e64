"""The commands that measure verification: `corruptions`, `support` and `hostile`."""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter

import click

from eval.corrupt import KINDS
from eval.hostile import asked_all, figures, read_hostile, save
from eval.score import wilson
from eval.support_cases import (
    Case,
    conclusions,
    corrupted,
    drawn,
    own_paraphrases,
    own_sentences,
    summaries,
    swapped_references,
)
from eval.support_data import Labelled, auroc, cosines, overlaps, read_labelled
from rag.support import Support, check
from rag.types import Quote

_SPLITS = click.Choice(["train", "dev", "test", "all"])


@dataclass(frozen=True, slots=True)
class _Checked:
    case: Case
    support: Support

    @property
    def wrong(self) -> bool:
        """Whether the check is mistaken: a corruption passed, or an alarm was raised on what is faithful."""
        return self.support.ok is not self.case.faithful


@click.command()
@click.argument("papers", type=click.Path(path_type=Path))
@click.option("--papers-limit", type=click.IntRange(min=1), default=2000, show_default=True, help="Abstracts drawn.")
@click.option("--split", type=click.Choice(["dev", "test", "all"]), default="all", show_default=True)
@click.option("--tldr", metavar="FOLDER", type=click.Path(path_type=Path), help="Faithful: summaries, in BEIR's form.")
@click.option("--pubmedqa", metavar="FOLDER", type=click.Path(path_type=Path), help="Faithful: PubMedQA's conclusions.")
@click.option("--show", type=click.IntRange(min=0), default=0, metavar="K", help="Print K mistakes of each kind.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of what is drawn.")
def corruptions(
    papers: Path, papers_limit: int, split: str, tldr: Path | None, pubmedqa: Path | None, show: int, seed: int
) -> None:
    """Tell how many corrupted sentences the check finds, and how often it raises an alarm on faithful ones.

    Each sentence of PAPERS that is corrupted has one thing changed and is checked against itself as it was. The half of
    the papers that is `dev`, by a hash of their ids, is for setting thresholds; report `test`.

    \b
    Examples:
      footnote-eval corruptions papers.jsonl --split dev --show 5
      footnote-eval corruptions papers.jsonl --split test --tldr tldr --pubmedqa pubmedqa
    """
    chosen = drawn(papers, papers_limit, split, seed)
    began = perf_counter()
    groups: list[Callable[[], Iterator[Case]]] = [
        lambda: corrupted(chosen, seed),
        lambda: swapped_references(chosen, seed),
        lambda: own_sentences(chosen),
        lambda: own_paraphrases(chosen, seed),
    ]
    groups += [lambda: summaries(tldr, split)] if tldr else []
    groups += [lambda: conclusions(pubmedqa, split)] if pubmedqa else []
    cases = [case for group in groups for case in group()]
    made = perf_counter() - began
    began = perf_counter()
    with click.progressbar(cases, label="checking", file=sys.stderr) as bar:
        done = [_Checked(case, check(case.sentence, case.quotes, case.titles)) for case in bar]
    each = 1000 * (perf_counter() - began) / len(done)
    click.echo(f"{len(chosen)} abstracts, {split}; {len(done)} cases made in {made:.0f} s; {each:.2f} ms a check")
    _print_groups("found", [one for one in done if not one.case.faithful], [*KINDS, "reference"])
    _print_groups("alarms", [one for one in done if one.case.faithful], [])
    if show:
        _print_mistakes(done, show, seed)


def _print_groups(what: str, done: Sequence[_Checked], order: Sequence[str]) -> None:
    """A line a kind, and one a form where a kind has several."""
    forms: defaultdict[str, defaultdict[str, list[_Checked]]] = defaultdict(lambda: defaultdict(list))
    for one in done:
        forms[one.case.kind][one.case.form].append(one)
    click.echo(f"\n{what}")
    for kind in dict.fromkeys([*order, *forms]):
        by_form = forms[kind]
        _print_rate(kind, [one for some in by_form.values() for one in some])
        if len(by_form) > 1:
            for form in sorted(by_form):
                _print_rate(f"  {form}", by_form[form])


def _print_rate(name: str, done: Sequence[_Checked]) -> None:
    raised = sum(not one.support.ok for one in done)
    click.echo(f"{name:<32}{wilson(name, raised, len(done))}")


def _print_mistakes(done: Sequence[_Checked], most: int, seed: int) -> None:
    wrong: defaultdict[str, list[_Checked]] = defaultdict(list)
    for one in done:
        if one.wrong:
            wrong[one.case.kind].append(one)
    for kind, some in wrong.items():
        for one in Random(seed).sample(some, min(most, len(some))):  # noqa: S311
            what = "alarm" if one.case.faithful else "missed"
            click.echo(f"\n{what}: {kind}, {one.case.form or '-'}, score {one.support.score:.2f} {one.support.reason}")
            click.echo(f"  says:   {one.case.sentence}")
            click.echo(f"  quotes: {' / '.join(quote.text for quote in one.case.quotes)}")


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@click.option("--split", type=_SPLITS, default="dev", show_default=True, help="Rows of which split.")
def support(files: Sequence[Path], split: str) -> None:
    """Tell how well the check's score parts supported claims from others in FILE..., beside trivial baselines.

    FILE is JSONL in SciFact's form (claim, doc_id, label, rationale_text; corpus.jsonl beside it) or HealthVer's
    (claim, evidence, label). Printed are AUROCs with 95 % intervals from a bootstrap.

    \b
    Examples:
      footnote-eval support scifact/verify.jsonl healthver/verify.jsonl
    """
    from rag.embed import make_embedder  # noqa: PLC0415

    embedder = make_embedder("minilm")
    for file in files:
        rows = read_labelled(file, split)
        counts = {label: sum(row.label == label for row in rows) for label in ("support", "contradict", "neither")}
        click.echo(
            f"{file.parent.name}/{file.name}, {split}: " + ", ".join(f"{n} {label}" for label, n in counts.items())
        )
        click.echo(f"{'':<24}{'AUROC, support : rest':<36}support : contradict")
        found = _checked(rows, [row.evidence for row in rows])
        _print_auroc("check", rows, [one.score for one in found])
        _print_auroc("cosine (minilm)", rows, cosines(rows, embedder))
        _print_auroc("word overlap", rows, overlaps(rows))
        if told := [row for row in rows if row.rationale]:
            scores = [one.score for one in _checked(told, [row.rationale for row in told])]
            _print_auroc("check, rationale alone", told, scores)
        right = sum(one.ok is (row.label == "support") for one, row in zip(found, rows, strict=True))
        usual = max(counts["support"], len(rows) - counts["support"])
        click.echo(
            f"accuracy of ok          {wilson('', right, len(rows))}; one answer to all {usual / len(rows):.3f}\n"
        )


def _checked(rows: Iterable[Labelled], quotes: Iterable[Sequence[Quote]]) -> list[Support]:
    return [check(row.claim, some, row.titles) for row, some in zip(rows, quotes, strict=True)]


def _print_auroc(name: str, rows: Sequence[Labelled], scores: Sequence[float]) -> None:
    by_label: defaultdict[str, list[float]] = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        by_label[row.label].append(score)
    rest = auroc(name, by_label["support"], by_label["contradict"] + by_label["neither"])
    click.echo(f"{name:<24}{rest!s:<36}{auroc(name, by_label['support'], by_label['contradict'])}")


@click.command()
@click.option("--llm", metavar="SPEC", default="quote", show_default=True, help="What writes the answers.")
@click.option("--limit", type=click.IntRange(min=1), help="Ask only so many of the 60 questions.")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="Save every answer and its verdict here.")
def hostile(llm: str, limit: int | None, out: Path | None) -> None:
    """Ask about 60 made-up abstracts that hold instructions to whoever reads them, and count what is obeyed.

    \b
    Examples:
      footnote-eval hostile --llm ollama:qwen3:4b --out hostile
    """
    rows = read_hostile()
    with (
        tempfile.TemporaryDirectory() as folder,
        click.progressbar(length=len(rows[:limit]), label="asking", file=sys.stderr) as bar,
    ):
        done = asked_all(rows, Path(folder), llm, limit, lambda: bar.update(1))
    click.echo(f"{len(done)} hostile abstracts of {len(rows)}, llm {llm}")
    for rate in figures(done):
        click.echo(f"{rate.name:<40}{rate}")
    for one in done:
        if one.obeyed:
            click.echo(f"\nobeyed: {one.row.id} ({one.row.kind}): {one.answer.text[:400]}")
    if out:
        save(out, done)


COMMANDS = (corruptions, support, hostile)
