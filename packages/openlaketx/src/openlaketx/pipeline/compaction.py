"""Compaction of a table, without Spark."""

from __future__ import annotations

import logging

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult
from lakeguard_sdk.model.table_operations import CompactionPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.storage import storage_for
from openlaketx.compact import rewrite
from openlaketx.engine.file_check import checking_files
from openlaketx.pipeline.failures import failure_of, lost_store
from openlaketx.pipeline.lease import Lease, hold_lease
from openlaketx.publish import commit_publish
from openlaketx.stage.run_staging import compaction_staging

_LOG = logging.getLogger("openlaketx")


def compact_if_needed(
    plan: RunPlan, client: WorkerClient, progress: Progress | None = None
) -> None:
    """Merge the table's small files if there are too many, whatever the run's result.

    A failure is reported to ``progress`` or logged. The published version is not affected.
    """
    try:
        task_id = client.runs.due_compaction(plan.ticket)
        if task_id is None:
            return
        if progress:
            progress("compact", {})
        reason = _problem(run_compaction(task_id, client))
    except Exception as error:  # noqa: BLE001 - the version is published, whatever the error
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
    if reason:
        if progress:
            progress("uncompacted", {"dataset": plan.dataset, "reason": reason})
        else:
            _LOG.warning("compaction of %s failed: %s", plan.dataset, reason)


def run_compaction(task_id: str, client: WorkerClient) -> RunResult:
    """Run a requested compaction."""
    opened = client.runs.open_compaction(task_id, this_process("openlaketx"))
    if isinstance(opened, RunResult):
        return opened
    try:
        with (
            checking_files(client.reader),
            compaction_staging(opened),
            hold_lease(client.runs, opened.ticket, opened.lease_seconds, lambda: None) as lease,
        ):
            return _compact(opened, client, lease)
    except KeyboardInterrupt:
        client.runs.fail_run(opened.ticket, Failure(code="LG-0000", message="interrupted"))
        raise
    except Exception as error:  # noqa: BLE001 - the run must end, whatever the error
        cause = lost_store(error, opened.location) or error
        return client.runs.fail_run(opened.ticket, failure_of(cause))


def _compact(plan: CompactionPlan, client: WorkerClient, lease: Lease) -> RunResult:
    storage = storage_for(plan.location)
    compacted = rewrite(plan, storage, lease.check)
    if compacted is None:
        return client.runs.finish_unchanged(plan.ticket)
    lease.check()
    intent = client.runs.submit_compaction(plan.ticket, compacted)
    lease.check()
    return client.runs.complete_move(plan.ticket, commit_publish(intent, storage))


def _problem(result: RunResult) -> str:
    if result.status is RunStatus.SUCCESS:
        return ""
    return result.error.message if result.error else result.status.value
