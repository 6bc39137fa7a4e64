"""The command that measures what becomes of answers when their chat model fails: `faults`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import click

from eval.errors import SuiteError
from eval.faults import FAULTS, SCHEDULES, Outcome, answered, play
from eval.suite import read_suite

_LIMIT = 2.0


@click.command()
@click.argument("names", nargs=-1, metavar="[FAULT]...")
@click.option("--index", metavar="DIR", help="Folder of the index; the sample corpus must be in it. [default: yours]")
@click.option("--limit", type=click.IntRange(min=1), default=5, show_default=True, help="Questions a fault.")
@click.option("--seconds", type=float, default=_LIMIT, show_default=True, help="What the LLM may take for an answer.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of the intermittent faults.")
def faults(names: Sequence[str], index: str | None, limit: int, seconds: float, seed: int) -> None:
    """Play every way in which a chat model's server can fail, over HTTP, and tell whether an answer still came.

    Without FAULTs all are played: permanent (every request fails), transient (the first two) and intermittent (each
    with a chance of one half). It ends with status 1 unless every answer was usable.

    \b
    Examples:
      footnote-eval faults
      footnote-eval faults "slow words" "malformed stream" --limit 20
    """
    from rag.settings import Settings  # noqa: PLC0415

    if unknown := [name for name in names if name not in FAULTS]:
        raise SuiteError(f"no fault is called {unknown[0]!r}; there are: {', '.join(FAULTS)}")
    chosen = names or tuple(FAULTS)
    place = Settings.read(index=index).index
    texts = (question.text for question in read_suite(None) if question.answerable and not question.follows)
    questions = tuple(islice(answered(place, texts), limit))
    total = len(chosen) * len(SCHEDULES) * len(questions)
    playing = play(place, questions, chosen, SCHEDULES, seconds, seed)
    with click.progressbar(playing, total, "asking", file=sys.stderr) as bar:
        done = list(bar)
    click.echo(f"{len(done)} questions, {seconds:g} s allowed to the LLM, seed {seed}")
    click.echo(f"{'':<32}{'usable':<12}{'answered by':<44}seconds: median, most")
    for name in chosen:
        for schedule in SCHEDULES:
            _print(f"{name}, {schedule}", [one for one in done if (one.fault, one.schedule) == (name, schedule)])
    _print("all", done)
    for one in [one for one in done if one.problem]:
        click.echo(f"not usable: {one.fault}, {one.schedule}: {one.problem}")
    if any(one.problem for one in done):
        sys.exit(1)


def _print(name: str, done: Sequence[Outcome]) -> None:
    usable = f"{sum(not one.problem for one in done)} of {len(done)}"
    by = ", ".join(f"{who} {n}" for who, n in Counter(one.by for one in done).most_common())
    times = sorted(one.seconds for one in done)
    click.echo(f"{name:<46}{usable:<12}{by:<36}{times[len(times) // 2]:.1f}  {times[-1]:.1f}")
