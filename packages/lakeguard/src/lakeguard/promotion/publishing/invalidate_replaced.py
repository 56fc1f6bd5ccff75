"""Invalidates dependents of replaced data, in the transaction of the move."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy import select

from lakeguard.dispatch.task_list import not_over
from lakeguard.dispatch.tasks import Task
from lakeguard.gate.schema.types import grows_into
from lakeguard.ledger.invalidations import (
    Progress,
    is_read_by_others,
    open_invalidations,
    progress_of,
    record_invalidation,
    record_progress,
)
from lakeguard.ledger.partitions import partitions_at
from lakeguard.ledger.versions import require_version
from lakeguard.promotion.publishing.partition_states import Partitions
from lakeguard.promotion.records.open_runs import OpenRun
from lakeguard.registry.queries import current_datasets
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.schema import dataset_registry, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import LoadType, TaskKind
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.row_ranges import WHOLE, RowRange, lies_within
from lakeguard_sdk.scheduling.invalidations import Reason, Standing
from lakeguard_sdk.types.schema import TableSchema

MOST_NAMED = 1000
"""Above this many partitions the whole dataset is invalidated."""


def invalidate_replaced(
    tx: Transaction, run: OpenRun, version: int, found: Partitions | None
) -> None:
    """Invalidate after a back-fill, replaced partitions, or a changed or dropped column.

    A load that always replaces the whole table invalidates nothing: dependents read it anew.
    """
    base = run.plan.base
    if base is None:
        return
    before = require_version(tx, run.dataset.dataset_id, base.version)
    if _breaks(before.table_schema, run.plan.table_schema):
        reach, reason = WHOLE, Reason.SCHEMA_CHANGE
    else:
        replaced = _replaced(run, found)
        if replaced is None:
            return
        reach, reason = replaced, Reason.CORRECTION
    _invalidate(tx, run.dataset, run.task, version, reach, reason)


def invalidate_restored(
    tx: Transaction, dataset: RegisteredDataset, task: Task, shown: int | None, version: int
) -> None:
    """Partitions that differ from the previously published version, or all."""
    if shown == version or shown is None:
        return
    before = partitions_at(tx, dataset.dataset_id, shown)
    after = partitions_at(tx, dataset.dataset_id, version)
    changed = [
        key
        for key in {*before, *after}
        if key not in before or key not in after or before[key].version != after[key].version
    ]
    reach = _named(changed) if before and after else WHOLE
    if changed or reach.whole:
        _invalidate(tx, dataset, task, version, reach, Reason.CORRECTION)


def _replaced(run: OpenRun, found: Partitions | None) -> RowRange | None:
    window, load = run.plan.window, run.plan.load
    if isinstance(run.plan.build, QuarantineBuild):
        return None
    if found is None:
        return None if window is None else RowRange(window=window)
    if window is None and load.type is not LoadType.PARTITION:
        return None
    return _named(found.replaced) if found.replaced else None


def _named(keys: Iterable[str]) -> RowRange:
    partitions = tuple(sorted(keys))
    return RowRange(partitions=partitions) if len(partitions) <= MOST_NAMED else WHOLE


def _breaks(before: TableSchema, after: TableSchema) -> bool:
    """Whether a column that others may have read was dropped or changed."""
    types = [(column.type, after.type_of(column.name)) for column in before.columns]
    return any(new is None or not grows_into(old, new) for old, new in types)


def _invalidate(
    tx: Transaction,
    dataset: RegisteredDataset,
    task: Task,
    version: int,
    reach: RowRange,
    reason: Reason,
) -> None:
    """Not if the version was built for an invalidation, which cascades by itself."""
    if not _has_readers(tx, dataset):
        return
    if _is_asked_for(tx, dataset, task, reach):
        return
    at = tx.now()
    made = record_invalidation(
        tx, dataset.dataset_id, reach, reason, at=at, actor=task.triggered_by, caused_by=task.run_id
    )
    own = Progress(dataset.dataset_id, Standing.CAUGHT_UP, task.run_id, version)
    record_progress(tx, made.invalidation_id, [own], at)


def _has_readers(tx: Transaction, dataset: RegisteredDataset) -> bool:
    """Open builds count: they may have pinned the replaced version."""
    if is_read_by_others(tx, dataset.dataset_id):
        return True
    built = select(tasks.c.dataset_id).where(
        tasks.c.org_id == tx.org_id, tasks.c.kind == TaskKind.BUILD.value, not_over()
    )
    query = current_datasets(tx.org_id).where(dataset_registry.c.dataset_id.in_(built))
    found = (DatasetDefinition.from_json(row.definition) for row in tx.execute(query))
    return any(dataset.name in definition.parents for definition in found)


def _is_asked_for(tx: Transaction, dataset: RegisteredDataset, task: Task, reach: RowRange) -> bool:
    cause = json.loads(task.cause) if task.cause else {}
    asked = [cause["details"]["reach"]] if cause.get("kind") == "invalidation" else []
    found = open_invalidations(tx, dataset.dataset_id)
    known = progress_of(tx, [one.invalidation_id for one in found])
    reaches = [RowRange(**one) for one in asked]
    reaches += [one.reach for one in found if dataset.dataset_id not in known[one.invalidation_id]]
    declared = dataset.definition.declared
    return any(lies_within(reach, outer, declared) for outer in reaches)
