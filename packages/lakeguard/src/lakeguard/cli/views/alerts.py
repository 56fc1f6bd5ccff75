"""Alerts as lists: what was raised, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, moment, strong, table, toned
from lakeguard.cli.views.telling import told, way_out
from lakeguard_sdk.alerting import Alert, AlertRow
from lakeguard_sdk.words import Severity


def alerts_lines(rows: Sequence[AlertRow]) -> list[str]:
    """The latest first; what was given up comes with the command that tries it again."""
    if not rows:
        return ["nothing was raised"]
    cells = [
        [
            moment(row.alert.raised_at),
            _kind(row.alert),
            row.alert.dataset,
            told(row.tellings),
            inert(row.alert.message),
        ]
        for row in rows
    ]
    lines = table(("RAISED", "KIND", "DATASET", "TOLD", "MESSAGE"), cells)
    tellings = [telling for row in rows for telling in row.tellings]
    return [*lines, *way_out(tellings, "alert")]


def swept_lines(found: Sequence[Alert]) -> list[str]:
    if not found:
        return ["nothing new is late"]
    return [f"{_kind(alert)}  {strong(alert.dataset)}: {inert(alert.message)}" for alert in found]


def _kind(alert: Alert) -> str:
    tone = Tone.BAD if alert.severity is Severity.FAIL else Tone.WARN
    return toned(alert.kind.value, tone)
