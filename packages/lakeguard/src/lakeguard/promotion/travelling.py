"""Tags on their way down: what came from a tagged column carries its tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from lakeguard.gate.subject import Travelled
from lakeguard.registry.store import current_definition
from lakeguard_sdk.definition import DatasetDefinition, FromPython, FromSql
from lakeguard_sdk.names import DatasetName

if TYPE_CHECKING:
    from lakeguard.registry.sql_lineage import ColumnSource


@dataclass(frozen=True)
class _Carried:
    """A tag on a column, where it was declared, and what it passed since."""

    tag: str
    source: str
    through: frozenset[str] = frozenset()


Tags = dict[str, set[_Carried]]
"""By column, in lower case."""


def travelled_tags(
    connection: Connection, org_id: str, definition: DatasetDefinition
) -> tuple[Travelled, ...]:
    """Every tag that came down to a column of the dataset, by the definitions of today."""
    found = _Ancestors(connection, org_id).inherited(definition)
    items = (
        Travelled(
            column=column.name,
            tag=carried.tag,
            source=carried.source,
            through=tuple(sorted(carried.through)),
        )
        for column in definition.columns
        for carried in found.get(column.name.casefold(), ())
    )
    return tuple(sorted(items, key=lambda item: item.to_json()))


class _Ancestors:
    """What the columns of a dataset and of all that it is built from carry; each is read once."""

    def __init__(self, connection: Connection, org_id: str) -> None:
        self._connection = connection
        self._org_id = org_id
        self._definitions: dict[DatasetName, DatasetDefinition | None] = {}
        self._carried: dict[DatasetName, Tags] = {}

    def inherited(self, definition: DatasetDefinition) -> Tags:
        if not any(map(self._is_tagged, definition.parents)):
            return {}
        above = {parent: self._tags(parent) for parent in definition.parents}
        match definition.build:
            case FromSql(text=text):
                return self._by_sql(definition, text, above)
            case FromPython():
                return _by_name(definition, above.values())
        return {}

    def _is_tagged(self, name: DatasetName, seen: frozenset[DatasetName] = frozenset()) -> bool:
        """Whether a column of the dataset, or of one above it, carries a tag at all."""
        definition = self._definition(name)
        if definition is None or name in seen:
            return False
        if any(column.tags for column in definition.columns):
            return True
        return any(self._is_tagged(parent, seen | {name}) for parent in definition.parents)

    def _tags(self, name: DatasetName) -> Tags:
        if name not in self._carried:
            self._carried[name] = {}  # a dataset above itself would otherwise never end
            definition = self._definition(name)
            if definition is not None:
                self._carried[name] = self._all_tags(definition)
        return self._carried[name]

    def _all_tags(self, definition: DatasetDefinition) -> Tags:
        found = self.inherited(definition)
        for column in definition.columns:
            source = f"{definition.dataset}.{column.name}"
            own = {_Carried(tag.lower(), source) for tag in column.tags}
            if own:
                found.setdefault(column.name.casefold(), set()).update(own)
        return found

    def _by_sql(
        self, definition: DatasetDefinition, text: str, above: dict[DatasetName, Tags]
    ) -> Tags:
        from lakeguard.registry.sql_lineage import column_sources

        known = {name: self._definition(name) for name in above}
        schemas = {name: found.table_schema for name, found in known.items() if found}
        sources = column_sources(text, schemas)
        result: Tags = {}
        for column in definition.columns:
            name = column.name.casefold()
            if sources and name not in sources:  # the SELECT has none, and the schema will say so
                continue
            made_of = sources.get(name)
            carried = set(_everything(above.values()) if made_of is None else _of(made_of, above))
            if carried:
                result[name] = carried
        return result

    def _definition(self, name: DatasetName) -> DatasetDefinition | None:
        if name not in self._definitions:
            found = current_definition(self._connection, self._org_id, name)
            self._definitions[name] = None if found is None else found.definition
        return self._definitions[name]


def _of(made_of: Iterable[ColumnSource], above: dict[DatasetName, Tags]) -> Iterator[_Carried]:
    for source in made_of:
        for item in above.get(source.dataset, {}).get(source.column, ()):
            yield _Carried(item.tag, item.source, item.through | source.through)


def _everything(above: Iterable[Tags]) -> Iterator[_Carried]:
    for tags in above:
        for carried in tags.values():
            yield from carried


def _by_name(definition: DatasetDefinition, above: Iterable[Tags]) -> Tags:
    """What a function of Python makes of its inputs is not known."""
    parents, result = list(above), Tags()
    for column in definition.columns:
        name = column.name.casefold()
        carried: set[_Carried] = set().union(*(tags.get(name, set()) for tags in parents))
        if carried:
            result[name] = carried
    return result
