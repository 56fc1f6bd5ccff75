"""Read models of partitions and invalidations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import select

from lakeguard.ledger.invalidations import (
    Ended,
    Invalidation,
    Progress,
    every_invalidation,
    progress_of,
    require_invalidation,
)
from lakeguard.ledger.partitions import partitions_at
from lakeguard.ledger.versions import pointer, require_version
from lakeguard.registry.store import RegisteredDataset
from lakeguard.scheduler.invalidations.catch_up import Followed
from lakeguard.scheduler.invalidations.reconcile import (
    Open,
    held_back,
    jobs_by_dataset,
    launched_tasks,
    standing,
    task_key,
)
from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.scheduler.invalidations.withdraw import left_over
from lakeguard.state.schema import dataset_registry
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.model.row_ranges import WHOLE
from lakeguard_sdk.scheduling.invalidations import (
    End,
    Follower,
    InvalidationRow,
    PartitionRow,
    Standing,
)


def partition_rows(
    tx: Transaction, dataset: RegisteredDataset, version: int | None
) -> Sequence[PartitionRow]:
    """Partitions of a version, by default the published one."""
    if version is None:
        published = pointer(tx, dataset.dataset_id)
        if published is None:
            raise UnknownVersion(dataset=dataset.name, version="that is published")
        version = published.version
    require_version(tx, dataset.dataset_id, version)
    found = partitions_at(tx, dataset.dataset_id, version).values()
    return [PartitionRow(**stored.model_dump()) for stored in found]


def invalidation_rows(
    tx: Transaction, name: DatasetName | None, *, every: bool
) -> Sequence[InvalidationRow]:
    """Invalidations, newest first; for a dataset, those that affect it."""
    at = tx.now()
    over = [(one, end) for one, end in every_invalidation(tx) if end] if every else []
    known = progress_of(tx, [one.invalidation_id for one, _ in over])
    builder = _RowBuilder(tx, known, at)
    rows = [builder.ended(one, end, known[one.invalidation_id]) for one, end in over]
    rows += [builder.under_way(one) for one in builder.open]
    chosen = [row for row in rows if name is None or name in _reached(row)]
    return sorted(chosen, key=lambda row: (row.created_at, row.invalidation_id), reverse=True)


def invalidation_row(tx: Transaction, invalidation_id: str) -> InvalidationRow:
    at = tx.now()
    one, end = require_invalidation(tx, invalidation_id)
    if end is not None:
        known = progress_of(tx, [invalidation_id])
        row = _RowBuilder(tx, known, at).ended(one, end, known[invalidation_id])
        left = left_over(tx, invalidation_id) if end.end is End.WITHDRAWN else ()
        return row.model_copy(update={"going_on": tuple(left)})
    builder = _RowBuilder(tx, {}, at)
    found = {item.invalidation.invalidation_id: item for item in builder.open}
    return builder.under_way(found[invalidation_id])


def _reached(row: InvalidationRow) -> set[DatasetName]:
    return {row.dataset, *(item.dataset for item in row.followers)}


class _RowBuilder:
    """Names, jobs and tasks for the rows, loaded once."""

    def __init__(self, tx: Transaction, over: Mapping[str, Collection[str]], at: datetime) -> None:
        """``over``: affected datasets by ended invalidation."""
        self._histories, self.open = standing(tx, KnownRuns())
        self._names = _names(tx)
        self._jobs = jobs_by_dataset(tx, self._histories) if self.open else {}
        reached = {one.invalidation.invalidation_id: one.followed for one in self.open}
        keys: dict[str, list[str]] = {}
        for invalidation_id, datasets in {**over, **reached}.items():
            for dataset_id in datasets:
                keys.setdefault(dataset_id, []).append(task_key(invalidation_id, dataset_id))
        self._tasks = launched_tasks(tx, keys)
        self._held = held_back(tx, self._jobs.values(), at)

    def ended(self, one: Invalidation, end: Ended, known: dict[str, Progress]) -> InvalidationRow:
        followers = tuple(
            Follower(
                dataset=self._names[key],
                standing=item.standing,
                reach=WHOLE,
                version=item.version,
                run_id=item.run_id,
                task_id=self._tasks.get(task_key(one.invalidation_id, key)),
            )
            for key, item in sorted(known.items(), key=lambda pair: self._names[pair[0]])
        )
        details = {"ended_at": end.ended_at, "ended_by": end.actor, "end_why": end.reason}
        return self._row(one, followers).model_copy(update={"end": end.end, **details})

    def under_way(self, one: Open) -> InvalidationRow:
        followers = tuple(self._follower(one.invalidation, item) for item in one.followed.values())
        return self._row(one.invalidation, followers)

    def _follower(self, one: Invalidation, item: Followed) -> Follower:
        made = item.made
        own = made.dataset_id == one.dataset_id
        job = self._jobs.get(made.dataset_id)
        task_id = self._tasks.get(task_key(one.invalidation_id, made.dataset_id))
        launchable = made.standing is Standing.READY and task_id is None
        held = self._held.get(job.job_id) if job is not None and launchable else None
        return Follower(
            dataset=self._names[made.dataset_id],
            standing=made.standing,
            reach=item.reach,
            waits_for=tuple(sorted(self._names[key] for key in item.waits_for)),
            version=made.version,
            run_id=made.run_id,
            job=None if job is None else job.name,
            window=self._histories.window(made.dataset_id, item.reach, own=own),
            held_by=None if held is None else str(held),
            task_id=task_id,
        )

    def _row(self, one: Invalidation, followers: tuple[Follower, ...]) -> InvalidationRow:
        return InvalidationRow(
            invalidation_id=one.invalidation_id,
            dataset=self._names[one.dataset_id],
            reach=one.reach,
            reason=one.reason,
            why=one.why,
            caused_by=one.caused_by,
            created_at=one.created_at,
            created_by=one.created_by,
            followers=followers,
        )


def _names(tx: Transaction) -> dict[str, DatasetName]:
    table = dataset_registry.c
    rows = tx.execute(select(table.dataset_id, table.dataset_name).where(table.org_id == tx.org_id))
    return {row.dataset_id: DatasetName(row.dataset_name) for row in rows}
