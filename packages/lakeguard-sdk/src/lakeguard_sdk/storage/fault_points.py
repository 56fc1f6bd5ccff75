"""Named points of the protocol where tests can stop a process.

There are no listeners in production: a point costs iterating an empty list.
"""

from __future__ import annotations

from collections.abc import Callable

POINTS = (
    "task.submitted",
    "task.claimed",
    "task.canceling",
    "run.opened",
    "job.started",
    "job.reporting",
    "job.reported",
    "schema.submitted",
    "stage.written",
    "quarantine.written",
    "measure.taken",
    "decision.recorded",
    "intent.recorded",
    "table.created",
    "publish.before_commit",
    "publish.committed",
    "publish.synced",
    "complete.before",
    "complete.recorded",
    "compact.written",
    "adopt.measured",
    "adopt.before_commit",
    "adopt.committed",
    "quarantine.before_commit",
    "quarantine.discarded",
    "maintain.recorded",
    "maintain.removed",
    "deliver.written",
    "deliver.manifest",
    "deliver.staged",
    "deliver.marked",
    "deliver.committed",
    "reap.judged",
    "fence.before_commit",
    "fence.committed",
    "restore.before_commit",
    "restore.committed",
    "apply.written",
    "apply.committed",
    "state.named",
    "relay.stamped",
    "ledger.written",
    "ledger.committed",
    "ledger.rows_sent",
    "relay.sent",
    "file.written",
    "relay.owner_updated",
    "relay.marked",
    "rebuild.filled",
    "rebuild.owner_updated",
    "graph.activated",
    "notification.sent",
    "notification.recorded",
    "trigger.launched",
    "trigger.moved",
    "trigger.committed",
    "report.written",
    "report.recorded",
    "stream.published",
    "records.appended",
    "records.synced",
    "records.created",
    "records.projected",
    "records.placed",
    "records.indexed",
)

_listeners: list[Callable[[str], None]] = []


def reached(point: str) -> None:
    for listener in _listeners:
        listener(point)


def listen(listener: Callable[[str], None]) -> Callable[[], None]:
    """Calls ``listener`` at every point; returns a function that unregisters it."""
    _listeners.append(listener)
    return lambda: _listeners.remove(listener)
