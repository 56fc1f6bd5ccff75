"""The facts about rows that were set aside, read as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from sqlalchemy import Connection

from lakeguard.ledger.documents import get_document
from lakeguard.ledger.kept_rows import Move, Quarantine, ReadRows, read_rows, reads_anew
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.quarantine import holdings_of, taken_of, write_offs_of
from lakeguard.ledger.versions import evidence_behind, pointer_rows, require_version
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.words import MoveKind


def quarantine_of(connection: Connection, org_id: str, dataset_id: str) -> Quarantine:
    """It is to be asked only while the connection is open.

    Versions older than all that was set aside are not looked at: nothing of theirs waits.
    """
    holdings = holdings_of(connection, dataset_id)
    first = min((item.version for item in holdings), default=None)
    return Quarantine(
        moves=_moves(connection, dataset_id),
        renews=_renews(connection, org_id, dataset_id, first),
        holdings=holdings,
        taken=taken_of(connection, dataset_id),
        write_offs=write_offs_of(connection, dataset_id),
    )


def whole_quarantine(connection: Connection, org_id: str, dataset_id: str) -> Quarantine:
    """The same, with lines that go back to the last version that read everything."""
    return Quarantine(
        moves=_moves(connection, dataset_id),
        renews=_renews(connection, org_id, dataset_id, 0),
        holdings=holdings_of(connection, dataset_id),
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


def _moves(connection: Connection, dataset_id: str) -> tuple[Move, ...]:
    return tuple(Move(row.version, row.kind) for row in pointer_rows(connection, dataset_id))


def _renews(
    connection: Connection, org_id: str, dataset_id: str, first: int | None
) -> Callable[[int], bool]:
    """Whether a version read everything; one before ``first`` need not be looked at."""
    adopted = {
        row.version
        for row in pointer_rows(connection, dataset_id)
        if row.kind == MoveKind.ADOPTION.value
    }

    @cache
    def renews(version: int) -> bool:
        if first is None or version < first or version in adopted:
            return True
        run_id = require_version(connection, dataset_id, version).run_id
        return reads_anew(opening_of(connection, org_id, run_id).plan)

    return renews
