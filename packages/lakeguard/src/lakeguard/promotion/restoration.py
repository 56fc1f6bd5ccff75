"""Completing a rollback: the pointer goes back, no new version is made."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.decisions import decision_by_id, record_promotion
from lakeguard.ledger.versions import move_pointer
from lakeguard.promotion.deciding import from_layer
from lakeguard.promotion.ending import end_run
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.commits import Commit
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import Intent, RunResult
from lakeguard_sdk.words import MoveKind, PromotionState, RunStatus


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
    order = RollbackOrder.from_json(task.parameters)
    decision = decision_by_id(connection, heart.org_id, intent.decision_id, intent.dataset)
    move_pointer(
        connection,
        heart.org_id,
        intent.dataset_id,
        version=order.version,
        commit=commit.version,
        kind=MoveKind.ROLLBACK,
        at=heart.clock(),
        actor=order.actor,
        reason=order.reason,
        decision_id=intent.decision_id,
    )
    record_promotion(
        connection, heart.org_id, decision, from_layer(dataset.definition), PromotionState.PROMOTED
    )
    return end_run(
        connection,
        heart,
        task,
        dataset,
        RunStatus.SUCCESS,
        decision=decision,
        version=order.version,
    )
