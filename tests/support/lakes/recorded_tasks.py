"""Tasks of a job that builds no dataset, row by row: ended by reports, refused, and canceled."""

from __future__ import annotations

from typing import Any

from lakeguard.state import schema as t
from lakeguard.state.transaction import Transaction
from tests.support.lakes.recorded_definitions import add, minute

EXECUTIONS: list[tuple[Any, ...]] = [
    ("run_5", "job_2", minute(50), minute(55), "COMPLETED", None, None, "tsk_5", 1, "terms"),
    ("run_6", "job_2", minute(60), minute(65), "FAILED", "SWEEP-7", None, "tsk_6", 1, "terms"),
    ("run_7", "job_2", minute(70), None, "STARTED", None, None, "tsk_6", 2, "terms"),
    ("tsk_8", "job_2", minute(80), minute(80), "FAILED", "LG-3321", None, "tsk_8", 0, None),
    ("tsk_9", "job_2", minute(90), minute(91), "FAILED", "CANCELED", None, "tsk_9", 0, None),
    ("tsk_9.4", "job_2", minute(92), minute(93), "FAILED", "CANCELED", None, "tsk_9", 0, None),
]  # fmt: skip
"""What is shown of them, without the organisation."""


def launch(tx: Transaction) -> None:
    """One completed, one failed and tried again, one refused at launch, and one canceled, queued
    again and canceled again before anybody took it."""
    for n, kind in ((5, "python"), (6, "http"), (8, "python"), (9, "python")):
        add(tx, t.tasks, _task(n, kind))
    for n, task, attempt in ((5, 5, 1), (6, 6, 1), (7, 6, 2)):
        row = {"task_id": f"tsk_{task}", "attempt": attempt, "run_id": f"run_{n}"}
        begun = {"started_at": minute(10 * n), "worker": "w", "config_hash": "terms"}
        add(tx, t.task_attempts, {**row, **begun})
    add(tx, t.task_results, _result(5, "SUCCESS"), _result(6, "FAILED", "SWEEP-7"))
    _change(tx, 8, 1, None, "blocked", 80, code="LG-3321", message="no")
    _change(tx, 9, 1, None, "queued", 90)
    _change(tx, 9, 2, "queued", "canceled", 91)
    _change(tx, 9, 3, "canceled", "queued", 92)
    _change(tx, 9, 4, "queued", "canceled", 93)


def _task(n: int, kind: str) -> dict[str, Any]:
    return {
        "task_id": f"tsk_{n}",
        "kind": kind,
        "dataset_id": "job_2",
        "dedupe_key": f"key {n}",
        "parameters": "{}",
        "triggered_by": "manual",
        "created_at": minute(10 * n),
        "max_attempts": 3,
        "state": "queued",
        "attempt": 0,
        "job_id": "job_2",
        "priority": 0,
        "labels": "",
        "changes": 1,
    }


def _result(n: int, status: str, code: str | None = None) -> dict[str, Any]:
    return {
        "run_id": f"run_{n}",
        "task_id": f"tsk_{n}",
        "attempt": 1,
        "status": status,
        "error_code": code,
        "error_message": code,
        "ended_at": minute(10 * n + 5),
        "report_hash": "hash",
        "answer": "{}",
    }


def _change(
    tx: Transaction, n: int, number: int, before: str | None, after: str, at: int, **why: str
) -> None:
    row = {"task_id": f"tsk_{n}", "number": number, "attempt": 0, "at": minute(at)}
    states = {"from_state": before, "to_state": after, "actor": "somebody"}
    add(tx, t.task_transitions, {**row, **states, "code": None, "message": None, **why})
