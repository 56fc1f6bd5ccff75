"""Tags that came down to many datasets, as far as somebody asks for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, select

from lakeguard.gate.subject import Travelled
from lakeguard.jobs.datasets import Made, made_of_all
from lakeguard.promotion.travelling import travelled_tags_of
from lakeguard.state.tables import dataset_registry
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.names import DatasetName

_MOST_NAMED = 500
"""More than so many are not asked for one by one."""


def travelled_to(
    connection: Connection, org_id: str, names: Collection[DatasetName], wanted: Collection[str]
) -> dict[DatasetName, tuple[Travelled, ...]]:
    """By name, of those that have a wanted tag somewhere above them: nothing else can bring it.

    However many there are, the statements are few.
    """
    made = made_of_all(connection, org_id)
    tags = {tag.lower() for tag in wanted}
    tagged = {name for name, each in made.items() if tags & _own_tags(each)}
    above = {name: _above(name, made) for name in names} if tagged else {}
    reached = [name for name in above if tagged & above[name]]
    if not reached:
        return {}
    needed = set(reached).union(*(above[name] for name in reached))
    return travelled_tags_of(connection, org_id, reached, _definitions(connection, org_id, needed))


def _own_tags(made: Made) -> set[str]:
    return {tag.lower() for tags in made.tags.values() for tag in tags}


def _above(name: DatasetName, made: Mapping[DatasetName, Made]) -> set[DatasetName]:
    """All that a dataset is built from, near and far."""
    found: set[DatasetName] = set()
    coming = [name]
    while coming:
        known = made.get(coming.pop())
        new = set() if known is None else set(known.parents) - found
        found |= new
        coming += new
    return found


def _definitions(
    connection: Connection, org_id: str, names: Collection[DatasetName]
) -> dict[DatasetName, DatasetDefinition]:
    view = dataset_registry.c
    query = select(view.dataset_name, view.definition).where(view.org_id == org_id)
    if len(names) <= _MOST_NAMED:
        query = query.where(view.dataset_name.in_(sorted(names)))
    return {
        DatasetName(row.dataset_name): DatasetDefinition.from_json(row.definition)
        for row in connection.execute(query)
        if row.dataset_name in names
    }
