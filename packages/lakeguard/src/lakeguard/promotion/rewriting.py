"""Completing a compaction: the version stays, and the pointer names the commit that shows it."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.decisions import decision_by_id, record_promotion
from lakeguard.ledger.versions import move_pointer, pointer
from lakeguard.promotion.deciding import from_layer
from lakeguard.promotion.ending import end_run
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.commits import Commit
from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.run import Intent, RunResult
from lakeguard_sdk.words import MoveKind, PromotionState, RunStatus


def publish_compacted(
    connection: Connection,
    heart: Heart,
    task: Task,
    dataset: RegisteredDataset,
    intent: Intent,
    commit: Commit,
) -> RunResult:
    """Nobody moved the pointer since the intent: a table has one open intent at most."""
    published = pointer(connection, intent.dataset_id)
    if published is None:
        raise UnknownVersion(dataset=dataset.name, version="that is published")
    decision = decision_by_id(connection, heart.org_id, intent.decision_id, intent.dataset)
    move_pointer(
        connection,
        heart.org_id,
        intent.dataset_id,
        version=published.version,
        commit=commit.version,
        kind=MoveKind.COMPACTION,
        at=heart.clock(),
        actor=task.triggered_by,
        reason=f"{len(intent.removes)} files became {len(intent.adds)}",
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
        version=published.version,
    )
