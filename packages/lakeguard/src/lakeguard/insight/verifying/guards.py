"""HISTORY: the triggers that keep rows from being changed are still there."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.state.database import Database
from lakeguard.state.guards import missing_guards
from lakeguard_sdk.proof import Finding, FindingKind


def guard_findings(database: Database, org_id: str) -> Iterator[Finding]:
    """Of the whole State: a guard knows no organisation."""
    del org_id
    with database.read() as connection:
        missing = sorted(missing_guards(connection))
    for name in missing:
        message = "expected the trigger that makes its table append-only, found none"
        yield Finding(kind=FindingKind.HISTORY, place=name, message=message)
