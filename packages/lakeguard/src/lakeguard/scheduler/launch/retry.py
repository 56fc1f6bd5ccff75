"""Manual retries of a task: its job must pass the launch gates."""

from __future__ import annotations

from lakeguard.dispatch.retry import require_retryable, retry_task
from lakeguard.dispatch.task_list import require_task
from lakeguard.dispatch.task_row import Task
from lakeguard.ledger.left_graphs import graph_lock, left_graphs
from lakeguard.scheduler.graph.current_jobs import CurrentJob, current_jobs
from lakeguard.scheduler.launch.gate_facts import read_facts
from lakeguard.scheduler.launch.gates import overlapping, refusal
from lakeguard.scheduler.launch.launch import overlap_lock
from lakeguard.state.locks import hold, hold_shared
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.errors import (
    GraphRolledBack,
    JobDisabled,
    JobStillDisabled,
    LaunchRefused,
    NotRetryable,
    NotRunnable,
)
from lakeguard_sdk.scheduling.jobs import Overlap


def retry(tx: Transaction, task_id: str, reason: str) -> Task:
    """Queue the task under the active graph, or refuse; a task without a job has no gates."""
    hold_shared(tx, graph_lock(tx.org_id))
    task = require_task(tx, task_id)
    require_retryable(task)
    refused = None if task.job_id is None else _refused(tx, task, task.job_id)
    if refused is not None:
        raise NotRetryable(task=task_id, reason=str(refused))
    return retry_task(tx, task, reason)


def _refused(tx: Transaction, task: Task, job_id: str) -> LaunchRefused | GraphRolledBack | None:
    if task.dag_version_id is not None:
        left = left_graphs(tx, {task.dag_version_id})
        if task.dag_version_id in left:
            return GraphRolledBack(version=left[task.dag_version_id])
    job = current_jobs(tx, {job_id}).get(job_id)
    if job is None:
        return NotRunnable(problem=f"there is no job {job_id}")
    refused = _by_gates(tx, task, job)
    if isinstance(refused, JobDisabled) and not job.enabled:
        raise JobStillDisabled(task=task.task_id, reason=str(refused), job=job.name)
    return refused


def _by_gates(tx: Transaction, task: Task, job: CurrentJob) -> LaunchRefused | None:
    alone = job.controls.overlap is Overlap.SKIP
    if alone:
        hold(tx, overlap_lock(tx.org_id))
    facts = read_facts(tx, [job], tx.now())
    refused = refusal(job, facts)
    if refused is not None:
        return refused
    # a task waiting for its next attempt counts as the job's open task
    waits = task.state is TaskState.FAILED and task.due_at is not None
    return overlapping(job) if alone and not waits and job.job_id in facts.under_way else None
