"""Waivers as a list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lakeguard.cli.terminal.escape import inert
from lakeguard.cli.terminal.layout import (
    Tone,
    moment,
    table,
    toned,
)
from lakeguard_sdk.model.decision import WaiverRow


def waivers_lines(waivers: Sequence[WaiverRow], now: datetime) -> list[str]:
    """The latest first, as the ledger gives them."""
    rows = [
        [
            row.waiver.waiver_id,
            row.dataset,
            inert(f"{row.waiver.check_kind} {row.waiver.check_id}"),
            _state(row, now),
            moment(row.waiver.until),
            inert(row.waiver.approver),
            inert(row.waiver.reason),
        ]
        for row in waivers
    ]
    headers = ("WAIVER", "DATASET", "CHECK", "STATE", "UNTIL", "APPROVER", "REASON")
    return table(headers, rows) if rows else ["nothing is waived"]


def _state(row: WaiverRow, now: datetime) -> str:
    if row.revoked_at is not None:
        return toned("TAKEN BACK", Tone.QUIET)
    return toned("IN FORCE", Tone.WARN) if row.waiver.in_force(now) else toned("OVER", Tone.QUIET)
