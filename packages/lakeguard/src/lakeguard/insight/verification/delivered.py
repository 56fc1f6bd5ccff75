"""Compares delivered tables in target databases with the State."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, select

from lakeguard.ledger.versions import latest_pointers
from lakeguard.promotion.opening.table_ownership import live_table
from lakeguard.registry.queries import datasets_of_targets
from lakeguard.registry.store import current_targets
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.schema import (
    data_versions,
    dataset_registry,
    md_jobs_revisions,
    organizations,
    run_history,
    tasks,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import DatasetDefinition, TargetDefinition
from lakeguard_sdk.model.delivery import (
    DataPlace,
    Delivery,
    Marker,
    PlaceMarkers,
    database_table,
)
from lakeguard_sdk.model.verification import Finding, FindingKind

_ANY = DatasetName("bronze.any")
_Schema = tuple[str, str]
"""A schema of a target database: address and name."""


@dataclass(frozen=True)
class _Known:
    """Ids in delivery markers that the State knows."""

    organisations: frozenset[str]
    datasets: dict[str, str]
    """Names by id."""
    versions: frozenset[tuple[str, int]]
    runs: frozenset[str]
    tasks: frozenset[str]
    jobs: frozenset[str]


@dataclass(frozen=True)
class _OutdatedTable:
    """A delivered table that does not show the published version."""

    place: DataPlace
    table: str
    target: TargetDefinition
    dataset: DatasetDefinition
    published: int
    delivered: int | None


def data_places(tx: Transaction) -> list[DataPlace]:
    """Schemas of all registered targets, without duplicates."""
    found: dict[_Schema, DataPlace] = {}
    for _, target in sorted(current_targets(tx).items()):
        schema = _schema_of(target)
        if schema is not None:
            url, name = schema
            place = DataPlace(
                target=target.target, url=url, secrets=target.secrets, schema_name=name
            )
            found.setdefault(schema, place)
    return list(found.values())


def judge_markers(tx: Transaction, found: Sequence[PlaceMarkers]) -> Iterator[Finding]:
    """Orphaned tables with the first unknown id, missing deliveries, and the schemas that could
    not be reached. Tables of other organisations of this State are ignored."""
    known = _known(tx, [marker for each in found for marker in each.markers])
    for each in found:
        for marker in each.markers:
            if marker.org_id in (None, tx.org_id) or marker.org_id not in known.organisations:
                yield from _orphaned(each.place, marker, tx.org_id, known)
    yield from _undelivered(tx, found)
    for each in found:
        if each.problem:
            message = f"it cannot be looked at: {each.problem}"
            yield _finding(each.place, "", message, FindingKind.UNSEEN)


def _orphaned(place: DataPlace, marker: Marker, org_id: str, known: _Known) -> Iterator[Finding]:
    unknown = [
        f"{noun} {value}"
        for noun, value, is_known in (
            ("organisation", marker.org_id, marker.org_id in (None, org_id)),
            ("dataset", marker.dataset_id, marker.dataset_id in known.datasets),
            (
                f"{marker.dataset} version",
                marker.version,
                (marker.dataset_id, marker.version) in known.versions,
            ),
            ("run", marker.run_id, marker.run_id in known.runs),
            ("task", marker.task_id, marker.task_id in known.tasks),
            ("job", marker.job_id, marker.job_id is None or marker.job_id in known.jobs),
        )
        if not is_known
    ]
    if unknown:
        yield _finding(place, marker.table_name, f"the State does not know {unknown[0]}")
    elif not marker.table_there:
        yield _finding(place, marker.table_name, "its marker is there, the table is not")


def undelivered(tx: Transaction, found: Sequence[PlaceMarkers]) -> Iterator[Delivery]:
    """Deliveries to repeat, as a run of the dataset would make them."""
    for each in _outdated(tx, found):
        table = live_table(tx, each.target, each.dataset.dataset)
        if table is not None:
            yield Delivery(dataset=each.dataset.dataset, load=each.dataset.load, table=table)


def _undelivered(tx: Transaction, found: Sequence[PlaceMarkers]) -> Iterator[Finding]:
    """Published versions that their target tables do not show."""
    for each in _outdated(tx, found):
        if each.delivered != each.published:
            version = "nothing" if each.delivered is None else f"v{each.delivered}"
            name = each.dataset.dataset
            message = f"{name} is published as v{each.published}; delivered is {version}"
            yield _finding(each.place, each.table, message)


def _outdated(tx: Transaction, found: Sequence[PlaceMarkers]) -> Iterator[_OutdatedTable]:
    """Missing or outdated tables in reachable schemas."""
    seen = {(each.place.url, each.place.schema_name): each for each in found if not each.problem}
    shown = {
        (*schema, marker.table_name): marker
        for schema, each in seen.items()
        for marker in each.markers
    }
    every = current_targets(tx)
    targets = {name: target for name, target in every.items() if _schema_of(target) in seen}
    datasets = _datasets_of(tx, targets)
    published = latest_pointers(tx) if datasets else {}
    for dataset_id, dataset in datasets.items():
        target = targets[dataset.target or ""]
        table, last = database_table(target, dataset.dataset), published.get(dataset_id)
        if table is None or last is None:
            continue
        schema = (table.url, table.schema_name)
        marker = shown.get((*schema, table.table_name))
        delivered = None if marker is None else marker.version
        if marker is None or not marker.table_there or delivered != last.version:
            place = seen[schema].place
            yield _OutdatedTable(place, table.table_name, target, dataset, last.version, delivered)


def _schema_of(target: TargetDefinition) -> _Schema | None:
    """None if the target is not a database."""
    table = database_table(target, _ANY)
    return None if table is None else (table.url, table.schema_name)


def _datasets_of(tx: Transaction, targets: Iterable[str]) -> dict[str, DatasetDefinition]:
    """Datasets delivered to the targets, by id."""
    found: dict[str, DatasetDefinition] = {}
    for piece in in_pieces(sorted(targets)):
        query = datasets_of_targets(tx.org_id, piece, tx.dialect.name)
        for row in tx.execute(query):
            found[row.dataset_id] = DatasetDefinition.from_json(row.definition)
    return found


def _known(tx: Transaction, markers: Sequence[Marker]) -> _Known:
    def there(column: Column[str], wanted: Iterable[str | None]) -> frozenset[str]:
        asked, found = sorted({each for each in wanted if each}), set[str]()
        for piece in in_pieces(asked):
            chosen = column.in_(piece)
            query = select(column).where(column.table.c.org_id == tx.org_id, chosen)
            found.update(tx.scalars(query))
        return frozenset(found)

    datasets = _datasets(tx)
    asked = {marker.dataset_id for marker in markers} & datasets.keys()
    versions = select(data_versions.c.dataset_id, data_versions.c.version).where(
        data_versions.c.org_id == tx.org_id, data_versions.c.dataset_id.in_(sorted(asked))
    )
    return _Known(
        organisations=frozenset(tx.scalars(select(organizations.c.org_id))),
        datasets=datasets,
        versions=frozenset((row.dataset_id, row.version) for row in tx.execute(versions)),
        runs=there(run_history.c.run_id, (marker.run_id for marker in markers)),
        tasks=there(tasks.c.task_id, (marker.task_id for marker in markers)),
        jobs=there(md_jobs_revisions.c.job_id, (marker.job_id for marker in markers)),
    )


def _datasets(tx: Transaction) -> dict[str, str]:
    view = dataset_registry.c
    query = select(view.dataset_id, view.dataset_name).where(view.org_id == tx.org_id)
    return {row.dataset_id: row.dataset_name for row in tx.execute(query)}


def _finding(
    place: DataPlace, table: str, message: str, kind: FindingKind = FindingKind.DATA
) -> Finding:
    where = f"{place.target}: {place.schema_name}{'.' if table else ''}{table}"
    return Finding(kind=kind, place=where, message=message)
