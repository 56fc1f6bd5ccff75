"""Finds and classifies the differences between a live schema and the approved one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from lakeguard.gate.schema.types import type_changes
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition
from lakeguard_sdk.model.schema_changes import SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema, is_nested

LIKE_ENOUGH = 0.6
"""Minimum similarity of two column names to suggest a rename."""


@dataclass(frozen=True)
class Approved:
    """The schema that a live one is compared with."""

    schema: TableSchema
    required: frozenset[str] = field(default_factory=frozenset)
    """Columns that are not nullable."""
    promised: frozenset[str] = field(default_factory=frozenset)
    """Columns that the source itself must declare not nullable."""
    keys: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()

    def bound(self, column: str, change: SchemaChange) -> SchemaChange:
        """The change, reported as a key or partition change if the table depends on the column."""
        if column in self.partition_by:
            return SchemaChange.PARTITION_CHANGE
        return SchemaChange.KEY_CHANGE if column in self.keys else change


@dataclass(frozen=True)
class Difference:
    """``column`` is the declared name if there is one; ``a.b`` for a nested field."""

    column: str
    change: SchemaChange
    found: str | None
    declared: str | None
    other: str = ""
    """Its name in the live schema."""


def find_changes(live: TableSchema, approved: Approved, *, text_source: bool) -> list[Difference]:
    """Differences sorted by column; column order is ignored. A text source delivers every plain
    type as a string, so that string is not a type difference there."""
    gone = [column for column in approved.schema.columns if live.type_of(column.name) is None]
    new = [column for column in live.columns if approved.schema.type_of(column.name) is None]
    pairs = _case_pairs(gone, new)
    found = [
        Difference(old.name, SchemaChange.CASE_RENAME, now.type, old.type, now.name)
        for old, now in pairs
    ]
    both = [(old, _live(live, old.name)) for old in approved.schema.columns if old not in gone]
    for old, now in [*both, *pairs]:
        found += _type_differences(old, now, approved, text_source=text_source)
        found += _nullability(old, now, approved)
    gone = [old for old in gone if old not in [one for one, _ in pairs]]
    new = [now for now in new if now not in [other for _, other in pairs]]
    found += _names(gone, new, approved, text_source=text_source)
    return sorted(found, key=lambda item: (item.column, item.change))


def reordered(live: TableSchema, declared: TableSchema) -> Difference | None:
    """The first common column whose relative position differs."""
    wanted = [name for name in declared.names if name in set(live.names)]
    found = [name for name in live.names if name in set(declared.names)]
    for name, other in zip(wanted, found, strict=True):
        if name != other:
            kind = declared.type_of(other)
            return Difference(other, SchemaChange.REORDER, kind, kind)
    return None


def _live(live: TableSchema, name: str) -> Column:
    return next(column for column in live.columns if column.name == name)


def _case_pairs(gone: list[Column], new: list[Column]) -> list[tuple[Column, Column]]:
    by_fold = {column.name.casefold(): column for column in new}
    folded = [(old, by_fold.get(old.name.casefold())) for old in gone]
    return [(old, now) for old, now in folded if now is not None]


def _type_differences(
    old: Column, now: Column, approved: Approved, *, text_source: bool
) -> Iterator[Difference]:
    if _read_from_text(old.type, now.type, text_source=text_source):
        return
    for item in type_changes(old.name, old.type, now.type):
        widened = item.change is SchemaChange.WIDEN
        change = approved.bound(old.name, item.change) if widened else item.change
        yield Difference(item.path, change, item.new, item.old)


def _read_from_text(declared: str, live: str, *, text_source: bool) -> bool:
    return text_source and live == "string" and not is_nested(declared)


def _nullability(old: Column, now: Column, approved: Approved) -> Iterator[Difference]:
    """Only if the source reports nullability."""
    if now.nullable is True and old.name in approved.promised:
        yield Difference(old.name, SchemaChange.RELAX_NULLABILITY, now.type, old.type)
    if now.nullable is False and old.name not in approved.required:
        yield Difference(old.name, SchemaChange.TIGHTEN_NULLABILITY, now.type, old.type)


def _names(
    gone: list[Column], new: list[Column], approved: Approved, *, text_source: bool
) -> Iterator[Difference]:
    renamed = _rename_candidates(gone, new, text_source=text_source)
    for old, now in renamed:
        change = approved.bound(old.name, SchemaChange.RENAME)
        yield Difference(old.name, change, now.type, old.type, now.name)
    old_names = {old.name for old, _ in renamed}
    for old in (column for column in gone if column.name not in old_names):
        required = old.name in approved.required
        change = SchemaChange.DROP_REQUIRED if required else SchemaChange.DROP_NULLABLE
        yield Difference(old.name, approved.bound(old.name, change), None, old.type)
    new_names = {now.name for _, now in renamed}
    for now in (column for column in new if column.name not in new_names):
        required = now.nullable is False
        change = SchemaChange.ADD_REQUIRED if required else SchemaChange.ADD_NULLABLE
        yield Difference(now.name, change, now.type, None)


def _rename_candidates(
    gone: list[Column], new: list[Column], *, text_source: bool
) -> list[tuple[Column, Column]]:
    """Pairs of dropped and added columns with the same type and similar names, most similar first,
    each column once."""
    scored = [
        (_likeness(old.name, now.name), old, now)
        for old in gone
        for now in new
        if old.type == now.type or _read_from_text(old.type, now.type, text_source=text_source)
    ]
    likely = [item for item in scored if item[0] >= LIKE_ENOUGH]
    pairs: list[tuple[Column, Column]] = []
    for _, old, now in sorted(likely, key=lambda item: (-item[0], item[1].name, item[2].name)):
        if all(old != one and now != other for one, other in pairs):
            pairs.append((old, now))
    return pairs


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()


# Differences between two revisions of a definition besides column names and types.


def revised_differences(
    before: DatasetDefinition, after: DatasetDefinition, *, rebuilt: bool
) -> Iterator[Difference]:
    """Differences of keys, partitions, descriptions and tags; a ``rebuilt`` table may change its
    keys."""
    old, new = before.load, after.load
    if not rebuilt and old.keys and new.keys and set(old.keys) != set(new.keys):
        yield _listed(SchemaChange.KEY_CHANGE, old.keys, new.keys)
    if old.partition_by != new.partition_by:
        yield _listed(SchemaChange.PARTITION_CHANGE, old.partition_by, new.partition_by)
    known = {column.name: column for column in before.columns}
    for column in after.columns:
        if column.name in known:
            yield from _notes(known[column.name], column)


def _notes(old: ColumnDefinition, new: ColumnDefinition) -> Iterator[Difference]:
    if old.description != new.description:
        yield Difference(new.name, SchemaChange.COMMENT, new.description, old.description)
    if set(old.tags) != set(new.tags):
        tags = ", ".join(sorted(new.tags)), ", ".join(sorted(old.tags))
        yield Difference(new.name, SchemaChange.TAG, *tags)


def _listed(change: SchemaChange, old: tuple[str, ...], new: tuple[str, ...]) -> Difference:
    return Difference("", change, ", ".join(new), ", ".join(old))
