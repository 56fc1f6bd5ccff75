"""Run history: one terminal row per attempt, never overwritten."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from sqlalchemy import and_, case, select

from lakeguard.ledger.decisions import decision_by_id
from lakeguard.ledger.notifications.emit_events import emit_run
from lakeguard.state import outbox
from lakeguard.state.registered_datasets import registered_datasets
from lakeguard.state.schema import (
    dataset_registry,
    dataset_registry_revisions,
    run_history,
    tasks,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import MoveKind, RunStatus
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.run import RunResult

_TOLD_APART = ("damaged", "dataset", "window", "replay", "move")
"""Fields of a run stored in other tables."""
_STORED = tuple(key for key in RunRow.model_fields if key not in _TOLD_APART)
_COLUMNS = (
    *(run_history.c[key] for key in _STORED if key != "job_id"),
    case((run_history.c.error_code.is_not(None), run_history.c.result)).label("failed"),
)
"""The columns of a run, without its result, which is large, unless it failed."""
_COMPACTION = MoveKind.COMPACTION.value
_MOVES = {kind.value: kind for kind in MoveKind}
"""Run types by task kind; all but builds share one."""


def record_run(
    tx: Transaction,
    result: RunResult,
    *,
    dataset_id: str,
    task_id: str,
    attempt: int,
    started_at: datetime,
    triggered_by: str,
) -> None:
    """Record the attempt's terminal row; a second is refused by the database.

    The decision is stored separately and joined when the result is read.
    """
    error = result.error
    blocked = result.status is RunStatus.BLOCKED and result.decision is not None
    reasons = "; ".join(result.decision.ruling.reasons) if blocked and result.decision else None
    row = {
        "run_id": result.run_id,
        "dataset_id": dataset_id,
        "layer": result.dataset.layer.value,
        "status": result.status.value,
        "start_time": started_at,
        "end_time": result.ended_at,
        "error_message": _storable(error.message if error else reasons),
        "triggered_by": triggered_by,
        "org_id": tx.org_id,
        "task_id": task_id,
        "attempt": attempt,
        "error_code": error.code if error else None,
        "decision_id": result.decision.decision_id if result.decision else None,
        "version": result.version,
        "result": result.model_copy(update={"decision": None}).to_json(),
    }
    outbox.record(tx, run_history, [row], result.ended_at)
    emit_run(tx, row, result.dataset)


def result_of_run(tx: Transaction, run_id: str) -> RunResult | None:
    """The result exactly as first returned."""
    row = tx.execute(
        select(run_history.c.result, run_history.c.decision_id).where(
            run_history.c.org_id == tx.org_id, run_history.c.run_id == run_id
        )
    ).first()
    if row is None:
        return None
    result = RunResult.from_json(row.result)
    if row.decision_id is None:
        return result
    decision = decision_by_id(tx, row.decision_id, result.dataset)
    return result.model_copy(update={"decision": decision})


def ends_of_runs(tx: Transaction, dataset_id: str) -> dict[str, datetime]:
    """End times of a dataset's runs."""
    rows = tx.execute(
        select(run_history.c.run_id, run_history.c.end_time).where(
            run_history.c.dataset_id == dataset_id
        )
    )
    return {row.run_id: row.end_time for row in rows}


def run_row(tx: Transaction, run_id: str) -> RunRow | None:
    rows = _select_runs(tx, run_history.c.run_id == run_id, limit=1)
    return rows[0] if rows else None


def run_rows(
    tx: Transaction,
    dataset_id: str | None,
    limit: int,
    *,
    status: RunStatus | None = None,
    since: datetime | None = None,
) -> list[RunRow]:
    """Latest runs first, by their sequence: a clock may have been wrong."""
    table = run_history.c
    # Without a condition on the organisation, the index of the dataset is used.
    of_all = table.org_id == tx.org_id
    conditions = [of_all if dataset_id is None else table.dataset_id == dataset_id]
    conditions += [] if status is None else [table.status == status.value]
    conditions += [] if since is None else [table.start_time >= since]
    return _select_runs(tx, and_(*conditions), limit)


def latest_runs(tx: Transaction) -> dict[str, RunRow]:
    """The last run per dataset id, compactions excluded."""
    datasets, later = dataset_registry_revisions.c, run_history.alias("later")
    last = (
        select(later.c.run_id)
        .join(tasks, tasks.c.task_id == later.c.task_id)
        .where(later.c.dataset_id == datasets.dataset_id, tasks.c.kind != _COMPACTION)
        .order_by(later.c.ordinal.desc())
        .limit(1)
        .correlate(dataset_registry_revisions)
        .scalar_subquery()
    )
    rows = tx.execute(
        select(*_COLUMNS, tasks.c.parameters, tasks.c.kind, tasks.c.job_id)
        .select_from(dataset_registry_revisions)
        .join(run_history, run_history.c.run_id == last)
        .join(tasks, tasks.c.task_id == run_history.c.task_id)
        .where(datasets.org_id == tx.org_id, datasets.revision == 1)
    ).all()
    names = {row.dataset_id: row.dataset_name for row in registered_datasets(tx).datasets}
    return {row.dataset_id: _run_row(row, names[row.dataset_id]) for row in rows}


def _select_runs(tx: Transaction, condition: Any, limit: int) -> list[RunRow]:
    names = dataset_registry.c
    rows = tx.execute(
        select(*_COLUMNS, names.dataset_name, tasks.c.parameters, tasks.c.kind, tasks.c.job_id)
        .join(dataset_registry, names.dataset_id == run_history.c.dataset_id)
        .join(tasks, tasks.c.task_id == run_history.c.task_id)
        .where(names.org_id == tx.org_id, condition)
        .order_by(run_history.c.ordinal.desc())
        .limit(limit)
    )
    return [_run_row(row, row.dataset_name) for row in rows]


def _run_row(row: Any, dataset: DatasetName) -> RunRow:
    fields = row._mapping
    given = json.loads(fields["parameters"])
    return RunRow(
        dataset=dataset,
        window=given.get("window"),
        replay=given.get("replay"),
        move=_MOVES.get(fields["kind"], MoveKind.PUBLISH),
        damaged="" if fields["failed"] is None else _damaged(fields["failed"]),
        **{key: fields[key] for key in _STORED},
    )


def _damaged(result: str) -> str:
    error = json.loads(result).get("error") or {}
    return str(error.get("damaged", ""))


def _storable(text: str | None) -> str | None:
    """PostgreSQL text cannot hold NUL."""
    return None if text is None else text.replace("\0", "\N{REPLACEMENT CHARACTER}")
