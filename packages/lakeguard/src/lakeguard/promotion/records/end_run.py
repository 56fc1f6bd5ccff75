"""The one place where a run gets its terminal row."""

from __future__ import annotations

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.runs import record_run
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.records.alerts import alert_on_failure
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import Failure, RunResult


def end_run(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    dataset: RegisteredDataset,
    status: RunStatus,
    *,
    decision: Decision | None = None,
    version: int | None = None,
    rows: int | None = None,
    inputs: tuple[InputVersion, ...] = (),
    error: Failure | None = None,
    canceled: bool = False,
) -> RunResult:
    """Write the attempt's row and close its task, in the caller's transaction.

    What is ``canceled`` is not tried again by itself.
    """
    if task.run_id is None:
        raise ValueError(f"task {task.task_id} has no attempt to end")
    result = RunResult(
        run_id=task.run_id,
        dataset=dataset.name,
        status=status,
        version=version,
        rows=rows,
        inputs=inputs,
        error=error,
        decision=decision,
        ended_at=tx.now(),
    )
    record_run(
        tx,
        result,
        dataset_id=dataset.dataset_id,
        task_id=task.task_id,
        attempt=task.attempt,
        started_at=tasks.started_at(tx, task.run_id),
        triggered_by=task.triggered_by,
    )
    tasks.finish(
        tx, task, status, error, at=result.ended_at, rules=context.dispatch, canceled=canceled
    )
    alert_on_failure(tx, context, task, dataset, result)
    return result
