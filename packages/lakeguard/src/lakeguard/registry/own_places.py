"""Locations that datasets name themselves: no two of a folder are at, in or around each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeguard.registry.locating import by_file
from lakeguard.registry.table_places import nested_places, own_place_problem
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.errors import DefinitionError, NestedTable


def own_place_errors(datasets: Iterable[DatasetDefinition]) -> Iterator[DefinitionError]:
    """What is no place at all is told elsewhere. Places by name lie apart by themselves."""
    first: dict[str, DatasetDefinition] = {}
    for dataset in datasets:
        if not dataset.location or own_place_problem(dataset.location):
            continue
        known = first.setdefault(dataset.location, dataset)
        if known is not dataset:
            yield _nested(dataset, known.dataset)
    places = {place: str(dataset.dataset) for place, dataset in first.items()}
    for place, other in nested_places(places, {}):
        yield _nested(first[place], other)


def _nested(dataset: DatasetDefinition, other: str) -> NestedTable:
    return NestedTable(
        by_file(dataset, ()),
        name=dataset.dataset,
        location=dataset.location,
        other=other,
        at=["location"],
    )
