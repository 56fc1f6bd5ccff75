"""Propagates column tags along lineage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeguard.gate.subject import InheritedTag
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.versions import StoredVersion, inputs_of, require_version
from lakeguard.promotion.records.version_facts import definition_of_version
from lakeguard.registry.store import current_definition, current_target, dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import DatasetDefinition, FromPython, FromSql
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.types.schema import TableSchema

if TYPE_CHECKING:
    from lakeguard.registry.sql.lineage import ColumnSource


@dataclass(frozen=True)
class _Carried:
    """A tag on a column, with its origin and path."""

    tag: str
    source: str
    through: frozenset[str] = frozenset()


Tags = dict[str, set[_Carried]]
"""Keyed by lower-case column."""


def travelled_tags(
    tx: Transaction, definition: DatasetDefinition, read: Iterable[InputVersion] = ()
) -> tuple[InheritedTag, ...]:
    """Inherited tags by column, from current definitions and from those of the input versions."""
    return _inherited_tags(definition, _Ancestors(tx).inherited(definition, read))


def travelled_tags_of(
    tx: Transaction,
    names: Iterable[DatasetName],
    definitions: Mapping[DatasetName, DatasetDefinition],
) -> dict[DatasetName, tuple[InheritedTag, ...]]:
    """The same for many datasets from the given current definitions, without queries."""
    ancestors = _Ancestors(tx, definitions)
    return {
        name: _inherited_tags(definitions[name], ancestors.inherited(definitions[name]))
        for name in names
    }


def possible_tags(
    tx: Transaction,
    definition: DatasetDefinition,
    read: Iterable[InputVersion] = (),
    *,
    transformed: bool,
) -> tuple[InheritedTag, ...]:
    """Possible inherited tags: those that lineage shows, and all input tags for every column
    that a Python function or a target transform produces."""
    found = _Suspects(tx).inherited(definition, read, transformed=transformed)
    return _inherited_tags(definition, found)


def _inherited_tags(definition: DatasetDefinition, found: Tags) -> tuple[InheritedTag, ...]:
    items = (
        InheritedTag(
            column=column.name,
            tag=carried.tag,
            source=carried.source,
            through=tuple(sorted(carried.through)),
        )
        for column in definition.columns
        for carried in found.get(column.name.casefold(), ())
    )
    return tuple(sorted(items, key=lambda item: item.to_json()))


@dataclass(frozen=True)
class _Parent:
    """An input dataset."""

    tags: Tags
    today: TableSchema | None
    read: TableSchema | None
    """As of the input version."""


class _Ancestors:
    """Tags of a dataset and its ancestors, each loaded once."""

    def __init__(
        self, tx: Transaction, given: Mapping[DatasetName, DatasetDefinition] | None = None
    ) -> None:
        self._tx = tx
        self._given = given
        self._parents: dict[DatasetName | InputVersion, _Parent] = {}

    def inherited(
        self,
        definition: DatasetDefinition,
        read: Iterable[InputVersion] = (),
        *,
        transformed: bool = False,
    ) -> Tags:
        pins = {pin.dataset: pin for pin in read}
        above = {name: self._parent(name, pins.get(name)) for name in definition.parents}
        if not any(parent.tags for parent in above.values()):
            return {}
        return self._passed_on(definition, above, transformed=transformed)

    def _passed_on(
        self, definition: DatasetDefinition, above: dict[DatasetName, _Parent], *, transformed: bool
    ) -> Tags:
        """Tags as policies see them; a transform keeps column names."""
        match definition.build:
            case FromSql(text=text):
                return _by_sql(definition, text, above)
            case FromPython():
                return _by_name(definition, (parent.tags for parent in above.values()))
        return {}

    def _parent(self, name: DatasetName, pin: InputVersion | None) -> _Parent:
        key = pin or name
        if key not in self._parents:
            # guards against cycles
            self._parents[key] = _Parent(tags={}, today=None, read=None)
            self._parents[key] = self._found(name, pin)
        return self._parents[key]

    def _found(self, name: DatasetName, pin: InputVersion | None) -> _Parent:
        now = self._today(name, pin)
        tags = {}
        if now is not None:
            tags = self._all_tags(now, now.dataset, transformed=self._is_transformed(now))
        today = None if now is None else now.table_schema
        if pin is None:
            return _Parent(tags, today, read=None)
        version = require_version(self._tx, pin.dataset_id, pin.version)
        then = definition_of_version(self._tx, version)
        if then is not None:
            read = inputs_of(self._tx, pin.dataset_id, pin.version)
            known_as = then.dataset if now is None else now.dataset
            transformed = self._was_transformed(version)
            tags = _together(tags, self._all_tags(then, known_as, read, transformed=transformed))
        return _Parent(tags, today, version.table_schema)

    def _today(self, name: DatasetName, pin: InputVersion | None) -> DatasetDefinition | None:
        if pin is not None:  # it may have been renamed
            return dataset_by_id(self._tx, pin.dataset_id).definition
        if self._given is not None:
            return self._given.get(name)
        found = current_definition(self._tx, name)
        return None if found is None else found.definition

    def _all_tags(
        self,
        definition: DatasetDefinition,
        known_as: DatasetName,
        read: Iterable[InputVersion] = (),
        *,
        transformed: bool,
    ) -> Tags:
        own = {
            column.name.casefold(): {
                _Carried(tag.lower(), f"{known_as}.{column.name}") for tag in column.tags
            }
            for column in definition.columns
            if column.tags
        }
        return _together(self.inherited(definition, read, transformed=transformed), own)

    def _is_transformed(self, definition: DatasetDefinition) -> bool:
        """Skipped: it makes no difference to a policy."""
        return False

    def _was_transformed(self, version: StoredVersion) -> bool:
        return False


class _Suspects(_Ancestors):
    """Possible tags if the build's lineage is unknown."""

    def _passed_on(
        self, definition: DatasetDefinition, above: dict[DatasetName, _Parent], *, transformed: bool
    ) -> Tags:
        if not transformed and not isinstance(definition.build, FromPython):
            return super()._passed_on(definition, above, transformed=transformed)
        carried = set(_everything(parent.tags for parent in above.values()))
        return {column.name.casefold(): carried for column in definition.columns}

    def _is_transformed(self, definition: DatasetDefinition) -> bool:
        found = current_target(self._tx, definition.target or "")
        return found is not None and bool(found.transform)

    def _was_transformed(self, version: StoredVersion) -> bool:
        return bool(opening_of(self._tx, version.run_id).plan.transform)


