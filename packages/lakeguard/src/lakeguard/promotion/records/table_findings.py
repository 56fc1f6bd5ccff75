"""Records damage of a table and data without a decision, and raises the alert."""

from __future__ import annotations

from typing import NamedTuple

from lakeguard.ledger.notifications.store import record_notifications
from lakeguard.ledger.table_findings import record_found, record_gone
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.records.alerts import alert_subject
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.core.enums import Severity, TableProblem
from lakeguard_sdk.model.notifications import Alert, AlertKind


class TableTrouble(NamedTuple):
    """A problem of a table that was found just now."""

    dataset: RegisteredDataset
    problem: TableProblem
    message: str


def note_trouble(tx: Transaction, context: PlaneContext, found: TableTrouble, *, by: str) -> None:
    """Record the problem and raise an alert, unless it is known already."""
    dataset, message = found.dataset, found.message
    if not record_found(tx, dataset.dataset_id, found.problem, message, by=by):
        return
    alert = Alert(
        **alert_subject(context, dataset, AlertKind.DAMAGED, *_key(tx, dataset)),
        severity=Severity.FAIL,
        message=message,
        details={"problem": found.problem.value, "found_by": by},
        raised_at=tx.now(),
    )
    record_notifications(tx, [alert])


def note_recovery(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, message: str, *, by: str
) -> None:
    """Record that the problem is gone, and say so, if there was one."""
    if not record_gone(tx, dataset.dataset_id, message, by=by):
        return
    alert = Alert(
        **alert_subject(context, dataset, AlertKind.DAMAGED, *_key(tx, dataset)),
        severity=Severity.WARN,
        message=f"undamaged again: {message}",
        details={"found_by": by},
        raised_at=tx.now(),
    )
    record_notifications(tx, [alert])


def _key(tx: Transaction, dataset: RegisteredDataset) -> tuple[str, str]:
    """Each finding is told once, and so is its end."""
    return dataset.dataset_id, format_instant(tx.now())
