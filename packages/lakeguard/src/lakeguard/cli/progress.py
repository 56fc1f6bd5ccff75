"""Telling people that work is under way, on standard error only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from lakeguard.cli.inert import inert
from lakeguard.cli.output import colour
from lakeguard_sdk.client import Progress

STAGES = {
    "extract": "reading",
    "schema": "comparing columns",
    "stage": "writing candidate files",
    "measure": "measuring {rows:,} rows",
    "decide": "asking the gate",
    "publish": "publishing",
    "deliver": "writing {format} files",
}
WARNINGS = {"undelivered": "published, but its {format} files were not written: {reason}"}
"""Stages that stay on the screen: what went wrong without stopping the run."""


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """A spinner that names the stage on a terminal, one plain line elsewhere."""
    if not sys.stderr.isatty():
        click.echo(f"{what} …", err=True)
        yield _warn
        return
    from rich.console import Console

    console = Console(stderr=True, no_color=colour() is False, highlight=False)
    with console.status(f"{_plain(what)}: starting", spinner="dots") as status:

        def tell(stage: str, facts: dict[str, Any]) -> None:
            _warn(stage, facts)
            said = STAGES.get(stage, stage).format(**facts)
            status.update(f"{_plain(what)}: {_plain(said)}")

        yield tell


def _warn(stage: str, facts: dict[str, Any]) -> None:
    if stage in WARNINGS:
        note(inert(WARNINGS[stage].format(**facts)))


def _plain(text: str) -> str:
    return text.replace("[", "\\[")


def note(text: str) -> None:
    """One line for the person who waits."""
    click.echo(text, err=True, color=colour())
