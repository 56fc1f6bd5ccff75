"""Rendering of waivers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lakeguard.cli.terminal.layout import (
    Tone,
    moment,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.model.decision import WaiverRow


def waivers_lines(waivers: Sequence[WaiverRow], now: datetime) -> list[str]:
    """Newest first."""
    rows = [
        [
            row.waiver.waiver_id,
            row.dataset,
            escaped(f"{row.waiver.check_kind} {row.waiver.check_id}"),
            _state(row, now),
            moment(row.waiver.until),
            escaped(row.waiver.approver),
            escaped(row.waiver.reason),
        ]
        for row in waivers
    ]
    headers = ("WAIVER", "DATASET", "CHECK", "STATE", "UNTIL", "APPROVER", "REASON")
    return table(headers, rows) if rows else ["no waivers"]


def _state(row: WaiverRow, now: datetime) -> str:
    if row.revoked_at is not None:
        return toned("REVOKED", Tone.QUIET)
    if row.over_at is not None:
        return toned("OVER", Tone.QUIET)
    return toned("ACTIVE", Tone.WARN) if row.waiver.in_force(now) else toned("EXPIRED", Tone.QUIET)
