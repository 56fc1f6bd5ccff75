"""What has happened to a run so far, from the facts about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Row, Select, and_, select

from lakeguard.state.schema import (
    decisions,
    intent_outcomes,
    intents,
    run_history,
    run_openings,
    run_schemas,
    task_attempts,
    task_results,
    task_transitions,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.model.read_models import RunEvent, RunEventKind


def run_events(tx: Transaction, run_id: str) -> list[RunEvent] | None:
    """In the order of their kinds; None if there is no such run."""
    row = tx.execute(_facts_about(tx.org_id, run_id)).first()
    return None if row is None else list(_events(row))


def _facts_about(org_id: str, run_id: str) -> Select[Any]:
    """One row: each fact exists at most once for a run."""
    attempt, gone = task_attempts.c, task_transitions.c
    left = and_(
        gone.task_id == attempt.task_id,
        gone.attempt == attempt.attempt,
        gone.from_state == TaskState.RUNNING.value,
    )
    query = select(
        attempt.started_at,
        run_openings.c.opened_at,
        run_schemas.c.submitted_at,
        decisions.c.decided_at,
        decisions.c.verdict,
        intents.c.opened_at.label("moving_at"),
        intents.c.kind.label("move"),
        intent_outcomes.c.closed_at,
        intent_outcomes.c.outcome,
        run_history.c.end_time,
        run_history.c.status,
        run_history.c.error_code,
        task_results.c.ended_at,
        task_results.c.status.label("reported"),
        task_results.c.error_code.label("reported_code"),
        gone.at.label("left_at"),
        gone.to_state,
        gone.code.label("left_code"),
    ).select_from(task_attempts)
    for table in (run_openings, run_schemas, decisions, intents, run_history, task_results):
        query = query.outerjoin(table, table.c.run_id == attempt.run_id)
    query = query.outerjoin(intent_outcomes, intent_outcomes.c.intent_id == intents.c.intent_id)
    query = query.outerjoin(task_transitions, left)
    return query.where(attempt.org_id == org_id, attempt.run_id == run_id).order_by(gone.number)


def _events(row: Row[Any]) -> Iterator[RunEvent]:
    kinds = RunEventKind
    for kind, at, detail in (
        (kinds.STARTED, row.started_at, ""),
        (kinds.OPENED, row.opened_at, ""),
        (kinds.SCHEMA, row.submitted_at, ""),
        (kinds.DECIDED, row.decided_at, row.verdict),
        (kinds.MOVING, row.moving_at, row.move),
        (kinds.MOVED, row.closed_at, row.outcome),
    ):
        if at is not None:
            yield RunEvent(kind=kind, at=at, detail=detail)
    for at, status, code in (
        (row.end_time, row.status, row.error_code),
        (row.ended_at, row.reported, row.reported_code),
        (row.left_at, row.to_state, row.left_code),
    ):
        if at is not None:
            yield RunEvent(kind=kinds.ENDED, at=at, detail=status, code=code or "")
            return
