"""Propagates column tags along lineage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakeguard.gate.subject import InheritedTag
from lakeguard.ledger.openings import lineage_of_run, opening_of
from lakeguard.ledger.versions import StoredVersion, inputs_of, pointer, require_version
from lakeguard.promotion.privacy.load_columns import digests_in, load_sources
from lakeguard.promotion.records.version_facts import definition_of_version
from lakeguard.registry.store import current_definition, current_target, dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import DatasetDefinition, FromFrame, FromPython, FromSql
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.types.schema import TableSchema

if TYPE_CHECKING:
    from lakeguard.registry.sql.lineage import ColumnSource


@dataclass(frozen=True)
class _Carried:
    """A tag on a column, with its origin and path."""

    tag: str
    source: str
    through: frozenset[str] = frozenset()
    unknown: bool = False
    """Whether some lineage on its way is unknown."""


Tags = dict[str, set[_Carried]]
"""Keyed by lower-case column."""


def travelled_tags(
    tx: Transaction,
    definition: DatasetDefinition,
    read: Iterable[InputVersion] = (),
    lineage: BatchLineage | None = None,
    *,
    pending: bool = False,
) -> tuple[InheritedTag, ...]:
    """Inherited tags by column, from current definitions and from those of the input versions.

    ``lineage`` is what a run recorded. While it is pending, only what a person declared counts.
    """
    ancestors = _Ancestors(tx)
    found = ancestors.inherited(definition, read, lineage, pending=pending)
    return ancestors.as_inherited(definition, found)


def load_tags(tx: Transaction, definition: DatasetDefinition) -> tuple[InheritedTag, ...]:
    """Tags that the columns written by the load inherit from the tags of declared columns."""
    return _Ancestors(tx).as_inherited(definition, {})


def travelled_tags_of(
    tx: Transaction,
    names: Iterable[DatasetName],
    definitions: Mapping[DatasetName, DatasetDefinition],
) -> dict[DatasetName, tuple[InheritedTag, ...]]:
    """The same for many datasets from the given current definitions, without queries."""
    ancestors = _Ancestors(tx, definitions)
    return {
        name: ancestors.as_inherited(definitions[name], ancestors.inherited(definitions[name]))
        for name in names
    }


def possible_tags(
    tx: Transaction,
    definition: DatasetDefinition,
    read: Iterable[InputVersion] = (),
    *,
    lineage: BatchLineage | None = None,
    transformed: bool,
) -> tuple[InheritedTag, ...]:
    """Possible inherited tags: those that lineage shows, and all input tags for every column
    that a Python function or a target transform produces, until a run has reported its lineage."""
    suspects = _Suspects(tx)
    found = suspects.inherited(definition, read, lineage, transformed=transformed)
    return suspects.as_inherited(definition, found)


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
        self._sources: dict[tuple[str, int], _Parent] = {}

    def inherited(
        self,
        definition: DatasetDefinition,
        read: Iterable[InputVersion] = (),
        lineage: BatchLineage | None = None,
        *,
        transformed: bool = False,
        pending: bool = False,
    ) -> Tags:
        pins = {pin.dataset: pin for pin in read}
        found = {} if lineage is None else self._by_lineage(lineage)
        if lineage.by_definition if lineage is not None else not pending:
            shown = self._by_definition(definition, pins, transformed=transformed)
            found = _together(found, shown)
        return self._with_declared(definition, found, pins)

    def as_inherited(self, definition: DatasetDefinition, found: Tags) -> tuple[InheritedTag, ...]:
        """The tags found on the columns of the table, those that the load writes among them."""
        tags = _together(found, _own_tags(definition, definition.dataset))
        made = _together(found, self._by_load(definition, self._id_of(definition), tags))
        items = (
            InheritedTag(
                column=column.name,
                tag=carried.tag,
                source=carried.source,
                through=tuple(sorted(carried.through)),
                unknown=carried.unknown,
            )
            for column in definition.table_schema.columns
            for carried in made.get(column.name.casefold(), ())
        )
        return tuple(sorted(items, key=lambda item: item.to_json()))

    def _id_of(self, definition: DatasetDefinition) -> str | None:
        found = None
        if self._given is None and load_columns(definition.load):
            found = current_definition(self._tx, definition.dataset)
        return None if found is None else found.dataset_id

    def _by_load(self, definition: DatasetDefinition, dataset_id: str | None, tags: Tags) -> Tags:
        """Columns that the load writes carry the tags of what they are made of."""
        sources = load_sources(self._tx, definition, dataset_id)
        found = {
            name: {
                replace(item, through=item.through | digests_in(name))
                for column in columns
                for item in tags.get(column, ())
            }
            for name, columns in sources.items()
        }
        return {name: carried for name, carried in found.items() if carried}

    def _by_definition(
        self,
        definition: DatasetDefinition,
        pins: Mapping[DatasetName, InputVersion],
        *,
        transformed: bool,
    ) -> Tags:
        names = definition.parents or tuple(pins)
        above = {name: self._parent(name, pins.get(name)) for name in names}
        tagged = any(parent.tags for parent in above.values())
        return self._passed_on(definition, above, transformed=transformed) if tagged else {}

    def _by_lineage(self, lineage: BatchLineage) -> Tags:
        """As a run recorded it. Versions with a recorded lineage add their own tags only: their
        sources are among the ancestors."""
        read = [self._source(pin.dataset_id, pin.version) for pin in lineage.read]
        everything = _anything(parent.tags for parent in read)
        result: Tags = {}
        for column in lineage.columns:
            carried = set(everything) if column.unknown else set()
            for source in (*column.sources, *column.ancestors):
                parent = self._source(source.dataset_id, source.version)
                name = "" if source.any_column else source.column
                carried |= set(_through(parent, name, frozenset(source.through)))
            if carried:
                result[column.column.casefold()] = carried
        return result

    def _source(self, dataset_id: str, version: int) -> _Parent:
        key = dataset_id, version
        if key not in self._sources:
            stored = require_version(self._tx, dataset_id, version)
            now = dataset_by_id(self._tx, dataset_id).definition
            pin = InputVersion(dataset=now.dataset, dataset_id=dataset_id, version=version)
            if lineage_of_run(self._tx, stored.run_id) is None:
                self._sources[key] = self._parent(now.dataset, pin)
            else:
                then = definition_of_version(self._tx, stored)
                definitions = [now] if then is None else [now, then]
                tags: Tags = {}
                for definition in definitions:
                    tags = _together(tags, _own_tags(definition, now.dataset))
                    tags = _together(tags, self._with_declared(definition, {}, {}))
                for definition in definitions:
                    tags = _together(tags, self._by_load(definition, dataset_id, tags))
                self._sources[key] = _Parent(tags, now.table_schema, stored.table_schema)
        return self._sources[key]

    def _with_declared(
        self, definition: DatasetDefinition, found: Tags, pins: Mapping[DatasetName, InputVersion]
    ) -> Tags:
        """A person's word on a column replaces what lineage shows."""
        result = dict(found)
        for column in definition.columns:
            if not column.clean and not column.derived_from:
                continue
            carried: set[_Carried] = set()
            for path in column.derived_from:
                dataset, _, name = path.rpartition(".")
                parent = self._parent(DatasetName(dataset), pins.get(DatasetName(dataset)))
                carried |= set(_through(parent, name, frozenset()))
            result[column.name.casefold()] = carried
        return result

    def _passed_on(
        self, definition: DatasetDefinition, above: dict[DatasetName, _Parent], *, transformed: bool
    ) -> Tags:
        """Tags as policies see them; a transform keeps column names."""
        match definition.build:
            case FromSql(text=text):
                return _by_sql(definition, text, above)
            case FromPython() | FromFrame():
                return _by_anything(definition, (parent.tags for parent in above.values()))
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
        version = self._version(name, pin)
        lineage = None if version is None else lineage_of_run(self._tx, version.run_id)
        tags = {}
        if now is not None:
            transformed = self._is_transformed(now)
            tags = self._all_tags(now, now.dataset, lineage=lineage, transformed=transformed)
        today = None if now is None else now.table_schema
        dataset_id = None if version is None else version.dataset_id
        if pin is None or version is None:
            made = {} if now is None else self._by_load(now, dataset_id, tags)
            return _Parent(_together(tags, made), today, read=None)
        then = definition_of_version(self._tx, version)
        if then is not None:
            read = inputs_of(self._tx, pin.dataset_id, pin.version)
            known_as = then.dataset if now is None else now.dataset
            transformed = self._was_transformed(version)
            before = self._all_tags(then, known_as, read, lineage=lineage, transformed=transformed)
            tags = _together(tags, before)
        for definition in filter(None, (now, then)):
            tags = _together(tags, self._by_load(definition, dataset_id, tags))
        return _Parent(tags, today, version.table_schema)

    def _version(self, name: DatasetName, pin: InputVersion | None) -> StoredVersion | None:
        """The version that is read, or the published one."""
        if pin is not None:
            return require_version(self._tx, pin.dataset_id, pin.version)
        found = None if self._given is not None else current_definition(self._tx, name)
        shown = None if found is None else pointer(self._tx, found.dataset_id)
        if found is None or shown is None:
            return None
        return require_version(self._tx, found.dataset_id, shown.version)

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
        lineage: BatchLineage | None,
        transformed: bool,
    ) -> Tags:
        own = _own_tags(definition, known_as)
        inherited = self.inherited(definition, read, lineage, transformed=transformed)
        return _together(inherited, own)

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
        if not transformed:
            return super()._passed_on(definition, above, transformed=transformed)
        return _by_anything(definition, (parent.tags for parent in above.values()))

    def _is_transformed(self, definition: DatasetDefinition) -> bool:
        found = current_target(self._tx, definition.target or "")
        return found is not None and bool(found.transform)

    def _was_transformed(self, version: StoredVersion) -> bool:
        return bool(opening_of(self._tx, version.run_id).plan.transform)


