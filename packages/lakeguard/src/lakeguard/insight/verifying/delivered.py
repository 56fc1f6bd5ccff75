"""What lies in data databases, held against the State: nothing there can check its ids itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Column, Connection, select

from lakeguard.ledger.versions import pointer
from lakeguard.promotion.heart import Heart
from lakeguard.promotion.live_tables import live_table
from lakeguard.registry.kinds import gathered
from lakeguard.registry.store import read_state
from lakeguard.state.pieces import in_pieces
from lakeguard.state.tables import (
    data_versions,
    dataset_registry,
    md_jobs_revisions,
    organizations,
    run_history,
    tasks,
)
from lakeguard_sdk.database import database_table
from lakeguard_sdk.definition import DatasetDefinition, Definitions, TargetDefinition
from lakeguard_sdk.delivered import DataPlace, Delivery, Marker, PlaceMarkers
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.proof import Finding, FindingKind

_ANY = DatasetName("bronze.any")


@dataclass(frozen=True)
class _Known:
    """Ids that markers name and the State has."""

    organisations: frozenset[str]
    datasets: dict[str, str]
    """By id, the name."""
    versions: frozenset[tuple[str, int]]
    runs: frozenset[str]
    tasks: frozenset[str]
    jobs: frozenset[str]


@dataclass(frozen=True)
class _Behind:
    """A table that does not show what is published."""

    place: DataPlace
    table: str
    target: TargetDefinition
    dataset: DatasetDefinition
    published: int
    delivered: int | None


def data_places(connection: Connection, org_id: str) -> list[DataPlace]:
    """Every schema that a registered target delivers to, each once."""
    found: dict[tuple[str, str], DataPlace] = {}
    for target in _definitions(connection, org_id).targets:
        table = database_table(target, _ANY)
        if table is not None:
            found.setdefault(
                (table.url, table.schema_name),
                DataPlace(
                    target=target.target,
                    url=table.url,
                    secrets=table.secrets,
                    schema_name=table.schema_name,
                ),
            )
    return list(found.values())


def judge_markers(
    connection: Connection, org_id: str, found: Sequence[PlaceMarkers]
) -> Iterator[Finding]:
    """Orphans, each with the first thing of it that is not known, and deliveries that are missing.
    What belongs to another organisation of this State is for that one to look at."""
    known = _known(connection, org_id, [marker for each in found for marker in each.markers])
    for each in found:
        if each.problem:
            yield _finding(each.place, "", f"it cannot be looked at: {each.problem}")
        for marker in each.markers:
            if marker.org_id in (None, org_id) or marker.org_id not in known.organisations:
                yield from _orphaned(each.place, marker, org_id, known)
    yield from _undelivered(connection, org_id, found)


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
            ("task", marker.task_id, marker.task_id is None or marker.task_id in known.tasks),
            ("job", marker.job_id, marker.job_id is None or marker.job_id in known.jobs),
        )
        if not is_known
    ]
    if unknown:
        yield _finding(place, marker.table_name, f"the State does not know {unknown[0]}")
    elif not marker.table_there:
        yield _finding(place, marker.table_name, "its marker is there, the table is not")


def undelivered(
    connection: Connection, heart: Heart, found: Sequence[PlaceMarkers]
) -> Iterator[Delivery]:
    """What is to be delivered again, as a run of the dataset would deliver it."""
    for each in _behind(connection, heart.org_id, found):
        table = live_table(connection, heart, each.target, each.dataset.dataset)
        if table is not None:
            yield Delivery(dataset=each.dataset.dataset, load=each.dataset.load, table=table)


def _undelivered(
    connection: Connection, org_id: str, found: Sequence[PlaceMarkers]
) -> Iterator[Finding]:
    """What is published and not shown by the table that should follow it."""
    for each in _behind(connection, org_id, found):
        if each.delivered != each.published:
            says = "nothing" if each.delivered is None else f"v{each.delivered}"
            name = each.dataset.dataset
            message = f"{name} is published as v{each.published}; delivered is {says}"
            yield _finding(each.place, each.table, message)


def _behind(
    connection: Connection, org_id: str, found: Sequence[PlaceMarkers]
) -> Iterator[_Behind]:
    """Tables that show another version than the published one, or are not there, in places that
    could be looked at."""
    definitions = _definitions(connection, org_id)
    targets = {target.target: target for target in definitions.targets}
    ids = {name: key for key, name in _datasets(connection, org_id).items()}
    seen = [each for each in found if not each.problem]
    shown = {
        (each.place.url, each.place.schema_name, marker.table_name): marker
        for each in seen
        for marker in each.markers
    }
    places = {(each.place.url, each.place.schema_name): each.place for each in seen}
    for dataset in definitions.datasets:
        target = targets.get(dataset.target or "")
        table = database_table(target, dataset.dataset)
        place = table and places.get((table.url, table.schema_name))
        last = pointer(connection, ids[dataset.dataset]) if place else None
        if target is None or table is None or not place or last is None:
            continue
        marker = shown.get((table.url, table.schema_name, table.table_name))
        delivered = None if marker is None else marker.version
        if marker is None or not marker.table_there or delivered != last.version:
            yield _Behind(place, table.table_name, target, dataset, last.version, delivered)


def _known(connection: Connection, org_id: str, markers: Sequence[Marker]) -> _Known:
    def there(column: Column[str], wanted: Iterable[str | None]) -> frozenset[str]:
        asked, found = sorted({each for each in wanted if each}), set[str]()
        for piece in in_pieces(asked):
            chosen = column.in_(piece)
            query = select(column).where(column.table.c.org_id == org_id, chosen)
            found.update(connection.scalars(query))
        return frozenset(found)

    datasets = _datasets(connection, org_id)
    asked = {marker.dataset_id for marker in markers} & datasets.keys()
    versions = select(data_versions.c.dataset_id, data_versions.c.version).where(
        data_versions.c.org_id == org_id, data_versions.c.dataset_id.in_(sorted(asked))
    )
    return _Known(
        organisations=frozenset(connection.scalars(select(organizations.c.org_id))),
        datasets=datasets,
        versions=frozenset((row.dataset_id, row.version) for row in connection.execute(versions)),
        runs=there(run_history.c.run_id, (marker.run_id for marker in markers)),
        tasks=there(tasks.c.task_id, (marker.task_id for marker in markers)),
        jobs=there(md_jobs_revisions.c.job_id, (marker.job_id for marker in markers)),
    )


def _datasets(connection: Connection, org_id: str) -> dict[str, str]:
    view = dataset_registry.c
    query = select(view.dataset_id, view.dataset_name).where(view.org_id == org_id)
    return {row.dataset_id: row.dataset_name for row in connection.execute(query)}


def _definitions(connection: Connection, org_id: str) -> Definitions:
    state = read_state(connection, org_id)
    held = state.open_all(state.entries.values())
    return gathered(held[key].definition for key in sorted(held))


def _finding(place: DataPlace, table: str, message: str) -> Finding:
    where = f"{place.target}: {place.schema_name}{'.' if table else ''}{table}"
    return Finding(kind=FindingKind.DATA, place=where, message=message)
