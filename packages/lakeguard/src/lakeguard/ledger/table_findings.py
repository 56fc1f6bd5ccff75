"""What was found wrong with a governed table, until it is undone.

A row says that a problem was found, or that it is gone; the last row of a dataset counts.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, func, select

from lakeguard.state import outbox
from lakeguard.state.schema import table_findings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import FindingState, TableProblem
from lakeguard_sdk.core.frozen_model import FrozenModel, Instant


class TableFinding(FrozenModel):
    """An open problem of a table."""

    dataset_id: str
    problem: TableProblem
    message: str
    found_at: Instant
    found_by: str


def record_found(
    tx: Transaction, dataset_id: str, problem: TableProblem, message: str, *, by: str
) -> bool:
    """Record a problem; returns False if it is known already."""
    known = open_finding(tx, dataset_id)
    if known is not None and (known.problem, known.message) == (problem, message):
        return False
    _append(tx, dataset_id, FindingState.FOUND, problem, message, by)
    return True


def record_gone(tx: Transaction, dataset_id: str, message: str, *, by: str) -> bool:
    """Record that the open problem is gone; returns False if there is none."""
    known = open_finding(tx, dataset_id)
    if known is None:
        return False
    _append(tx, dataset_id, FindingState.GONE, known.problem, message, by)
    return True


def open_finding(tx: Transaction, dataset_id: str) -> TableFinding | None:
    table = table_findings.c
    row = tx.execute(
        select(table_findings)
        .where(table.dataset_id == dataset_id)
        .order_by(table.ordinal.desc())
        .limit(1)
    ).first()
    return None if row is None or row.state != FindingState.FOUND else _finding(row)


def open_findings(tx: Transaction) -> dict[str, TableFinding]:
    """The open problem of each dataset that has one, by the dataset's id."""
    table = table_findings.c
    last = (
        select(func.max(table.ordinal)).where(table.org_id == tx.org_id).group_by(table.dataset_id)
    )
    rows = tx.execute(
        select(table_findings).where(
            table.ordinal.in_(last.scalar_subquery()), table.state == FindingState.FOUND.value
        )
    )
    return {row.dataset_id: _finding(row) for row in rows}


def _append(
    tx: Transaction,
    dataset_id: str,
    state: FindingState,
    problem: TableProblem,
    message: str,
    by: str,
) -> None:
    at = tx.now()
    row = {
        "dataset_id": dataset_id,
        "org_id": tx.org_id,
        "state": state.value,
        "problem": problem.value,
        "message": message,
        "found_by": by,
        "found_at": at,
    }
    outbox.record(tx, table_findings, [row], at)


def _finding(row: Row[Any]) -> TableFinding:
    return TableFinding(
        dataset_id=row.dataset_id,
        problem=TableProblem(row.problem),
        message=row.message,
        found_at=row.found_at,
        found_by=row.found_by,
    )
