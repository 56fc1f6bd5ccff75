"""Telling people that work is under way, on standard error only."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lakeguard.cli.output import colour


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on a terminal, one plain line elsewhere."""
    if not sys.stderr.isatty():
        click.echo(f"{what} …", err=True)
        yield
        return
    from rich.console import Console

    console = Console(stderr=True, no_color=colour() is False, highlight=False)
    with console.status(what.replace("[", "\\["), spinner="dots"):
        yield


def note(text: str) -> None:
    """One line for the person who waits."""
    click.echo(text, err=True, color=colour())
