"""Completing a rollback: the pointer goes back, no new version is made."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.dispatch.tasks import Task
from lakeguard.promotion.drifting import take_back_drift
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.pointing import show_version
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.commits import Commit
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import Intent, RunResult


class RollbackOrder(Noun):
    """What an operator asked for; it travels as the task's parameters."""

    version: int
    reason: str
    actor: str


def publish_restored(
    connection: Connection,
    heart: Heart,
    task: Task,
    dataset: RegisteredDataset,
    intent: Intent,
    commit: Commit,
) -> RunResult:
    """The version is shown again; what only later data brought leaves the definition."""
    order = RollbackOrder.from_json(task.parameters)
    reason = f"rolled back to v{order.version}"
    take_back_drift(connection, heart, dataset, intent.table_schema, reason)
    return show_version(
        connection,
        heart,
        task,
        dataset,
        intent,
        commit,
        version=order.version,
        actor=order.actor,
        reason=order.reason,
    )
