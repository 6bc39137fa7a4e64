"""`footnote serve` and `footnote config`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ui.cli_options import INDEX, LLM, RERANKER, UNSUPPORTED, VERIFIER
from vectorstore.errors import StoreMissing
from vectorstore.filter import Filter

if TYPE_CHECKING:
    from rag.types import Answer, Paper
    from rag.write import Unsupported


@click.command()
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address to serve on; 0.0.0.0 for the whole network. [default: 127.0.0.1]",
)
@click.option("--port", type=int, metavar="N", help="[default: 7860]")
@INDEX
@LLM
@RERANKER
@UNSUPPORTED
@VERIFIER
def serve(
    host: str | None,
    port: int | None,
    index: str | None,
    llm: str | None,
    reranker: str | None,
    unsupported: Unsupported | None,
    verifier: str | None,
) -> None:
    """Open the chat page over the index.

    It is on http://127.0.0.1:7860 unless told otherwise. Ctrl-C ends it.
    """
    from rag.assistant import Assistant  # noqa: PLC0415
    from rag.settings import Settings  # noqa: PLC0415
    from ui.page_serve import check_address  # noqa: PLC0415

    settings = Settings.read(index=index, llm=llm, host=host, port=port)
    check_address(settings.host, settings.port)  # before the seconds that opening takes
    click.echo("opening …", err=True)
    try:
        answerer: Assistant | NoIndex = Assistant.open(
            settings.index, settings.llm, reranker=reranker, unsupported=unsupported, verifier=verifier
        )
    except StoreMissing:
        answerer = NoIndex(settings.index, settings.llm)
    from ui.page import serve as serve_page  # noqa: PLC0415 - Gradio takes three seconds

    serve_page(answerer, settings.host, settings.port)


class NoIndex:
    """Stands where the Assistant would when nothing has been indexed yet; the page then says what to run."""

    embedder = ""
    stated: frozenset[str] = frozenset()

    def scope(self, only: Filter) -> None:
        """Nothing is limited where there is nothing."""

    def __init__(self, index: str, llm: str) -> None:
        self.index = index
        self.llm = llm

    def stream(self, *_: object, **__: object) -> Iterator[Answer]:
        """There is nothing to answer from."""
        raise StoreMissing(f"there is no index at {self.index}; make one: footnote index PAPERS")

    def paper_count(self) -> int:
        """None."""
        return 0

    def papers(self, limit: int = 50, offset: int = 0) -> tuple[Paper, ...]:  # noqa: ARG002
        """None."""
        return ()


@click.command()
def config() -> None:
    """Print every setting and where it comes from.

    Of keys, only the last letters are shown.
    """
    from rag.settings import Settings  # noqa: PLC0415
    from rag.specs import KEYS  # noqa: PLC0415

    for name, value, source, meaning in Settings.read().rows():
        click.echo(f"{name:<15}{value}\n{'':15}from {source}: {meaning}")
    for variable in KEYS:
        click.echo(f"{variable:<22}{_masked(os.environ.get(variable, ''))}")


def _masked(key: str) -> str:
    if not key:
        return "not set"
    return f"set (…{key[-4:]})" if len(key) > 12 else "set"
