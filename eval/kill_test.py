"""Kills `footnote index` at random moments, and counts what is lost: python -m eval.kill_test --runs 50 --papers 400.

Each round changes, adds and removes papers, kills the run that takes them in once or several times (SIGKILL, so that
nothing can be tidied up), lets it end, and compares the index with the papers: nothing may be lost, nothing there
twice, and Chroma and SQLite must hold the same passages, those that `split` gives.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rag.index import content_hash
from rag.load import load_papers
from rag.split import split
from rag.text import search_words
from rag.types import Paper
from vectorstore.lock import HOLDER
from vectorstore.store import VectorStore

_COMMAND = (sys.executable, "-c", "from ui.cli import main; main()", "index", "--prune")
_VOCABULARY = 2000  # words that abstracts are made of
_PATIENCE = 600  # seconds that a run may take
_CHANGED, _ABSENT = 0.5, 0.05  # parts of the papers, in each round


@dataclass(slots=True)
class Tally:
    """What was found, in papers; disagree: rounds after which the two indexes did not hold the same."""

    kills: int = 0
    lost: int = 0
    duplicated: int = 0
    disagree: int = 0

    def __str__(self) -> str:
        agree = f"the indexes disagree {self.disagree} times" if self.disagree else "both indexes agree"
        return f"{self.kills} kills: {self.lost} lost, {self.duplicated} duplicated, {agree}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 when nothing went wrong, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="python -m eval.kill_test", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=50, help="how often to kill (default 50)")
    parser.add_argument("--papers", type=int, default=400, help="how many papers there are (default 400)")
    parser.add_argument("--seed", type=int, default=1, help="of papers and moments (default 1)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="footnote-kill-") as folder:
        tally = kill_and_count(Path(folder), options.runs, options.papers, Random(options.seed))  # noqa: S311
    print(tally)  # noqa: T201 - what the command is for
    return int(bool(tally.lost or tally.duplicated or tally.disagree))


def kill_and_count(folder: Path, runs: int, papers: int, dice: Random) -> Tally:
    """Rounds of killed and finished runs in a folder, until so many were killed."""
    tally = Tally()
    vocabulary = ["".join(dice.choices("abcdefghijklmnoprstuvwy", k=dice.randint(3, 9))) for _ in range(_VOCABULARY)]
    texts = [_abstract(vocabulary, dice) for _ in range(papers)]
    seconds = 10.0  # that a run takes to its end, as far as is known
    while tally.kills < runs:
        texts = [_abstract(vocabulary, dice) if dice.random() < _CHANGED else text for text in texts]
        _write(folder / "papers.jsonl", texts, dice)
        for _ in range(min(dice.randint(1, 3), runs - tally.kills)):
            tally.kills += _killed(folder, dice, seconds)
        began = time.monotonic()
        subprocess.run(_command(folder), check=True, timeout=_PATIENCE, stdout=subprocess.DEVNULL)
        seconds = (seconds + time.monotonic() - began) / 2
        _count(folder, tally)
        print(tally, file=sys.stderr, flush=True)  # noqa: T201
    return tally


def _abstract(vocabulary: Sequence[str], dice: Random) -> str:
    """One to three passages of sentences."""
    sentences = (" ".join(dice.choices(vocabulary, k=dice.randint(6, 20))) for _ in range(dice.randint(2, 16)))
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def _write(path: Path, texts: Sequence[str], dice: Random) -> None:
    rows = [
        {"id": f"paper-{n}", "title": f"Paper {n} of {text[:30]}", "abstract": text} for n, text in enumerate(texts)
    ]
    kept = [row for row in rows if dice.random() >= _ABSENT] or rows
    path.write_text("".join(f"{json.dumps(row)}\n" for row in kept), "utf-8")


def _command(folder: Path) -> list[str]:
    return [*_COMMAND, "--index", str(folder / "index"), str(folder / "papers.jsonl")]


def _killed(folder: Path, dice: Random, seconds: float) -> bool:
    """Start a run and kill it at some moment of so many seconds; False when it had ended before."""
    with subprocess.Popen(_command(folder), stdout=subprocess.DEVNULL) as process:
        moment = dice.uniform(0, seconds)
        if dice.random() < 0.75:  # most of the time while it writes: half of a run goes by before
            moment /= 2
            while not (folder / "index" / HOLDER).exists() and process.poll() is None:
                time.sleep(0.01)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
    (folder / "index" / HOLDER).unlink(missing_ok=True)  # so that it tells of the next run
    return process.returncode < 0


def _count(folder: Path, tally: Tally) -> None:
    """Compare the index with the papers that it should hold."""
    papers = [paper for paper in load_papers([str(folder / "papers.jsonl")]) if isinstance(paper, Paper)]
    with VectorStore.open(folder / "index", search_words) as store:
        hashes, listed = store.hashes(), [record.paper_id for record in store.listing()]
        words, vectors = store.passage_ids()
    tally.lost += sum(hashes.get(paper.id) != content_hash(paper) for paper in papers)
    tally.duplicated += len(listed) - len(set(listed)) + len(set(listed) - {paper.id for paper in papers})
    wanted = sorted(passage.id for paper in papers for passage in split(paper))
    tally.disagree += not (sorted(words) == sorted(vectors) == wanted)


if __name__ == "__main__":
    sys.exit(main())
