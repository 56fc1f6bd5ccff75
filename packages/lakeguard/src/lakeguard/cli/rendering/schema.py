"""Rendering of schemas: what runs found, differences, reactions of each profile."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from datetime import datetime

from lakeguard.cli.terminal.layout import (
    Tone,
    age,
    columns,
    indented,
    moment,
    strong,
    table,
    toned,
)
from lakeguard.services.approve_schema import Approved
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.model.read_models import ClassedDifference, SchemaDiff, SchemaRow
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction

_TONES = {
    Reaction.BLOCK: Tone.BAD,
    Reaction.QUARANTINE_ROW: Tone.WARN,
    Reaction.LEFT_OUT: Tone.WARN,
}
_FIRST = ("default", "strict", "additive", "backward", "forward", "full", "permissive")


def diff_lines(name: str, found: SchemaDiff | None, leave_out: Collection[str] = ()) -> list[str]:
    """``leave_out`` are columns that the definition leaves out for good."""
    if found is None:
        return [f"no run of {name} has recorded a schema yet", f"Next: lakeguard run {name}"]
    head = f"{strong(name)}   found by {escaped(found.run_id)}, {moment(found.captured_at)}"
    if not found.differences:
        return [head, "as declared"]
    rows = [_difference(item, found.profile) for item in found.differences]
    lines = table(("COLUMN", "CHANGE", "DECLARED", "FOUND", found.profile.upper()), rows)
    blocked = any(i.reactions[found.profile] is Reaction.BLOCK for i in found.differences)
    return [
        head,
        *lines,
        "",
        *_profiles(found),
        *([f"Next: lakeguard schema approve {name} --reason WHY"] if blocked else []),
        *_ways_of_new_columns(name, found, leave_out),
    ]


def _ways_of_new_columns(name: str, found: SchemaDiff, leave_out: Collection[str]) -> list[str]:
    """What can be done about columns that only the profile leaves out."""
    left_out = [
        item.column
        for item in found.differences
        if item.reactions[found.profile] is Reaction.LEFT_OUT and item.column not in leave_out
    ]
    if not left_out:
        return []
    names = ", ".join(left_out)
    rows = [
        (
            f"declare {escaped(column)}:",
            f'lakeguard schema approve {name} --column {shlex.quote(column)} --reason "…"',
        )
        for column in left_out
    ]
    rows += [
        ("leave out for good:", f"schema: {{leave_out: [{names}]}} in its definition"),
        ("take in every new column:", "schema: {profile: additive} in its definition"),
    ]
    return ["", "Columns that are not in the table:", *indented(columns(rows))]


def history_lines(name: str, rows: Sequence[SchemaRow], now: datetime) -> list[str]:
    if not rows:
        return [f"no run of {name} has recorded a schema yet", f"Next: lakeguard run {name}"]
    cells = [
        [
            escaped(row.run_id),
            age(row.captured_at, now),
            toned("accepted", Tone.GOOD) if row.accepted else toned("refused", Tone.BAD),
            plural(len(row.live.columns), "column"),
            "; ".join(map(_short, row.differences)),
        ]
        for row in rows
    ]
    return table(("RUN", "FOUND", "RESULT", "COLUMNS", "DIFFERENCES"), cells)


def approved_lines(made: Approved) -> list[str]:
    done = f"{toned('✓ approved', Tone.GOOD)}  {strong(made.dataset)}"
    declared = [f"{escaped(item.column)}  {_became(item)}" for item in made.differences]
    place = escaped(made.file) if made.file else "the registry only: it has no definition file"
    return [
        f"{done}   {plural(len(made.differences), 'difference')}",
        *indented(declared),
        f"written to {place}",
        f"Next: lakeguard run {made.dataset}",
    ]


def _became(item: ClassedDifference) -> str:
    if item.other:
        return f"renamed to {escaped(item.other)}"
    if item.found is None:
        return "no longer declared"
    return f"{escaped(item.found)}" + (
        f", was {escaped(item.declared)}" if item.declared else ", new"
    )


def _difference(item: ClassedDifference, profile: str) -> list[str]:
    found = f"{item.other} {item.found or ''}".strip() if item.other else item.found or ""
    return [
        escaped(item.column),
        item.change.value,
        escaped(item.declared or ""),
        escaped(found),
        _toned(item.reactions[profile]),
    ]


def _profiles(found: SchemaDiff) -> list[str]:
    """One line per difference, one column per profile."""
    names = [*_FIRST, *sorted(set(found.differences[0].reactions) - set(_FIRST))]
    rows = [
        [f"{escaped(item.column)} {item.change.value}".strip()]
        + [_toned(item.reactions[name]) for name in names]
        for item in found.differences
    ]
    return table(("CHANGE", *(name.upper() for name in names)), rows)


def _toned(reaction: Reaction) -> str:
    return toned(reaction.value, _TONES.get(reaction, Tone.GOOD))


def _short(item: SchemaReaction) -> str:
    return f"{item.change} {escaped(item.column)} {item.reaction}".replace("  ", " ")
