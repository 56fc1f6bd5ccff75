"""Datasets as invalidations see them: who is built from whom, and what ran well since a moment."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, RowMapping, select

from lakeguard.jobs.catching_up import Look, Node
from lakeguard.ledger.versions import latest_pointers
from lakeguard.promotion.partitioning import partition_columns
from lakeguard.registry.statements import current_datasets
from lakeguard.registry.store import current_targets
from lakeguard.state.tables import (
    documents,
    partition_versions,
    run_history,
    run_openings,
    tasks,
    version_inputs,
)
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.load import NEW_ROWS_ONLY
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reach import Reach, window_over
from lakeguard_sdk.run import RunPlan, Window
from lakeguard_sdk.words import LoadType, RunStatus, TaskKind, TaskState


class Histories(NamedTuple):
    nodes: dict[str, Node]
    definitions: dict[str, DatasetDefinition]
    """By the dataset's id."""

    def name(self, dataset_id: str) -> DatasetName:
        return self.definitions[dataset_id].dataset

    def window(self, dataset_id: str, reach: Reach, *, own: bool) -> Window | None:
        """The window that builds the reach again; None where only a whole run does.

        A window of an APPEND reads its inputs no further than was read before, or it would have
        rows twice: it puts right what is its own, and sees nothing of what was put right above.
        """
        appends = self.definitions[dataset_id].load.type is LoadType.APPEND
        if appends and not own:
            return None
        return window_over(reach, self.nodes[dataset_id].schema)


def read_histories(connection: Connection, org_id: str, since: datetime) -> Histories:
    """All datasets, each with its runs that opened after the moment and ended well."""
    rows = connection.execute(current_datasets(org_id)).all()
    definitions = {row.dataset_id: _definition(row.definition) for row in rows}
    ids = {definition.dataset: key for key, definition in definitions.items()}
    targets = current_targets(connection, org_id)
    shown = latest_pointers(connection, org_id)
    building = _building(connection, org_id)
    replacing = {key for key, one in definitions.items() if one.load.type is LoadType.PARTITION}
    looks = _looks(connection, org_id, since, replacing)
    nodes = {
        key: Node(
            dataset_id=key,
            parents=tuple(ids[name] for name in one.parents if name in ids),
            published=shown[key].version if key in shown else None,
            schema=one.declared,
            partition_by=partition_columns(one, targets.get(one.target or "")),
            watermark=one.load.watermark,
            reads_all=one.load.type not in NEW_ROWS_ONLY,
            active=one.active,
            building=key in building,
            looks=tuple(looks.get(key, ())),
        )
        for key, one in definitions.items()
    }
    return Histories(nodes, definitions)


def _looks(
    connection: Connection, org_id: str, since: datetime, replacing: Collection[str]
) -> dict[str, list[Look]]:
    inputs, pins = _inputs(connection, org_id, since), _pins(connection, org_id, since)
    partitions = _partitions(connection, org_id, since)
    opened, ended = run_openings.c, run_history.c
    rows = connection.execute(
        select(
            opened.run_id,
            opened.dataset_id,
            opened.base_version,
            opened.opened_at,
            ended.version,
            tasks.c.parameters,
        )
        .join(run_history, ended.run_id == opened.run_id)
        .join(tasks, tasks.c.task_id == ended.task_id)
        .where(
            opened.org_id == org_id,
            opened.opened_at > since,
            ended.status == RunStatus.SUCCESS.value,
        )
        .order_by(opened.opened_at)
    )
    found: dict[str, list[Look]] = defaultdict(list)
    for row in rows.all():
        read = (pins if row.version is None else inputs).get(row.run_id, {})
        brought = partitions.get(row.run_id) if row.dataset_id in replacing else None
        found[row.dataset_id].append(_look(row._mapping, read, brought or frozenset()))
    return found


def _look(row: RowMapping, inputs: Mapping[str, int], partitions: frozenset[str]) -> Look:
    parameters = json.loads(row["parameters"])
    window = parameters.get("window")
    return Look(
        run_id=row["run_id"],
        opened_at=row["opened_at"],
        base=row["base_version"],
        version=row["version"],
        inputs=inputs,
        window=None if window is None else Window(**window),
        builds="replay" not in parameters,
        partitions=partitions,
    )


def _pins(connection: Connection, org_id: str, since: datetime) -> dict[str, dict[str, int]]:
    """By run that made no version, what it would have read."""
    opened, ended = run_openings.c, run_history.c
    rows = connection.execute(
        select(opened.run_id, documents.c.body)
        .join(run_history, ended.run_id == opened.run_id)
        .join(
            documents,
            (documents.c.org_id == opened.org_id) & (documents.c.content_hash == opened.plan_hash),
        )
        .where(
            opened.org_id == org_id,
            opened.opened_at > since,
            ended.status == RunStatus.SUCCESS.value,
            ended.version.is_(None),
        )
    )
    plans = ((row.run_id, RunPlan.from_json(row.body)) for row in rows)
    return {
        run_id: {pin.input.dataset_id: pin.input.version for pin in plan.pins}
        for run_id, plan in plans
    }


def _building(connection: Connection, org_id: str) -> frozenset[str]:
    query = select(tasks.c.dataset_id).where(
        tasks.c.org_id == org_id,
        tasks.c.state == TaskState.RUNNING.value,
        tasks.c.kind == TaskKind.BUILD.value,
    )
    return frozenset(connection.scalars(query))


def _inputs(connection: Connection, org_id: str, since: datetime) -> dict[str, dict[str, int]]:
    """By run, the version of each input."""
    read, ended, opened = version_inputs.c, run_history.c, run_openings.c
    rows = connection.execute(
        select(opened.run_id, read.input_dataset_id, read.input_version)
        .join(run_history, ended.run_id == opened.run_id)
        .join(
            version_inputs,
            (read.dataset_id == opened.dataset_id) & (read.version == ended.version),
        )
        .where(opened.org_id == org_id, read.org_id == org_id, opened.opened_at > since)
    )
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        found[row.run_id][row.input_dataset_id] = row.input_version
    return found


def _partitions(connection: Connection, org_id: str, since: datetime) -> dict[str, frozenset[str]]:
    """By run, the partitions that it brought, replaced or added to."""
    brought = partition_versions.c
    rows = connection.execute(
        select(brought.run_id, brought.partition_key).where(
            brought.org_id == org_id, brought.materialized_at > since
        )
    )
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row.run_id].add(row.partition_key)
    return {run_id: frozenset(keys) for run_id, keys in found.items()}


@lru_cache(maxsize=20_000)
def _definition(text: str) -> DatasetDefinition:
    return DatasetDefinition.from_json(text)
