"""Datasets as launch gates need them: inputs and state, read at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, select

from lakeguard.ledger.promotion_times import effective_promotion
from lakeguard.registry.queries import AnyRow
from lakeguard.state.caches import Definitions
from lakeguard.state.schema import (
    data_versions,
    dataset_pointers,
    dataset_registry,
    dataset_registry_revisions,
    run_history,
    tasks,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.model.definitions import DatasetDefinition, FromFrame, FromSource

_MOST_NAMED = 500
"""Above this many, all are read instead of querying by id."""


@dataclass(frozen=True)
class Made:
    """The parts of a definition that gates need."""

    parents: tuple[DatasetName, ...]
    target: str | None
    source: str | None
    tags: dict[str, tuple[str, ...]]
    by_program: bool = False
    """Whether only a program publishes it."""


@dataclass(frozen=True)
class Standing:
    """A registered dataset and its last build."""

    dataset_id: str
    name: DatasetName
    domain: str
    active: bool
    revision: int
    made: Made
    published: bool
    promoted_at: datetime | None
    last_run: str | None
    """The last finished build."""


def standings(tx: Transaction, names: Collection[str]) -> dict[DatasetName, Standing]:
    """State of these datasets and their parents, by name."""
    found = _read(tx, names)
    above = {parent for each in found.values() for parent in each.made.parents} - found.keys()
    return {**found, **_read(tx, above)} if above else found


def _read(tx: Transaction, names: Collection[str]) -> dict[DatasetName, Standing]:
    view = dataset_registry.c
    last = (
        select(run_history.c.run_id)
        .join(tasks, tasks.c.task_id == run_history.c.task_id)
        .where(run_history.c.dataset_id == view.dataset_id, tasks.c.kind == TaskKind.BUILD.value)
        .order_by(run_history.c.ordinal.desc())
        .limit(1)
    )
    versions = data_versions.c
    newest = (
        select(versions.promoted_at)
        .where(versions.dataset_id == view.dataset_id)
        .order_by(versions.version.desc())
        .limit(1)
    )
    query = select(
        view.dataset_id,
        view.dataset_name,
        view.domain,
        view.active,
        view.revision,
        view.definition_hash,
        exists().where(dataset_pointers.c.dataset_id == view.dataset_id).label("published"),
        newest.scalar_subquery().label("promoted_at"),
        last.scalar_subquery().label("last_run"),
    ).where(view.org_id == tx.org_id)
    if len(names) <= _MOST_NAMED:
        query = query.where(view.dataset_name.in_(sorted(names)))
    rows = [row for row in tx.execute(query) if row.dataset_name in names]
    made = _definitions.of(tx, rows)
    return {DatasetName(row.dataset_name): _standing(tx, row, made) for row in rows}


def _promoted(tx: Transaction, row: AnyRow) -> datetime | None:
    """Asked again if a clock that was ahead recorded it."""
    if row.promoted_at is None or row.promoted_at <= tx.now():
        found: datetime | None = row.promoted_at
        return found
    return effective_promotion(tx, row.dataset_id)


def _standing(tx: Transaction, row: AnyRow, made: dict[str, Made]) -> Standing:
    return Standing(
        dataset_id=row.dataset_id,
        name=DatasetName(row.dataset_name),
        domain=row.domain,
        active=row.active,
        revision=row.revision,
        made=made[row.definition_hash],
        published=row.published,
        promoted_at=_promoted(tx, row),
        last_run=row.last_run,
    )


def _made(text: str) -> Made:
    definition = DatasetDefinition.from_json(text)
    build = definition.build
    return Made(
        parents=definition.parents,
        target=definition.target,
        source=build.source if isinstance(build, FromSource) else None,
        tags={column.name: column.tags for column in definition.columns if column.tags},
        by_program=isinstance(build, FromFrame),
    )


_definitions = Definitions[Made](dataset_registry_revisions, "dataset_id", _made)


def made_of_all(tx: Transaction) -> dict[DatasetName, Made]:
    """Every registered dataset with its inputs."""
    view = dataset_registry.c
    query = select(view.dataset_id, view.dataset_name, view.revision, view.definition_hash).where(
        view.org_id == tx.org_id
    )
    rows = tx.execute(query).all()
    made = _definitions.of(tx, rows)
    return {DatasetName(row.dataset_name): made[row.definition_hash] for row in rows}