def _together(first: Tags, second: Tags) -> Tags:
    names = [*first, *second]
    return {name: first.get(name, set()) | second.get(name, set()) for name in names}


def _by_sql(definition: DatasetDefinition, text: str, above: dict[DatasetName, _Parent]) -> Tags:
    """A column whose lineage is unknown carries all tags of the inputs."""
    from lakeguard.registry.sql.lineage import column_sources

    tags = {name: parent.tags for name, parent in above.items()}
    read = {name: parent.read or parent.today for name, parent in above.items()}
    today = {name: parent.today for name, parent in above.items()}
    ways = [
        column_sources(text, {name: schema for name, schema in schemas.items() if schema})
        for schemas in (read, today)
    ]
    result: Tags = {}
    for column in definition.columns:
        name = column.name.casefold()
        found = [sources[name] for sources in ways if name in sources]
        known = [made_of for made_of in found if made_of is not None]
        if not found or len(known) < len(found):
            carried = set(_everything(tags.values()))
        else:
            carried = {item for made_of in known for item in _of(made_of, tags)}
        if carried:
            result[name] = carried
    return result


def _of(made_of: Iterable[ColumnSource], above: dict[DatasetName, Tags]) -> Iterator[_Carried]:
    for source in made_of:
        for item in above.get(source.dataset, {}).get(source.column, ()):
            yield _Carried(item.tag, item.source, item.through | source.through)


def _everything(above: Iterable[Tags]) -> Iterator[_Carried]:
    for tags in above:
        for carried in tags.values():
            yield from carried


def _by_name(definition: DatasetDefinition, above: Iterable[Tags]) -> Tags:
    """The lineage of Python builds is unknown."""
    parents, result = list(above), Tags()
    for column in definition.columns:
        name = column.name.casefold()
        carried: set[_Carried] = set().union(*(tags.get(name, set()) for tags in parents))
        if carried:
            result[name] = carried
    return result
