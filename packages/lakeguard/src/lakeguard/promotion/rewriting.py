"""Completing a compaction: the version stays, and the pointer names the commit that shows it."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.pointing import show_version
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.commits import Commit
from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.run import Intent, RunResult


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
    return show_version(
        connection,
        heart,
        task,
        dataset,
        intent,
        commit,
        version=published.version,
        actor=task.triggered_by,
        reason=f"{len(intent.removes)} files became {len(intent.adds)}",
    )
