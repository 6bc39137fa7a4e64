"""`footnote llms`: which LLMs can be used here, and whether one of them answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ui.cli_json import json_text
from ui.cli_options import AS_JSON

if TYPE_CHECKING:
    from rag.llms import Access


@click.command()
@click.argument("spec", required=False)
@AS_JSON
def llms(spec: str | None, as_json: bool) -> None:
    """List the LLMs that can be used here; or try SPEC.

    An LLM is ready when its package is installed, its key is set and its service gives a list of its models. Nothing
    else is asked of it, and nothing is paid for. With SPEC, that one is sent one short question, which may cost a
    hundredth of a cent; the exit status is 1 when it does not answer.

    \b
    Examples:
      footnote llms
      footnote llms openai:gpt-4.1-mini
      footnote llms openai:NAME@http://127.0.0.1:8080/v1       a server of your own: llama.cpp, vLLM, LM Studio
    """
    from rag.llms import list_llms, try_llm  # noqa: PLC0415
    from rag.settings import Settings  # noqa: PLC0415
    from rag.specs import bare  # noqa: PLC0415

    settings = Settings.read(llm=spec)
    name = bare(settings.llm)
    if spec is not None:
        trial = try_llm(settings.llm, settings.limits)
        if as_json:
            click.echo(json_text({"spec": name, **asdict(trial)}))
        else:
            reply = f"answered in {trial.seconds:.1f} s: {trial.said}" if trial.seconds else "needs no model"
            click.echo(f"{name} {reply}")
        return
    listed = list_llms(settings.llm)
    if as_json:
        click.echo(json_text([asdict(one) for one in listed]))
        return
    width = max(len(one.spec) for one in listed) + 2
    for one in listed:
        click.echo(f"{one.spec:<{width}}{_state(one)}")
    click.echo(f"\nIn use: {name}. Another one: --llm SPEC, or FOOTNOTE_LLM. Try one: footnote llms SPEC")


def _state(one: Access) -> str:
    from rag.llms import shown  # noqa: PLC0415

    if one.missing:
        return f"not installed: {one.missing}"
    if one.variable and not one.keyed and one.reached is None:
        return f"no key: {one.said}"
    if one.said:
        return f"not ready: it {one.said}"
    if one.reached is None:
        return "ready; needs no model, no key and no network"
    return f"ready; {shown(one.models)}" if one.models else "ready"
