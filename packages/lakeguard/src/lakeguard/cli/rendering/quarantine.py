"""Rendering of quarantined rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lakeguard.cli.rendering.checks import fitted, short
from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    age,
    columns,
    number,
    strong,
    table,
    toned,
)
from lakeguard.cli.terminal.output import Screen
from lakeguard.services.next_commands import replay_command
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.quarantine import (
    QuarantineBalance,
    QuarantineEntry,
    QuarantineListing,
    QuarantineSelection,
    QuarantineState,
    ReplayParameters,
)

_STATES = {
    QuarantineState.QUARANTINED: ("QUARANTINED", Tone.WARN),
    QuarantineState.REPLAYED: ("REPLAYED", Tone.GOOD),
    QuarantineState.DISCARDED: ("DISCARDED", Tone.QUIET),
    QuarantineState.REPLACED: ("REPLACED", Tone.QUIET),
    QuarantineState.UNDONE: ("UNDONE", Tone.QUIET),
}


def quarantine_lines(entries: Sequence[QuarantineEntry], now: datetime) -> list[str]:
    """One line per run and rule, the total, and the next command."""
    if not entries:
        return ["no rows in quarantine"]
    rows = [
        [
            row.dataset,
            row.run_id,
            escaped(row.rule_id),
            number(row.rows),
            age(row.first_seen, now),
            toned(*_STATES[row.state]),
            escaped(row.reason or row.replayed_by or ""),
        ]
        for row in entries
    ]
    headers = ("DATASET", "RUN", "RULE", "ROWS", "SINCE", "STATE", "")
    quarantined = [row for row in entries if row.state is QuarantineState.QUARANTINED]
    lines = [*table(headers, rows, right=frozenset({3})), ""]
    many = plural(sum(row.rows for row in quarantined), "row")
    lines.append(f"{many} in quarantine")
    if quarantined:
        lines.append(f"Next: lakeguard quarantine show {quarantined[0].dataset}")
    return lines


def balance_line(balance: QuarantineBalance) -> str:
    """``bronze.x v7: 5 read = 2 published + 3 quarantined + 0 discarded + 0 malformed``"""
    version = "nothing published" if balance.version is None else f"v{balance.version}"
    parts = [
        f"{number(balance.published)} published",
        f"{number(balance.quarantined)} quarantined",
        f"{number(balance.discarded)} discarded",
        f"{number(balance.malformed)} malformed",
    ]
    equation = f"{balance.dataset} {version}: {number(balance.read)} read = {' + '.join(parts)}"
    if balance.adds_up:
        return equation
    return f"{equation}  {toned('✗ DOES NOT ADD UP', Tone.BAD)}; next: lakeguard verify"


def listing_lines(
    listed: QuarantineListing, screen: Screen, choice: QuarantineSelection
) -> list[str]:
    """One line per row, cut to the screen width."""
    if not listed.rows:
        return [
            "no such rows in quarantine",
            f"Next: lakeguard quarantine list {listed.dataset} --all",
        ]
    headers = [
        short(name) + (" (masked)" if name in listed.masked else "") for name in listed.columns
    ]
    rows = [["NULL" if value is None else short(value) for value in row] for row in listed.rows]
    head, *lines = (fitted(line, screen.width) for line in columns([headers, *rows]))
    lines.insert(0, strong(head))
    more = listed.quarantined - len(listed.rows)
    if more > 0:
        lines.append(f"{plural(more, 'more row')}: --limit shows more")
    if listed.refused:
        lines.append(f"A replay is refused: {escaped(listed.refused)}")
    return [*lines, f"Next: {_way_on(listed, choice)}"]


def _way_on(listed: QuarantineListing, choice: QuarantineSelection) -> str:
    if listed.read_anew:
        return f"lakeguard run {listed.dataset}"
    order = ReplayParameters(choice=choice, as_newest=bool(listed.refused))
    return escaped(replay_command(listed.dataset, order))


def quarantined_lines(quarantined: Sequence[QuarantineEntry]) -> list[str]:
    """Rows that a run quarantined, and how to show them; empty if there are none."""
    if not quarantined:
        return []
    by_rule = ", ".join(f"{escaped(row.rule_id)} {number(row.rows)}" for row in quarantined)
    many = plural(sum(row.rows for row in quarantined), "row")
    first = quarantined[0]
    return [
        f"  {toned('quarantined', Tone.WARN)}: {many}, by rule: {by_rule}",
        f"Next: lakeguard quarantine show {first.dataset} --run {first.run_id}",
    ]


def unchanged_lines(name: DatasetName, rows: int, published: int | None) -> list[str]:
    """A replay in which no row passed."""
    mark = toned("= UNCHANGED", Tone.GOOD)
    none = f"none of {plural(rows, 'row')} passed; they stay in quarantine"
    if rows == 1:
        none = "the row did not pass; it stays in quarantine"
    stays = "nothing is published yet" if published is None else f"v{published} stays"
    lines = [f"{mark}  {strong(name)}{GAP}{none}; {stays}"]
    return [*lines, f"Next: lakeguard quarantine show {name}"]


def discarded_lines(name: DatasetName, gone: Sequence[QuarantineEntry]) -> list[str]:
    many = plural(sum(row.rows for row in gone), "row")
    return [f"{toned('✓ DISCARDED', Tone.GOOD)}  {strong(name)}{GAP}{many}"]
