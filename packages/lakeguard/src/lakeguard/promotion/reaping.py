"""Ending runs that did not end themselves. No clock kills a move: the fence decides."""

from __future__ import annotations

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.intents import intent_of_run, outcome_of
from lakeguard.ledger.runs import result_of_run
from lakeguard.promotion.completing import give_up, settle
from lakeguard.promotion.ending import end_run
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import dataset_by_id
from lakeguard_sdk.commits import Commit
from lakeguard_sdk.errors import CommitMismatch, Fenced, LakeGuardError, StateError
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.processes import is_gone
from lakeguard_sdk.run import Failure, Intent, RunResult, RunTicket
from lakeguard_sdk.words import RunStatus, TaskState


def fail_run(heart: Heart, ticket: RunTicket, failure: Failure) -> RunResult:
    """End the attempt as FAILED, unless its commit already stands: then it is a success."""
    with heart.database.write() as connection:
        task = tasks.require_holder(connection, heart.org_id, ticket)
        ended = _end_without_move(connection, heart, task, failure)
    return ended if isinstance(ended, RunResult) else _end_move(heart, ended, failure)


def reap(heart: Heart) -> list[RunResult]:
    """End every attempt whose lease is over or whose process on this machine is gone.

    What cannot be ended now, as of a table that cannot be read, stays as it is and stops no other.
    """
    with heart.database.read() as connection:
        running = tasks.running_tasks(connection, heart.org_id)
    reached("reap.judged")
    ended = []
    for task in running:
        if _cause_of_death(heart, task) is not None:
            try:
                ended += _reap_one(heart, task)
            except StateError:
                raise
            except (LakeGuardError, OSError):
                continue
    return ended


def _reap_one(heart: Heart, seen: Task) -> list[RunResult]:
    """Judge again in the transaction that ends it: the run may have moved on since."""
    with heart.database.write() as connection:
        task = tasks.get_task(connection, heart.org_id, seen.task_id)
        reason = _cause_of_death(heart, task)
        if (task.run_id, task.state) != (seen.run_id, TaskState.RUNNING) or reason is None:
            return []
        error = Fenced(run=task.run_id, reason=reason)
        failure = Failure(code=error.code, message=str(error))
        ended = _end_without_move(connection, heart, task, failure)
    return [ended if isinstance(ended, RunResult) else _end_move(heart, ended, failure)]


def _cause_of_death(heart: Heart, task: Task) -> str | None:
    if task.worker is not None and is_gone(task.worker):
        return f"its process {task.worker.pid} on {task.worker.host} is gone"
    return "its lease is over" if tasks.lease_over(task, heart.clock()) else None


def _end_without_move(
    connection: Connection, heart: Heart, task: Task, failure: Failure
) -> RunResult | Intent:
    """FAILED, if the run has no open intent in this very transaction; else that intent."""
    run_id = str(task.run_id)
    known = result_of_run(connection, heart.org_id, run_id)
    if known is not None:
        return known
    intent = intent_of_run(connection, run_id)
    if intent is not None and outcome_of(connection, intent.intent_id) is None:
        return intent
    dataset = dataset_by_id(connection, heart.org_id, task.dataset_id)
    return end_run(connection, heart, task, dataset, RunStatus.FAILED, error=failure)


def _end_move(heart: Heart, intent: Intent, failure: Failure) -> RunResult:
    """Whoever holds the intent's number on the table decides how the run ended.

    The table is where it is now: the lake may have been moved since.
    """
    with heart.database.read() as connection:
        dataset = dataset_by_id(connection, heart.org_id, intent.dataset_id)
    here = intent.model_copy(update={"location": heart.location_of(dataset)})
    if not heart.tables.exists(here.location):
        return give_up(heart, here, failure)
    commit = heart.tables.fence(here)
    try:
        return settle(heart, here, commit, failure)
    except IntegrityError as error:
        return give_up(heart, here, _not_taken(here, commit, error), commit)


def _not_taken(intent: Intent, commit: Commit, refusal: IntegrityError) -> Failure:
    why = next(iter(str(refusal.orig).splitlines()), "it contradicts what is known")
    error = CommitMismatch(
        commit=commit.version, dataset=intent.dataset, difference=f"the State refuses it: {why}"
    )
    return Failure(code=error.code, message=str(error))