def _own_tags(definition: DatasetDefinition, known_as: DatasetName) -> Tags:
    return {
        column.name.casefold(): {
            _Carried(tag.lower(), f"{known_as}.{column.name}") for tag in column.tags
        }
        for column in definition.columns
        if column.tags
    }


def _together(first: Tags, second: Tags) -> Tags:
    names = [*first, *second]
    return {name: first.get(name, set()) | second.get(name, set()) for name in names}


def _by_sql(definition: DatasetDefinition, text: str, above: dict[DatasetName, _Parent]) -> Tags:
    """A column whose lineage is unknown carries all tags of the inputs."""
    from lakeguard.registry.sql.lineage import column_lineage

    tags = {name: parent.tags for name, parent in above.items()}
    read = {name: parent.read or parent.today for name, parent in above.items()}
    today = {name: parent.today for name, parent in above.items()}
    ways = [
        column_lineage(text, {name: schema for name, schema in schemas.items() if schema})
        for schemas in (read, today)
    ]
    result: Tags = {}
    for column in definition.columns:
        name = column.name.casefold()
        found = [way.columns.get(name) for way in ways if name in way.columns or not way.complete]
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
            yield replace(item, through=item.through | source.through)


def _through(parent: _Parent, column: str, through: frozenset[str]) -> Iterator[_Carried]:
    """Tags of a column of an input; all tags of the input, if it has no such column."""
    name = column.casefold()
    for item in parent.tags.get(name, ()):
        yield replace(item, through=item.through | through)
    schemas = [schema for schema in (parent.today, parent.read) if schema is not None]
    if not any(name in map(str.casefold, schema.names) for schema in schemas):
        yield from _anything([parent.tags])


def _everything(above: Iterable[Tags]) -> Iterator[_Carried]:
    for tags in above:
        for carried in tags.values():
            yield from carried


def _anything(above: Iterable[Tags]) -> set[_Carried]:
    """All tags of the inputs, for a column of which nothing is known."""
    return {replace(item, unknown=True) for item in _everything(above)}


def _by_anything(definition: DatasetDefinition, above: Iterable[Tags]) -> Tags:
    """Without a lineage, every column may hold anything that was read."""
    carried = _anything(above)
    return {column.name.casefold(): carried for column in definition.columns} if carried else {}
