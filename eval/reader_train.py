"""Trains the reader: a low-rank adapter (Hu et al. 2021, arXiv:2106.09685) of MiniLM for late interaction.

python -m eval.reader_train --help

A batch is some questions and the abstracts that belong to them. Each question's score with every sentence of every
abstract (as rag.relevance counts it) is brought to favour the sentences that answer it, and over all of them a constant
where its own abstract does not answer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from torch import nn

from eval.reader_data import Data, Example, auroc, epoch, gather
from eval.reader_model import Model
from rag.assistant import Assistant
from rag.minilm import model_folder
from rag.question import content_words
from rag.relevance import idf, joined, word_rows
from rag.text import searched

Row = tuple[Example, Example | None]  # an example, and a wrong paper beside it
_WARM_UP = 60  # steps
_CUT = 288  # tokens of an abstract in training


@dataclass(frozen=True, slots=True)
class Laid:
    """An example as tokens. words: of each of the question's tokens, its share of the score. places: of each token of
    the abstract, its sentence, −1 for none.
    """

    example: Example
    question: tuple[int, ...]
    words: tuple[float, ...]
    abstract: tuple[int, ...]
    places: tuple[int, ...]


class Layer:
    """Lays examples out. frequency: word → in how many of the papers it stands."""

    def __init__(self, tokenizer: Tokenizer, frequency: Callable[[str], int], papers: int) -> None:
        self._tokenizer = tokenizer
        self._frequency = frequency
        self._papers = papers
        self._questions: dict[str, tuple[tuple[int, ...], tuple[float, ...]]] = {}

    def __call__(self, example: Example) -> Laid:
        """The example as tokens."""
        if example.question not in self._questions:
            self._questions[example.question] = self._question(example.question)
        text, spans = joined(searched(example.title), [searched(s) for s in example.sentences])
        encoding = self._tokenizer.encode(text)
        places = [-1] * len(encoding.ids)
        for place, (start, end) in enumerate(spans):
            for i, (at, stop) in enumerate(encoding.offsets):
                if stop > at and start <= at < end:
                    places[i] = place
        return Laid(example, *self._questions[example.question], tuple(encoding.ids[:_CUT]), tuple(places[:_CUT]))

    def _question(self, question: str) -> tuple[tuple[int, ...], tuple[float, ...]]:
        text = searched(question)
        encoding = self._tokenizer.encode(text)
        rows = word_rows(text, content_words(question), encoding.offsets)
        weights = {word: idf(self._frequency(word), self._papers) for word in rows}
        total = sum(weights.values()) or 1.0
        shares = [0.0] * len(encoding.ids)
        for word, places in rows.items():
            for place in places:
                shares[place] += weights[word] / total / len(places)
        return tuple(encoding.ids), tuple(shares)


def scores(
    model: Model, asked: Sequence[Laid], abstracts: Sequence[Laid]
) -> tuple[torch.Tensor, list[tuple[int, int]]]:
    """(questions, sentences) cosines of all questions with all sentences, and of each sentence (abstract, place)."""
    with torch.autocast("cpu", torch.bfloat16):
        questions, texts = model([laid.question for laid in asked]), model([laid.abstract for laid in abstracts])
    shares = [torch.tensor(laid.words) for laid in asked]
    words = torch.cat([q[w > 0] for q, w in zip(questions, shares, strict=True)])
    owners = [(i, place) for i, laid in enumerate(abstracts) for place in sorted(set(laid.places) - {-1})]
    number = {owner: n for n, owner in enumerate(owners)}
    of = torch.tensor([number.get((i, p), len(owners)) for i, laid in enumerate(abstracts) for p in laid.places])
    cosines = torch.cat(texts) @ words.T
    nearest = (
        torch.full((len(owners) + 1, len(words)), -1.0)
        .scatter_reduce(0, of[:, None].expand_as(cosines), cosines, "amax")[:-1]
        .T
    )
    mixing = torch.block_diag(*[w[w > 0][None] for w in shares])  # type: ignore[no-untyped-call]
    return mixing @ nearest, owners


def loss_of(model: Model, asked: Sequence[Laid], beside: Sequence[Laid]) -> torch.Tensor:
    """Of each question: minus the log of the share that what answers has among all sentences and the constant.

    beside: abstracts that belong to some of the questions and do not answer them.
    """
    abstracts = [*asked, *beside]
    cosines, owners = scores(model, asked, abstracts)
    logits = model.scale.exp() * torch.cat([cosines, model.none.expand(len(asked), 1)], 1)
    right, seen = torch.zeros_like(logits, dtype=torch.bool), torch.ones_like(logits, dtype=torch.bool)
    for i, example in enumerate(laid.example for laid in asked):
        right[i, -1] = not example.answers
        for column, (owner, place) in enumerate(owners):
            if owner == i:
                right[i, column] = example.answers and (example.gold is None or place in example.gold)
            else:  # the same abstract among another's may answer, and so may what stands beside another question on it
                other = abstracts[owner].example
                seen[i, column] = other.paper != example.paper and (
                    owner >= len(asked) or other.question != example.question
                )
    logits = logits.masked_fill(~seen, -1e4)
    weights = torch.tensor([laid.example.weight for laid in asked]) * right.any(1)
    each = torch.logsumexp(logits, 1) - torch.logsumexp(logits.masked_fill(~right, -1e4), 1)
    return (weights * each).sum() / weights.sum().clamp(min=1)


def report(model: Model, layer: Layer, dev: Sequence[Example]) -> str:
    """Right sentence at 1 and 3, and how well the best sentence tells own papers from the rest, by kind (AUROC)."""
    model.eval()
    seen: list[tuple[Example, list[float]]] = []
    ranks = []
    with torch.no_grad():
        for example in dev:
            cosines, owners = scores(model, [layer(example)], [layer(example)])
            row = cosines[0].tolist()
            seen.append((example, row))
            if example.gold:
                best = [place for _, (_, place) in sorted(zip(row, owners, strict=True), reverse=True)]
                ranks.append(min((best.index(g) for g in example.gold if g in best), default=len(best)))
    own = [max(row) for e, row in seen if e.kind == "own"]
    parts = [f"top 1 {np.mean([r < 1 for r in ranks]):.3f}, top 3 {np.mean([r < 3 for r in ranks]):.3f}"]
    parts += [
        f"{kind} {auroc(own, [max(row) for e, row in seen if e.kind == kind]):.3f}"
        for kind in ("near", "removed", "wrong")
    ]
    return "; ".join(parts)


def batches(rows: Sequence[Row], size: int, rng: random.Random) -> Iterator[list[Row]]:
    """Rows in groups of like length, so that little is padding, of about `size` abstracts, in no order."""
    order = sorted(rows, key=lambda row: max(_length(e) for e in row if e) * rng.uniform(0.8, 1.2))
    groups: list[list[Row]] = [[]]
    for row in order:
        if sum(1 + (beside is not None) for _, beside in groups[-1]) >= size:
            groups.append([])
        groups[-1].append(row)
    rng.shuffle(groups)
    return iter(groups)


def _length(example: Example) -> int:
    return sum(map(len, example.sentences))


@click.command()
@click.argument("suites", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--papers", type=click.Path(exists=True, path_type=Path), required=True, help="What they ask about.")
@click.option("--index", required=True, help="Where wrong papers are looked for and words are counted.")
@click.option("--shared", type=click.Path(exists=True, path_type=Path), default=Path("../shared/data"))
@click.option("--out", type=click.Path(path_type=Path), default=Path("rag/data/reader.safetensors"), show_default=True)
@click.option("--epochs", default=4, show_default=True)
@click.option("--rank", default=8, show_default=True)
@click.option("--rate", default=1e-3, show_default=True, help="Learning rate at its highest.")
@click.option("--size", default=16, show_default=True, help="Examples of a batch.")
@click.option("--seed", default=7, show_default=True)
def main(
    suites: tuple[Path, ...],
    papers: Path,
    index: str,
    shared: Path,
    out: Path,
    epochs: int,
    rank: int,
    rate: float,
    size: int,
    seed: int,
) -> None:
    """Train the reader on SUITES and the public collections, and write its adapter."""
    torch.manual_seed(seed)
    rng = random.Random(seed)  # noqa: S311
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512)
    with Assistant.open(index=index) as bot:
        data = gather(suites, papers, bot, shared)
        layer = Layer(tokenizer, bot.document_frequency, bot.paper_count())
        train(Model(rank), layer, data, rng, epochs=epochs, rate=rate, size=size, out=out)


def train(
    model: Model,
    layer: Layer,
    data: Data,
    rng: random.Random,
    *,
    epochs: int,
    rate: float,
    size: int,
    out: Path,
) -> None:
    """The loop; the adapter is written after every epoch."""

    def drawn() -> list[list[Row]]:
        return list(batches(epoch(data, rng), size, rng))

    learnt = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(learnt, lr=rate, weight_decay=0.01)
    click.echo(f"{len(data.train)} own, {len(data.others)} others, {sum(p.numel() for p in learnt)} parameters")
    click.echo("before: " + report(model, layer, data.dev))
    step, began = 0, time.monotonic()
    total = epochs * len(drawn())
    for number in range(1, epochs + 1):
        model.train()
        losses = []
        for batch in drawn():
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1, (step + 1) / _WARM_UP) * max(0.02, 1 - step / total)
            loss = loss_of(model, [layer(e) for e, _ in batch], [layer(e) for _, e in batch if e])
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            step += 1
            losses.append(loss.item())
            if step % 50 == 0:
                took = time.monotonic() - began
                click.echo(f"{step}/{total} loss {np.mean(losses[-50:]):.3f} {took:.0f} s none {model.none.item():.3f}")
            if step % 150 == 0:
                click.echo(f"step {step}: {report(model, layer, data.dev)}")
                model.train()
        click.echo(f"epoch {number}: loss {np.mean(losses):.3f}; {report(model, layer, data.dev)}")
        save_file(model.adapter(), out)


if __name__ == "__main__":
    main()
