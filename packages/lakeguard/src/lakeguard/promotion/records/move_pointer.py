"""Completing a move that makes no version: the pointer moves, and the run ends."""

from __future__ import annotations

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.decisions import decision_by_id
from lakeguard.ledger.promotions import record_promotion
from lakeguard.ledger.versions import move_pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.records.end_run import end_run
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import Intent, RunResult


def show_version(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    dataset: RegisteredDataset,
    intent: Intent,
    commit: Commit,
    *,
    version: int,
    actor: str,
    reason: str,
) -> RunResult:
    """The version is shown by the commit from now on; no new one is made."""
    decision = decision_by_id(tx, intent.decision_id, intent.dataset)
    move_pointer(
        tx,
        intent.dataset_id,
        version=version,
        commit=commit.version,
        kind=intent.kind,
        at=tx.now(),
        actor=actor,
        reason=reason,
        decision_id=intent.decision_id,
    )
    record_promotion(tx, decision)
    return end_run(
        tx, context, task, dataset, RunStatus.SUCCESS, decision=decision, version=version
    )
