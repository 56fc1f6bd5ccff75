"""docs/reference/cli.md names every command and every option, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lakeguard.cli.command_registry import COMMANDS
from lakeguard.cli.main import cli

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text("utf-8")
COMMON = TEXT.partition("## Options of every command")[2].partition("\n## ")[0]
CONTEXT = click.Context(cli)


def section(name: str) -> str:
    found = re.search(rf"^## lakeguard {name}\b.*?(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/reference/cli.md has no section for lakeguard {name}"
    return found[0]


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.get_params(click.Context(command)):
        if isinstance(parameter, click.Option):
            yield from parameter.opts


def command(name: str) -> click.Command:
    """``source add`` is the command ``add`` of the group ``source``."""
    first, _, second = name.partition(" ")
    found = cli.get_command(CONTEXT, first)
    if isinstance(found, click.Group) and second:
        found = found.get_command(CONTEXT, second)
    assert found is not None
    return found


def calls() -> Iterator[str]:
    for name in COMMANDS:
        found = command(name)
        if isinstance(found, click.Group):
            yield from (f"{name} {part}" for part in found.list_commands(CONTEXT))
        else:
            yield name


CALLS = tuple(calls())


@pytest.mark.parametrize("name", CALLS)
def test_every_option_is_documented(name: str) -> None:
    text = section(name) + COMMON
    assert [option for option in options(command(name)) if f"`{option}" not in text] == []


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_in_the_heading(name: str) -> None:
    heading = section(name).splitlines()[0]
    for parameter in command(name).params:
        if isinstance(parameter, click.Argument):
            metavar = parameter.make_metavar(click.Context(command(name)))
            assert metavar in heading


def test_the_options_before_the_command_are_documented() -> None:
    assert [option for option in options(cli) if f"`{option}" not in COMMON] == []


def test_nothing_is_documented_that_does_not_exist() -> None:
    assert set(re.findall(r"^## lakeguard (\w+)", TEXT, re.MULTILINE)) == set(COMMANDS)
    known = {option for name in CALLS for option in options(command(name))}
    known |= set(options(cli))
    assert set(re.findall(r"`(--[a-z-]+)", TEXT)) <= known


def test_every_command_answers_in_json() -> None:
    assert [name for name in CALLS if "--json" not in options(command(name))] == []


@pytest.mark.parametrize("name", CALLS)
def test_every_command_and_option_has_help(name: str) -> None:
    assert command(name).help
    for parameter in command(name).params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name
