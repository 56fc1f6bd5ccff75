"""The two streams: answers on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping

import click

from lakeguard.cli.options import Call


def answer(call: Call, data: Mapping[str, object], lines: Iterable[str]) -> None:
    """The same answer to a program and to a person."""
    if call.json:
        write_json(data)
    else:
        write_lines(lines)


def write_json(data: Mapping[str, object]) -> None:
    """One document in plain ASCII, so that no character of the data can steer a terminal."""
    click.echo(json.dumps(data, indent=2))


def write_lines(lines: Iterable[str], *, err: bool = False) -> None:
    for line in lines:
        click.echo(line, err=err, color=colour())


def colour() -> bool | None:
    """Never with NO_COLOR; otherwise the terminal decides."""
    return False if os.environ.get("NO_COLOR") else None
