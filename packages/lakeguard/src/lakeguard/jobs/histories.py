"""Datasets as invalidations see them: who is built from whom, and what ran well since."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, select

from lakeguard.jobs.catching_up import Node
from lakeguard.jobs.known_runs import Asked, KnownRuns
from lakeguard.ledger.versions import latest_pointers
from lakeguard.promotion.partitioning import partition_columns
from lakeguard.registry.statements import current_datasets
from lakeguard.registry.store import current_targets
from lakeguard.state.tables import tasks
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.load import NEW_ROWS_ONLY
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reach import Reach, window_over
from lakeguard_sdk.run import Window
from lakeguard_sdk.words import LoadType, TaskKind, TaskState

Wanted = Callable[[Mapping[str, Node]], Mapping[str, datetime]]
"""Of which datasets runs matter, and since when, by what is known of all of them so far."""


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

    def with_runs(self, known: KnownRuns) -> Histories:
        nodes = {key: replace(node, looks=known.looks(key)) for key, node in self.nodes.items()}
        return self._replace(nodes=nodes)


def read_histories(
    connection: Connection, org_id: str, wanted: Wanted, known: KnownRuns
) -> Histories:
    """All datasets, each with its runs as far as they matter; what is known is not read again.

    Who matters shows with what was read of others: it is asked for until nobody is missing.
    """
    found = _datasets(connection, org_id)
    known.read_on(connection, org_id)
    while True:
        found = found.with_runs(known)
        asked = {
            key: Asked(since, found.definitions[key].load.type is LoadType.PARTITION)
            for key, since in wanted(found.nodes).items()
        }
        missing = known.missing(asked)
        if not missing:
            known.keep(asked)
            return found
        known.read(connection, org_id, missing)


def _datasets(connection: Connection, org_id: str) -> Histories:
    rows = connection.execute(current_datasets(org_id)).all()
    definitions = {row.dataset_id: _definition(row.definition) for row in rows}
    ids = {definition.dataset: key for key, definition in definitions.items()}
    targets = current_targets(connection, org_id)
    shown = latest_pointers(connection, org_id)
    building = _building(connection, org_id)
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
        )
        for key, one in definitions.items()
    }
    return Histories(nodes, definitions)


def _building(connection: Connection, org_id: str) -> frozenset[str]:
    query = select(tasks.c.dataset_id).where(
        tasks.c.org_id == org_id,
        tasks.c.state == TaskState.RUNNING.value,
        tasks.c.kind == TaskKind.BUILD.value,
    )
    return frozenset(connection.scalars(query))


@lru_cache(maxsize=20_000)
def _definition(text: str) -> DatasetDefinition:
    return DatasetDefinition.from_json(text)
