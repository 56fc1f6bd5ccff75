"""Finds the dataset that a name, a run, a task or another id belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, Table, and_, select

from lakeguard.access.authorise import may
from lakeguard.access.principal import ORGANISATION, Action, Principal, Subject
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.registered_datasets import Registered, registered_datasets
from lakeguard.state.schema import (
    dataset_registry,
    governed_tables,
    invalidations,
    md_jobs,
    task_attempts,
    tasks,
    waivers,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget

LAKE = "lake"
"""The source of records about datasets: their schema is the layer, their table the name."""
_MOST_READERS = 32
"""Principals whose readable datasets are cached."""


@dataclass(frozen=True)
class Subjects:
    """Subjects of one organisation; None for an unknown id."""

    state: OrganisationState

    def readable_by(self, principal: Principal) -> frozenset[str]:
        """Names of all datasets that the principal may read."""
        with self.state.read() as tx:
            registered = registered_datasets(tx)
        return _readable(registered, principal)

    def of_dataset(self, name: str) -> Subject | None:
        return self._one(
            lambda org: _registered(org).where(dataset_registry.c.dataset_name == name)
        )

    def of_datasets(self, names: Iterable[str]) -> dict[str, Subject]:
        """Those of them that are registered."""
        wanted = sorted(set(names))
        if not wanted:
            return {}
        with self.state.read() as tx:
            found = _registered(tx.org_id).where(dataset_registry.c.dataset_name.in_(wanted))
            return {str(row.dataset_name): _subject(row) for row in tx.execute(found)}

    def of_records(self, records: Iterable[MetadataRecord]) -> tuple[Subject, ...]:
        """What these records are about. A target of the lake is a dataset if it is registered."""
        wanted = {
            (dataset_in(record.target), record.kind, record.context.namespace) for record in records
        }
        known = self.of_datasets(name for name, _, _ in wanted if name)
        return tuple(
            replace(known.get(name, ORGANISATION), record_kind=kind, record_namespace=namespace)
            for name, kind, namespace in sorted(wanted)
        )

    def of_key(self, dataset_id: str) -> Subject | None:
        view = dataset_registry.c
        return self._one(lambda org: _registered(org).where(view.dataset_id == dataset_id))

    def of_run(self, run_id: str) -> Subject | None:
        attempt, task = task_attempts.c, tasks.c
        return self._one(
            lambda org: (
                _with(tasks, org)
                .join(
                    task_attempts,
                    and_(attempt.org_id == task.org_id, attempt.task_id == task.task_id),
                )
                .where(attempt.run_id == run_id)
            )
        )

    def of_task(self, task_id: str) -> Subject | None:
        """By the id of the task or of one of its runs; the organisation for a job without a
        dataset."""
        found = self._one(lambda org: _with(tasks, org).where(tasks.c.task_id == task_id))
        return found or self.of_run(task_id)

    def of_invalidation(self, invalidation_id: str) -> Subject | None:
        key = invalidations.c.invalidation_id
        return self._one(lambda org: _with(invalidations, org).where(key == invalidation_id))

    def of_waiver(self, waiver_id: str) -> Subject | None:
        return self._one(lambda org: _with(waivers, org).where(waivers.c.waiver_id == waiver_id))

    def of_table(self, table_id: str) -> Subject | None:
        key = governed_tables.c.table_id
        return self._one(lambda org: _with(governed_tables, org).where(key == table_id))

    def of_job(self, name: str) -> Subject | None:
        job, view = md_jobs.c, dataset_registry.c
        return self._one(
            lambda org: (
                select(view.dataset_id, view.dataset_name, view.domain)
                .select_from(md_jobs)
                .outerjoin(
                    dataset_registry,
                    and_(view.org_id == job.org_id, view.dataset_name == job.dataset_name),
                )
                .where(job.org_id == org, job.job_name == name)
            )
        )

    def _one(self, query: Any) -> Subject | None:
        with self.state.read() as tx:
            row = tx.execute(query(tx.org_id)).first()
        return None if row is None else _subject(row)


def dataset_in(target: MetadataTarget) -> str:
    """The name of a dataset that a record may be about; empty if it is about something else."""
    if target.source_id.casefold() != LAKE:
        return ""
    return f"{target.schema_}.{target.table}".casefold()


@lru_cache(maxsize=_MOST_READERS)
def _readable(registered: Registered, principal: Principal) -> frozenset[str]:
    """Cached by identity: each apply makes a new ``Registered``."""
    return frozenset(
        row.dataset_name
        for row in registered.datasets
        if may(principal, Action.READ, _subject(row)).allowed
    )


def _registered(org_id: str) -> Select[Any]:
    view = dataset_registry.c
    return select(view.dataset_id, view.dataset_name, view.domain).where(view.org_id == org_id)


def _with(table: Table, org_id: str) -> Select[Any]:
    """The dataset of a row; NULL if the row has none."""
    view = dataset_registry.c
    same = and_(view.org_id == table.c.org_id, view.dataset_id == table.c.dataset_id)
    return (
        select(view.dataset_id, view.dataset_name, view.domain)
        .select_from(table)
        .outerjoin(dataset_registry, same)
        .where(table.c.org_id == org_id)
    )


def _subject(row: Any) -> Subject:
    if row.dataset_id is None:
        return ORGANISATION
    return Subject(DatasetName(row.dataset_name), str(row.domain), str(row.dataset_id))
