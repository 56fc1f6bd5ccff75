"""Terminal layout: tables, numbers, times, colours. Data is escaped here."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

import click

from lakeguard.services.plain_text import escaped

GAP = "   "


class Tone(StrEnum):
    """Meaning of a colour; a word or symbol always repeats it."""

    GOOD = "green"
    BAD = "red"
    WARN = "yellow"
    QUIET = "bright_black"


def toned(text: str, tone: Tone) -> str:
    return click.style(text, fg=tone.value)


def strong(text: str) -> str:
    return click.style(text, bold=True)


def width(text: str) -> int:
    """Width on a terminal in cells, without colour codes."""
    plain = click.unstyle(text)
    return sum(_cells(character) for character in plain)


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, columns: int) -> str:
    """Uncoloured text cut to ``columns`` cells, ending in … if cut."""
    if width(text) <= columns:
        return text
    while text and width(text) >= columns:
        text = text[:-1]
    return text + "…"


def padded(text: str, columns: int, *, right: bool = False) -> str:
    space = " " * max(0, columns - width(text))
    return space + text if right else text + space


def table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()
) -> list[str]:
    """Columns as wide as their widest cell; those in ``right`` are right-aligned."""
    everything = [[strong(header) for header in headers], *rows] if headers else list(rows)
    return columns(everything, right=right)


def columns(rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()) -> list[str]:
    if not rows:
        return []
    count = max(len(row) for row in rows)
    widths = [max(width(row[index]) for row in rows if index < len(row)) for index in range(count)]
    return [
        GAP.join(
            padded(cell, widths[index], right=index in right) for index, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]


def indented(lines: Sequence[str], by: int = 2) -> list[str]:
    return [" " * by + line if line else line for line in lines]


def number(value: object) -> str:
    """With thousands separators; floats with up to six significant digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return escaped(value)
    if isinstance(value, int):
        return f"{value:,}"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"


def moment(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def age(instant: datetime, now: datetime) -> str:
    """How long ago in the largest unit that fits; ``just now`` for less than a second."""
    seconds = int((now - instant).total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


def duration(start: datetime, end: datetime) -> str:
    seconds = (end - start).total_seconds()
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
