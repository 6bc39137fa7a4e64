"""What README says is so: its commands and options exist, its settings and file tree are the code's own."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest
from readme_tree import FENCE, ROOT, tree

from eval.cli import cli as eval_cli
from rag.settings import Settings
from ui.cli import cli

README = (ROOT / "README.md").read_text("utf-8")


def commands() -> Iterator[list[str]]:
    # The even pieces between fences are prose.
    for block in re.split(r"^```\w*$", README, flags=re.MULTILINE)[1::2]:
        for line in block.splitlines():
            found = re.search(r"(?:^|\| |bin/)(footnote(?:-eval)?) ([a-z].*)", line.partition("#")[0])
            if found:
                yield [found[1], *shlex.split(found[2])]
    yield from (shlex.split(text) for text in re.findall(r"`(footnote(?:-eval)? [^`]+)`", README))


@pytest.mark.parametrize("words", tuple(commands()), ids=" ".join)
def test_a_command_in_readme_exists_with_its_options(words: list[str]) -> None:
    group = eval_cli if words[0] == "footnote-eval" else cli
    command = group.commands[words[1]]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words[2:] if word.startswith("-") and word != "-"} <= known


@pytest.mark.parametrize("group", [cli, eval_cli])
def test_every_command_is_in_readme(group: click.Group) -> None:
    name = "footnote-eval" if group is eval_cli else "footnote"
    assert [c for c in group.commands if not re.search(rf"\b{name} {c}\b", README)] == []


def test_every_setting_is_in_readme_with_its_variable() -> None:
    rows = Settings.read().rows()
    assert [name for name, *_ in rows if f"`{name}`" not in README or f"`FOOTNOTE_{name.upper()}`" not in README] == []


def test_the_file_tree_is_the_files() -> None:
    found = FENCE.search(README)
    assert found is not None, "README has lost its tree"
    assert found.group() == tree(), "run `make readme`"


def test_the_pictures_and_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_make_has_the_two_commands() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in ("chat", "test", "check", "readme"))
