"""Loops of the dispatcher besides its triggers: cleanup, retries, invalidations, events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlalchemy import func, select

from lakeguard.dispatch.retry import queue_due_retries
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.reap import end_dead
from lakeguard.promotion.quarantine.quarantine_tables import sync_quarantine_tables
from lakeguard.scheduler.graph.deploy import cancel_superseded
from lakeguard.scheduler.invalidations.reconcile import reconcile
from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.scheduler.triggers.tick import Loop
from lakeguard.state.schema import task_attempts, tasks
from lakeguard_sdk.core.enums import TaskState
from lakeguard_sdk.scheduling.jobs import Ticked

GRAPHS = "dispatcher:graphs"
ENDS = "dispatcher:ends"
RETRIES = "dispatcher:retries"


def other_loops(
    context: PlaneContext, send_events: Callable[[], int] | None, runs: KnownRuns
) -> Iterator[Loop]:
    """In the order of a tick: ended tasks are retried before invalidations are reconciled.
    ``send_events`` sends pending events and returns how many; None where others send them."""
    yield "graphs", lambda: _superseded(context)
    yield "ends", lambda: _ended(context)
    yield "retries", lambda: _retried(context)
    yield "invalidations", lambda: Ticked(invalidated=reconcile(context, runs))
    yield "quarantined rows", lambda: _shown(context)
    if send_events is not None:
        yield "events", lambda: Ticked(notified=send_events())


def _superseded(context: PlaneContext) -> Ticked:
    """Cancels tasks of superseded graphs."""
    found = cancel_superseded(replace(context, actor=GRAPHS))
    return Ticked(reaped=len(found.canceled), problems=tuple(found.problems))


def _ended(context: PlaneContext) -> Ticked:
    """Ends dead attempts."""
    found = end_dead(replace(context, actor=ENDS))
    dead = sum(task.state is TaskState.DEAD for task in found.reported)
    if found.runs:
        with context.read() as tx:
            dead += tx.scalars(
                select(func.count())
                .select_from(task_attempts)
                .join(tasks, tasks.c.run_id == task_attempts.c.run_id)
                .where(
                    tasks.c.task_id == task_attempts.c.task_id,
                    tasks.c.org_id == tx.org_id,
                    task_attempts.c.run_id.in_([run.run_id for run in found.runs]),
                    tasks.c.state == TaskState.DEAD.value,
                )
            ).one()
    reaped = len(found.reported) + len(found.runs) + len(found.unstarted)
    return Ticked(reaped=reaped, dead=dead, problems=tuple(found.problems))


def _retried(context: PlaneContext) -> Ticked:
    """Queues failed tasks whose backoff is over."""
    queued = context.transact(lambda tx: queue_due_retries(tx, RETRIES, context.dispatch))
    return Ticked(retried=len(queued))


def _shown(context: PlaneContext) -> Ticked:
    """Repairs quarantine tables that a crash left out of date."""
    sync_quarantine_tables(context)
    return Ticked()
