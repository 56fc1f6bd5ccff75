"""Completes a rollback: the pointer goes back, no new version is created."""

from __future__ import annotations

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.versions import pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.publishing.invalidate_replaced import invalidate_restored
from lakeguard.promotion.publishing.schema_drift import follow_shown
from lakeguard.promotion.records.alerts import alert_on_rollback
from lakeguard.promotion.records.move_pointer import show_version
from lakeguard.promotion.records.table_findings import note_recovery
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import Intent, RunResult


class RollbackOrder(FrozenModel):
    """The operator's request, stored as task parameters."""

    version: int
    reason: str
    actor: str


def publish_restored(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    dataset: RegisteredDataset,
    intent: Intent,
    commit: Commit,
) -> RunResult:
    """Publish the version again and restore the drifted columns it had: columns of later versions
    leave the definition, those removed by an earlier rollback return."""
    order = RollbackOrder.from_json(task.parameters)
    version = require_version(tx, dataset.dataset_id, order.version)
    before = pointer(tx, dataset.dataset_id)
    follow_shown(tx, context, dataset, version)
    result = show_version(
        tx,
        context,
        task,
        dataset,
        intent,
        commit,
        version=order.version,
        actor=order.actor,
        reason=order.reason,
    )
    note_recovery(tx, context, dataset, f"v{order.version} is shown again", by=order.actor)
    shown = before.version if before else None
    invalidate_restored(tx, dataset, task, shown, order.version)
    alert_on_rollback(tx, context, dataset, result, actor=order.actor, reason=order.reason)
    return result
