"""Completing a move that makes no version: the pointer moves, and the run ends."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.decisions import decision_by_id
from lakeguard.ledger.promotions import record_promotion
from lakeguard.ledger.versions import move_pointer
from lakeguard.promotion.context import Heart
from lakeguard.promotion.records.end_run import end_run
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.run import Intent, RunResult


def show_version(
    connection: Connection,
    heart: Heart,
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
    decision = decision_by_id(connection, heart.org_id, intent.decision_id, intent.dataset)
    move_pointer(
        connection,
        heart.org_id,
        intent.dataset_id,
        version=version,
        commit=commit.version,
        kind=intent.kind,
        at=heart.clock(),
        actor=actor,
        reason=reason,
        decision_id=intent.decision_id,
    )
    record_promotion(connection, heart.org_id, decision)
    return end_run(
        connection, heart, task, dataset, RunStatus.SUCCESS, decision=decision, version=version
    )
