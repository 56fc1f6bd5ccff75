"""Waivers: somebody answers, for a time, for a check that does not pass."""

from __future__ import annotations

from typing import Literal

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Instant, Noun

LONGEST_WAIVER_DAYS = 90


class Waiver(Noun):
    """Of a FAIL rule or an ALERT policy of one dataset; no waiver touches a BLOCK policy."""

    waiver_id: str
    check_kind: Literal["rule", "policy"]
    check_id: str
    expression: str
    """What the check said when it was waived; it holds for nothing else of the same name."""
    approver: str
    reason: str
    granted_at: Instant
    until: Instant
    """The first moment at which it holds no more."""

    def in_force(self, at: Instant) -> bool:
        return self.granted_at <= at < self.until


class WaiverRow(Noun):
    """A waiver as the ledger shows it."""

    dataset: DatasetName
    waiver: Waiver
    granted_by: str
    revoked_at: Instant | None = None
    revoked_by: str | None = None
    revoked_for: str | None = None
