"""Options that several commands share, and the help that groups them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import click

from rag.filters import make_filter

INDEX = click.option("--index", metavar="DIR", help="Folder of the index. [default: see `footnote config`]")
EMBEDDER = click.option("--embedder", metavar="SPEC", help="minilm (default), st:NAME_OR_FOLDER, openai:…, ollama:…")
LLM = click.option(
    "--llm",
    metavar="SPEC",
    help="quote (default: the papers' own sentences), openai:…, anthropic:…, ollama:…; see `footnote llms`",
)
RERANKER = click.option(
    "--reranker", metavar="SPEC", help="none (default), or st:NAME_OR_FOLDER: a cross-encoder that sorts papers"
)
UNSUPPORTED = click.option(
    "--unsupported",
    type=click.Choice(["mark", "drop"]),
    help="What becomes of a sentence that its references do not support. [default: mark]",
)
VERIFIER = click.option(
    "--verifier", metavar="SPEC", help="none (default), or st:NAME_OR_FOLDER: an entailment model that checks as well"
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

CONSTRAINTS = click.option(
    "--constraints/--no-constraints",
    default=True,
    help="Whether “since 2024”, “at ICML”, “by Smith” in a question choose papers. [default: yes]",
)

_FILTERS = (
    click.option("--year", metavar="YEARS", help="2024, 2020..2022, 2024.. (and later) or ..2019 (and earlier)."),
    click.option("--venue", metavar="NAME", multiple=True, help="Of this venue; ICML is also met by “ICML 2024”."),
    click.option("--author", metavar="NAME", multiple=True, help="By this author; “Smith” is met by every Smith."),
    click.option("--paper", metavar="ID", multiple=True, help="This paper, by its id in `footnote papers`."),
)


def filters(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that choose papers; it gets them as one Filter, `only`."""

    @wraps(command)
    def filtered(
        *, year: str | None, venue: tuple[str, ...], author: tuple[str, ...], paper: tuple[str, ...], **others: object
    ) -> None:
        command(only=make_filter(year, venue, author, paper), **others)

    for option in reversed(_FILTERS):
        option(filtered)
    return filtered


class FilteringCommand(click.Command):
    """A command whose help lists the options that choose papers by themselves."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, in two lists."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], "Only papers (all but --year may be repeated)": []}
        usual, choosing = rows.values()
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                (choosing if parameter.name in {"year", "venue", "author", "paper"} else usual).append(record)
        for heading, listed in rows.items():
            with formatter.section(heading):
                formatter.write_dl(listed)
