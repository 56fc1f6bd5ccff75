"""Output: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import click

from lakeguard.cli.options import Call, with_env

_NEXT = ("Next: ", "revoke: ")


def answer(call: Call, data: Mapping[str, object], lines: Iterable[str]) -> None:
    """Prints the result as JSON or as lines."""
    if call.json:
        write_json(data)
    else:
        write_lines(_with_env(line, call.env) for line in lines)


def _with_env(line: str, env: str | None) -> str:
    """Commands to type next are for the environment of this call, as those of errors are."""
    return with_env(line, env) if line.lstrip().startswith(_NEXT) else line


def write_json(data: Mapping[str, object]) -> None:
    """One ASCII document, so that no character of the data can control a terminal."""
    click.echo(json.dumps(data, indent=2))


def write_lines(lines: Iterable[str], *, err: bool = False) -> None:
    for line in lines:
        click.echo(line, err=err, color=colour())


def colour() -> bool | None:
    """Off with NO_COLOR, else decided by the terminal."""
    return False if os.environ.get("NO_COLOR") else None


# Capabilities of the terminal.

BLOCKS = "▁▂▃▄▅▆▇█"
_DIGITS = "12345678"


@dataclass(frozen=True)
class Screen:
    """Width, chart marks from lowest to highest, and the mark of a gap."""

    width: int = 100
    marks: str = BLOCKS
    gap: str = "·"


def this_screen() -> Screen:
    """For standard output; digits instead of blocks if its encoding lacks them."""
    width = shutil.get_terminal_size((100, 40)).columns
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        (BLOCKS + Screen.gap).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return Screen(width=width, marks=_DIGITS, gap="-")
    return Screen(width=width)
