"""Reaps dead runs. A move is never ended by a timeout alone: the fence decides."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy.exc import IntegrityError

from lakeguard.dispatch import tasks
from lakeguard.dispatch.attempt_ends import REPORTED_KINDS
from lakeguard.dispatch.leases import (
    cause_of_death,
    end_lapsed,
    end_unstarted,
    find_lapsed,
)
from lakeguard.dispatch.report import LONGEST_MESSAGE
from lakeguard.dispatch.task_list import show_task
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.intents import intent_of_run, outcome_of
from lakeguard.ledger.runs import result_of_run
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import log_trouble
from lakeguard.promotion.opening.input_damage import DAMAGE_CODES, note_damage_of_inputs
from lakeguard.promotion.opening.log_check import log_damage
from lakeguard.promotion.publishing.complete_move import give_up, leave_open, settle
from lakeguard.promotion.records.end_run import end_run
from lakeguard.registry.store import dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import (
    CommitMismatch,
    Fenced,
    LakeGuardError,
    StateError,
    TableUnreadable,
)
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import (
    AbandonedAttempt,
    Failure,
    Intent,
    RunResult,
    RunTicket,
    failure_of,
)
from lakeguard_sdk.security.secret_values import without_credentials
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.file_records import suggests_damage


def fail_run(context: PlaneContext, ticket: RunTicket, failure: Failure) -> RunResult:
    """End the attempt as FAILED, or as a success if its commit already landed. The message may
    come from sources, drivers and builds: credentials in it are masked, and it is truncated."""
    message = without_credentials(failure.message)
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 1] + "…"
    failure = failure.model_copy(update={"message": message})
    with context.write() as tx:
        task = tasks.require_holder(tx, ticket)
        ended = end_without_move(tx, context, task, failure)
    result = ended if isinstance(ended, RunResult) else end_move(context, ended, failure)
    if failure.code in DAMAGE_CODES or suggests_damage(failure.message):
        note_damage_of_inputs(context, ticket.run_id)  # may hash all files: the run is over by then
    return result


@dataclass(frozen=True)
class Reaped:
    """Ended runs, and those that could not be ended."""

    runs: list[RunResult] = field(default_factory=list)
    """Runs of datasets."""
    builds: list[Task] = field(default_factory=list)
    """Their tasks before the end, in the same order."""
    reported: list[Task] = field(default_factory=list)
    """Attempts of jobs without a dataset."""
    unstarted: list[tuple[Task, str]] = field(default_factory=list)
    """Tasks whose process ended before it began them, and why they were canceled."""
    problems: list[str] = field(default_factory=list)


def reap(context: PlaneContext) -> list[AbandonedAttempt]:
    """Like ``end_dead``, and reports what was ended."""
    found = end_dead(context)
    if not found.builds and not found.reported and not found.unstarted:
        return []
    with context.read() as tx:
        return [
            *(
                _abandoned(tx, task, run.version)
                for task, run in zip(found.builds, found.runs, strict=True)
            ),
            *(_abandoned(tx, task) for task in found.reported),
            *(_abandoned(tx, task, reason=reason) for task, reason in found.unstarted),
        ]


def _abandoned(
    tx: Transaction, task: Task, version: int | None = None, reason: str = ""
) -> AbandonedAttempt:
    row = show_task(tx, task.task_id)
    run_id = None if task.is_unstarted else str(task.run_id)
    return AbandonedAttempt(
        task_id=task.task_id,
        run_id=run_id,
        name=row.job or row.dataset or task.dataset_id,
        worker=task.worker,
        begun_at=task.created_at if run_id is None else tasks.started_at(tx, run_id),
        lease_expires_at=task.lease_expires_at,
        reason=reason or cause_of_death(task, tx.now()) or "",
        state=row.state,
        version=version,
    )


def end_dead(context: PlaneContext) -> Reaped:
    """End every attempt whose lease expired or whose local process is gone, and every task that
    such a process submitted and did not begin.

    An attempt that cannot be ended now (unreadable table) is reported and does not stop others.
    """
    with context.read() as tx:
        running = tasks.running_tasks(tx)
    reached("reap.judged")
    found = Reaped(reported=reap_reported(context), unstarted=_reap_unstarted(context))
    for task in running:
        if task.kind not in REPORTED_KINDS and cause_of_death(task, context.clock()) is not None:
            try:
                ended = _reap_one(context, task)
            except StateError:
                raise
            except (LakeGuardError, OSError) as error:
                found.problems.append(f"run {task.run_id} could not be ended: {error}")
                continue
            found.runs.extend(ended)
            found.builds.extend([task] * len(ended))
    return found


def reap_reported(context: PlaneContext) -> list[Task]:
    """End dead attempts of jobs without a dataset."""
    with context.read() as tx:
        if not find_lapsed(tx, tx.now()):
            return []
    return context.transact(lambda tx: end_lapsed(tx, rules=context.dispatch))


def _reap_unstarted(context: PlaneContext) -> list[tuple[Task, str]]:
    with context.read() as tx:
        at = tx.now()
        if not any(cause_of_death(task, at) for task in tasks.unstarted_tasks(tx)):
            return []
    return context.transact(end_unstarted)


def _reap_one(context: PlaneContext, seen: Task) -> list[RunResult]:
    """Check again in the ending transaction: the run may have progressed since."""

    def end(tx: Transaction) -> tuple[RunResult | Intent, Failure] | None:
        task = tasks.get_task(tx, seen.task_id)
        reason = cause_of_death(task, tx.now())
        if (task.run_id, task.state) != (seen.run_id, TaskState.RUNNING) or reason is None:
            return None
        failure = failure_of(Fenced(run=task.run_id, reason=reason))
        return end_without_move(tx, context, task, failure), failure

    done = context.transact(end)
    if done is None:
        return []
    ended, failure = done
    return [ended if isinstance(ended, RunResult) else end_move(context, ended, failure)]


def end_without_move(
    tx: Transaction, context: PlaneContext, task: Task, failure: Failure, *, canceled: bool = False
) -> RunResult | Intent:
    """Fail the run if it has no open intent in this transaction; else return the intent."""
    run_id = str(task.run_id)
    known = result_of_run(tx, run_id)
    if known is not None:
        return known
    intent = intent_of_run(tx, run_id)
    if intent is not None and outcome_of(tx, intent.intent_id) is None:
        return intent
    dataset = dataset_by_id(tx, task.dataset_id)
    return end_run(tx, context, task, dataset, RunStatus.FAILED, error=failure, canceled=canceled)


def end_move(
    context: PlaneContext, intent: Intent, failure: Failure, *, canceled: bool = False
) -> RunResult:
    """The commit that holds the intent's number decides how the run ended; on a damaged log, which
    can hold none, it fails at once.

    Uses the table's current location: the lake may have been moved.
    """
    with context.read() as tx:
        dataset, published = dataset_by_id(tx, intent.dataset_id), pointer(tx, intent.dataset_id)
    here = intent.model_copy(update={"location": context.location_of(dataset)})
    try:
        commit = context.tables.fence(here)
    except TableUnreadable:
        damage = log_damage(context, dataset, None if published is None else published.commit)
        if damage is None:
            raise
        trouble = log_trouble(dataset, damage)
        error = TableUnreadable(
            dataset=dataset.name, location=here.location, reason=trouble.message
        )
        own = failure if canceled else failure_of(error)
        return leave_open(context, here, own, trouble, canceled=canceled)
    try:
        return settle(context, here, commit, failure, canceled=canceled)
    except IntegrityError as error:
        return give_up(context, here, _not_taken(here, commit, error), commit, canceled=canceled)


def _not_taken(intent: Intent, commit: Commit, refusal: IntegrityError) -> Failure:
    why = next(iter(str(refusal.orig).splitlines()), "it contradicts what is known")
    difference = f"the State refuses it: {why}"
    return failure_of(
        CommitMismatch(commit=commit.version, dataset=intent.dataset, difference=difference)
    )
