"""Rendering of metadata records and their kinds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lakeguard.cli.terminal.layout import Tone, clipped, columns, moment, strong, table, toned
from lakeguard.records.validate_records import CheckedRecords
from lakeguard.services.plain_text import escaped, escaped_lines, plural
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.record import MetadataRecord

_PAYLOAD = 60
"""Cells of a payload in a list."""
_HEADERS = ("PRODUCED", "KIND", "TARGET", "RUN", "VERSION", "PAYLOAD")


def records_lines(records: Sequence[MetadataRecord]) -> list[str]:
    if not records:
        return ["no records"]
    return table(_HEADERS, [_cells(record) for record in records])


def record_row(record: MetadataRecord) -> str:
    """One line, for a list without an end."""
    return "   ".join(_cells(record))


def _cells(record: MetadataRecord) -> list[str]:
    payload = json.dumps(record.payload, ensure_ascii=False)
    return [
        moment(record.produced_at),
        record.kind,
        escaped(record.target),
        escaped(record.context.run_id or "-"),
        f"{record.version}",
        clipped(escaped(payload), _PAYLOAD),
    ]


def record_lines(record: MetadataRecord | None) -> list[str]:
    if record is None:
        return ["no such record"]
    context, environment = record.context, record.context.environment
    rows = {
        "produced": f"{moment(record.produced_at)} by {escaped(record.producer_id)}",
        "version": f"{record.version}",
        "run": escaped(context.run_id or ""),
        "job": escaped(context.job_id or ""),
        "namespace": escaped(context.namespace),
        "cluster": escaped(environment.cluster),
        "workspace": escaped(environment.workspace),
    }
    return [
        f"{strong(record.kind)}  {escaped(record.target)}",
        *columns([[toned(name, Tone.QUIET), value] for name, value in rows.items() if value]),
        *_data("payload", record.payload),
        *_data("quality", record.quality),
        *_data("extras", record.extras),
    ]


def _data(name: str, data: dict[str, Any] | None) -> list[str]:
    if not data:
        return []
    return ["", strong(name), *_json(data)]


def _json(data: dict[str, Any]) -> list[str]:
    return escaped_lines(json.dumps(data, indent=2, ensure_ascii=False))


# Kinds.


def kinds_lines(kinds: Sequence[MetadataKind]) -> list[str]:
    rows = [
        [kind.kind, f"{kind.version}", _retention(kind), escaped(kind.description)]
        for kind in kinds
    ]
    return table(("KIND", "VERSION", "KEPT", "DESCRIPTION"), rows)


def kind_lines(kind: MetadataKind) -> list[str]:
    identity = ", ".join(map(escaped, kind.identity)) or "-"
    return [
        f"{strong(kind.kind)}  version {kind.version}, kept {_retention(kind)}",
        escaped(kind.description),
        f"facts of one run differ by: {identity}",
        "",
        *_json(kind.json_schema),
    ]


def _retention(kind: MetadataKind) -> str:
    if kind.keep_days is None:
        return "for ever"
    return f"{plural(kind.keep_days, 'day')}, then {kind.expired}"


# Checks of a file.


def checked_lines(checked: CheckedRecords) -> list[str]:
    if not checked.problems:
        return [f"{toned('✓', Tone.GOOD)} {plural(checked.records, 'record')} would be stored"]
    found = [
        f"line {each.line:,}: {escaped(each.place) + ': ' if each.place else ''}"
        f"{escaped(each.reason)}"
        for each in checked.problems
    ]
    bad = len({each.line for each in checked.problems})
    return [*found, "", f"{bad:,} of {plural(checked.records, 'record')} would be refused"]
