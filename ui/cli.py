"""The `footnote` command: arguments in, one call of rag each, plain text or JSON out.

What is heavy is imported by the command that needs it, so that --help is there at once. A mistake is one line on
standard error and an exit status: 2 for wrong usage, 1 for anything else.
"""

from __future__ import annotations

import io
import os
import sys
from importlib.metadata import version

import click

from rag.errors import FootnoteError, UsageError
from ui.cli_ask import ask, chat, search
from ui.cli_index import index, papers
from ui.cli_llms import llms
from ui.cli_serve import config, serve
from ui.errors import PageError
from vectorstore.errors import StoreError

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("footnote-qa"), "-V", "--version", prog_name="footnote")
def cli() -> None:
    """Answer questions about papers from their abstracts, each sentence with a reference.

    \b
    First steps:
      footnote index papers.jsonl              put papers into the index (also .bib .ris .csv .txt …)
      footnote index --sample                  … or the 19 papers that come with Footnote
      footnote ask "Which filter avoids the partition function?"
      footnote serve                           the chat page, on http://127.0.0.1:7860

    Settings come from flags, then FOOTNOTE_* variables, then .env or footnote.toml; see `footnote config`.
    """
    from rag.settings import export_keys  # noqa: PLC0415 - --help needs none

    export_keys()


for command in (index, ask, search, chat, serve, papers, llms, config):
    cli.add_command(command)


def main() -> None:
    """Run the command and end the process with its status."""
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "…" or "“" shows a question mark
    sys.exit(status(sys.argv[1:]))


def status(arguments: list[str]) -> int:
    """Run the command; its exit status."""
    try:
        done = cli.main(arguments, prog_name="footnote", standalone_mode=False)
        return done if isinstance(done, int) else 0
    except click.ClickException as error:
        return _misused(error)
    except (click.Abort, KeyboardInterrupt) as stop:
        return _say(str(stop) or "stopped", _INTERRUPTED)
    except (FootnoteError, StoreError, PageError) as error:
        return _say(str(error), 2 if isinstance(error, UsageError) else 1)
    except BrokenPipeError:
        # The reader of our output has gone: nothing is left to be said, not even by the interpreter at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _say(f"{error.filename or 'the system'}: {error.strerror or error}", 1)


def _misused(error: click.ClickException) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return error.exit_code
    what = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "footnote"
    return _say(f"{what[0].lower()}{what[1:]}; see {command} --help", error.exit_code)


def _say(message: str, code: int) -> int:
    click.echo(f"footnote: {' '.join(message.split())}", err=True)
    return code
