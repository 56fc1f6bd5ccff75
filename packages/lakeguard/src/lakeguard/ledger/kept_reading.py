"""The facts about rows that were set aside, read as a whole."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection

from lakeguard.ledger.documents import get_document
from lakeguard.ledger.kept_reach import reaches_since
from lakeguard.ledger.kept_rows import Move, Quarantine, Reach, ReadRows, read_rows
from lakeguard.ledger.quarantine import holdings_of, taken_of, write_offs_of
from lakeguard.ledger.versions import evidence_behind, pointer_rows
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.words import MoveKind


def quarantine_of(
    connection: Connection, org_id: str, dataset_id: str, *, whole: bool = False
) -> Quarantine:
    """Versions older than all that was set aside are not looked at: nothing of theirs waits.

    With ``whole`` lines go back to the last version that read everything all the same.
    """
    holdings = holdings_of(connection, dataset_id)
    first = 0 if whole else min((item.version for item in holdings), default=None)
    rows = pointer_rows(connection, dataset_id)
    reaches = {} if first is None else reaches_since(connection, org_id, dataset_id, first)
    adopted = {row.version for row in rows if row.kind == MoveKind.ADOPTION.value}

    def reach(version: int) -> Reach:
        if first is None or version < first or version in adopted:
            return Reach(anew=True)
        return reaches[version]

    return Quarantine(
        moves=tuple(Move(row.version, row.kind) for row in rows),
        reach=reach,
        holdings=holdings,
        taken=taken_of(connection, dataset_id),
        write_offs=write_offs_of(connection, dataset_id),
    )


def rows_read_by(
    connection: Connection, org_id: str, dataset_id: str, versions: Iterable[int]
) -> dict[int, ReadRows]:
    """What became of the batch of each of the versions."""
    found: dict[int, ReadRows] = {}
    for number, (evidence_hash, _) in evidence_behind(
        connection, dataset_id, sorted(versions)
    ).items():
        evidence = Evidence.from_json(get_document(connection, org_id, evidence_hash))
        found[number] = read_rows(evidence)
    return found
