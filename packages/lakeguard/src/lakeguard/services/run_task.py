"""Run one dataset until it ends, with retries."""

from __future__ import annotations

import time
from collections.abc import Callable

from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.client import Client, Worker
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.model.quarantine import QuarantineEntry, QuarantineSelection, QuarantineState
from lakeguard_sdk.model.run import RunResult, Window

BACKOFF = Backoff(first=0.5, longest=8.0)


def run_to_end(
    client: Client,
    worker: Worker,
    name: DatasetName,
    triggered_by: str,
    *,
    window: Window | None = None,
    task_id: str | None = None,
    sleep: Callable[[float], object] = time.sleep,
    note: Callable[[str], None] = lambda _: None,
) -> RunResult:
    """Submits a task, or takes the given one, and runs it; retryable failures are retried while
    attempts are left. If another process ended the run, the task's state is noted."""
    task_id = task_id or client.operations.submit(name, triggered_by, window=window)
    for pause in BACKOFF.delays():
        result = worker.run_task(task_id)
        if not _worth_another(result) or not client.operations.requeue(task_id):
            break
        code = result.error.code if result.error else ""
        note(f"{name}: {code}, retrying in {pause:g} s")
        sleep(pause)
    if result.error is not None and result.error.code == Fenced.code:
        state = client.jobs.task(task_id).state
        show = f"lakeguard tasks show {task_id}"
        note(f"{name}: its task {task_id} is now {state}; to follow it: {show}")
    return result


def _worth_another(result: RunResult) -> bool:
    failed = result.status is RunStatus.FAILED
    return failed and result.error is not None and result.error.retryable


def quarantined_by(client: Client, result: RunResult) -> list[QuarantineEntry]:
    """Rows quarantined by the run, per rule; empty if it published nothing."""
    if result.version is None:
        return []
    quarantined = client.reader.quarantine(result.dataset)
    return [row for row in quarantined if row.run_id == result.run_id]


def rows_in_quarantine(client: Client, name: DatasetName, choice: QuarantineSelection) -> int:
    """Number of selected rows in quarantine."""
    waiting = (
        row for row in client.reader.quarantine(name) if row.state is QuarantineState.QUARANTINED
    )
    return sum(row.rows for row in waiting if choice.takes(row.run_id, row.rule_id))


def published_version(client: Client, name: DatasetName) -> int | None:
    """The currently published version."""
    return published_versions(client).get(name)


def published_versions(client: Client) -> dict[DatasetName, int | None]:
    """The currently published version of every dataset."""
    return {item.dataset.dataset_name: item.published for item in client.reader.status()}
