"""Ending runs that did not end themselves. No clock kills a move: the fence decides."""

from __future__ import annotations

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.intents import intent_of_run, outcome_of
from lakeguard.ledger.runs import result_of_run
from lakeguard.promotion.ending import end_run
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.moving import ensure_table, settle
from lakeguard.registry.store import dataset_by_id
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.processes import is_gone
from lakeguard_sdk.run import Failure, Intent, RunResult, RunTicket
from lakeguard_sdk.words import RunStatus, TaskState


def fail_run(heart: Heart, ticket: RunTicket, failure: Failure) -> RunResult:
    """End the attempt as FAILED, unless its commit already stands: then it is a success."""
    with heart.database.read() as connection:
        if not tasks.holds_ticket(connection, heart.org_id, ticket):
            raise Fenced(run=ticket.run_id, reason="another attempt runs")
        known = result_of_run(connection, heart.org_id, ticket.run_id)
        task = tasks.get_task(connection, heart.org_id, ticket.task_id)
    return known or _end(heart, task, failure)


def reap(heart: Heart) -> list[RunResult]:
    """End every attempt whose lease is over or whose process on this machine is gone."""
    with heart.database.read() as connection:
        running = tasks.running_tasks(connection, heart.org_id)
    ended = []
    for task in running:
        reason = _cause_of_death(heart, task)
        if reason is not None:
            error = Fenced(run=task.run_id, reason=reason)
            ended.append(_end(heart, task, Failure(code=error.code, message=str(error))))
    return ended


def _cause_of_death(heart: Heart, task: Task) -> str | None:
    if task.worker is not None and is_gone(task.worker):
        return f"its process {task.worker.pid} on {task.worker.host} is gone"
    return "its lease is over" if tasks.lease_over(task, heart.clock()) else None


def _end(heart: Heart, task: Task, failure: Failure) -> RunResult:
    """FAILED if nothing was committed and nothing ever can be; otherwise adopt the commit."""
    run_id = str(task.run_id)
    with heart.database.read() as connection:
        intent = intent_of_run(connection, run_id)
        closed = None if intent is None else outcome_of(connection, intent.intent_id)
        dataset = dataset_by_id(connection, heart.org_id, task.dataset_id)
    if intent is not None and closed is None:
        return _end_move(heart, intent, failure)
    with heart.database.write() as connection:
        known = result_of_run(connection, heart.org_id, run_id)
        if known is not None:
            return known
        current = tasks.get_task(connection, heart.org_id, task.task_id)
        if (current.run_id, current.state) != (task.run_id, TaskState.RUNNING):
            raise Fenced(run=run_id, reason="another attempt runs")
        return end_run(connection, heart, current, dataset, RunStatus.FAILED, error=failure)


def _end_move(heart: Heart, intent: Intent, failure: Failure) -> RunResult:
    """Whoever holds the intent's number on the table decides how the run ended.

    The table is where it is now: the lake may have been moved since.
    """
    with heart.database.read() as connection:
        dataset = dataset_by_id(connection, heart.org_id, intent.dataset_id)
    ensure_table(heart, dataset, intent.table_schema)
    here = intent.model_copy(update={"location": heart.location_of(dataset)})
    return settle(heart, here, heart.tables.fence(here), failure)
