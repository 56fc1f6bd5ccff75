"""A few of the rows that a check counted as failing, as a small table."""

from __future__ import annotations

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import columns, plural, width
from lakeguard.cli.screen import Screen
from lakeguard_sdk.sample import MASKED, RowSample

MOST_SHOWN = 5
_LONGEST = 32
_NULL = "NULL"
_CUT = "…"


def example_lines(sample: RowSample | None, screen: Screen, indent: int) -> list[str]:
    """A header and at most five rows, none wider than the screen; masked columns say so."""
    if sample is None or not sample.rows:
        return []
    header = [_header(name, sample) for name in sample.columns]
    rows = [_cells(row, sample) for row in sample.rows[:MOST_SHOWN]]
    more = len(sample.rows) - len(rows)
    lines = columns([header, *rows])
    if more:
        lines.append(f"{plural(more, 'more example')} with --json")
    return [fitted(line, screen.width - indent) for line in lines]


def _header(name: str, sample: RowSample) -> str:
    return short(name) + (" (masked)" if name in sample.masked else "")


def _cells(row: tuple[str | None, ...], sample: RowSample) -> list[str]:
    """What is masked is not told, whatever stands in its place."""
    return [
        MASKED if name in sample.masked else _NULL if value is None else short(value)
        for name, value in zip(sample.columns, row, strict=False)
    ]


def short(text: str) -> str:
    """Harmless to a terminal, and not wider than a cell."""
    return fitted(inert(text), _LONGEST)


def fitted(text: str, most: int) -> str:
    """Not wider than that on a screen; what was cut ends in a mark that says so."""
    if width(text) <= most:
        return text
    kept = text[: max(0, most - 1)]
    while kept and width(kept) > most - 1:
        kept = kept[:-1]
    return kept + _CUT
