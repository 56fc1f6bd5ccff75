"""REPLAY: every decision, made again from what it was made on, comes out the same."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.insight.library import Library
from lakeguard.insight.replaying import Replayer, difference, recorded_decisions
from lakeguard.state.database import Database
from lakeguard_sdk.proof import Finding, FindingKind


def replay_findings(database: Database, org_id: str) -> Iterator[Finding]:
    """Decided again between the readings, never within one."""
    library = Library(org_id)
    replayer = Replayer(library)
    for row in recorded_decisions(database, org_id, library):
        if said := difference(replayer, row):
            place = f"decisions {row.decision_id}"
            yield Finding(kind=FindingKind.REPLAY, place=place, message=said)
