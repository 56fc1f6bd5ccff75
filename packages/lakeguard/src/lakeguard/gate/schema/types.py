"""Compares two types of one column part by part.

A type widens only as follows, so that every value keeps its meaning:

    byte → short → integer → long
    float → double
    decimal(p,s) → decimal(p+a,s+b) with a ≥ b ≥ 0
    date → timestamp_ntz

A whole number becomes a decimal or a double only if a user declares it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from lakeguard_sdk.model.schema_changes import SchemaChange
from lakeguard_sdk.types.plain_types import (
    FLOATS,
    INTEGERS,
    decimal_size,
    plain_widens,
    whole_number_fits,
)
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    type_text,
)

_INSIDE = {
    SchemaChange.WIDEN: SchemaChange.NESTED_WIDEN,
    SchemaChange.NARROW: SchemaChange.NESTED_NARROW,
}

Takes = Callable[[SchemaChange], bool]
"""Whether a class of change is accepted."""


class TypeChange(NamedTuple):
    """``path`` is the column and the part within it: ``a.b``, ``a[]``, ``a.key``."""

    path: str
    change: SchemaChange
    old: str | None
    new: str | None


def type_changes(name: str, old: str, new: str) -> Iterator[TypeChange]:
    """All type differences of a column; struct fields match by name, in any order."""
    if old != new:
        yield from _changes(name, parse_type(old), parse_type(new), inside=False)


def type_widens(old: str, new: str) -> bool:
    """Whether one plain type widens to another."""
    if old in INTEGERS and new in INTEGERS:
        return INTEGERS.index(old) < INTEGERS.index(new)
    if decimal_size(old) and decimal_size(new):
        return old != new and plain_widens(old, new)
    return (old, new) in (FLOATS, ("date", "timestamp_ntz"))


def grown_type(declared: str, live: str, takes: Takes) -> str:
    """The declared type with the accepted changes of the live one."""
    if declared == live:
        return declared
    return type_text(_grown(parse_type(declared), parse_type(live), takes, inside=False))


def grows_into(old: str, new: str) -> bool:
    """Whether files with the old type can be read as the new one without changing a value."""
    return old == new or grown_type(old, new, lambda _: True) == new


def plain_change(old: str, new: str) -> SchemaChange | None:
    """The class of change between plain types; None if equal."""
    if old == new:
        return None
    if type_widens(old, new):
        return SchemaChange.WIDEN
    if plain_widens(new, old) or type_widens(new, old) or whole_number_fits(new, old):
        return SchemaChange.NARROW
    if {old, new} == {"timestamp", "timestamp_ntz"}:
        return SchemaChange.TIMEZONE
    if decimal_size(old) and decimal_size(new):
        return SchemaChange.DECIMAL_SIZE
    return SchemaChange.INCOMPATIBLE_TYPE


def _changes(path: str, old: ColumnType, new: ColumnType, *, inside: bool) -> Iterator[TypeChange]:
    match old, new:
        case str(), str():
            change = plain_change(old, new)
            if change is not None:
                kind = _INSIDE.get(change, SchemaChange.NESTED_TYPE) if inside else change
                yield TypeChange(path, kind, old, new)
        case StructOf(), StructOf():
            yield from _field_changes(path, old, new)
        case ArrayOf(element=before), ArrayOf(element=after):
            yield from _changes(f"{path}[]", before, after, inside=True)
        case MapOf(), MapOf():
            yield from _changes(f"{path}.key", old.key, new.key, inside=True)
            yield from _changes(f"{path}.value", old.value, new.value, inside=True)
        case _:
            kind = SchemaChange.NESTED_TYPE if inside else SchemaChange.INCOMPATIBLE_TYPE
            yield TypeChange(path, kind, type_text(old), type_text(new))


def _field_changes(path: str, old: StructOf, new: StructOf) -> Iterator[TypeChange]:
    before, after = dict(old.fields), dict(new.fields)
    gone = {name.casefold(): name for name in before if name not in after}
    for name, kind in old.fields:
        if name in after:
            yield from _changes(f"{path}.{name}", kind, after[name], inside=True)
    for name, kind in new.fields:
        if name in before:
            continue
        twin = gone.pop(name.casefold(), None)
        if twin is None:
            yield TypeChange(f"{path}.{name}", SchemaChange.NESTED_ADD, None, type_text(kind))
            continue
        had, has = type_text(before[twin]), type_text(kind)
        yield TypeChange(f"{path}.{twin}", SchemaChange.NESTED_CASE_RENAME, had, has)
        yield from _changes(f"{path}.{twin}", before[twin], kind, inside=True)
    for name in gone.values():
        had = type_text(before[name])
        yield TypeChange(f"{path}.{name}", SchemaChange.NESTED_DROP, had, None)


def _grown(declared: ColumnType, live: ColumnType, takes: Takes, *, inside: bool) -> ColumnType:
    match declared, live:
        case str(), str():
            widened = SchemaChange.NESTED_WIDEN if inside else SchemaChange.WIDEN
            return live if type_widens(declared, live) and takes(widened) else declared
        case StructOf(), StructOf():
            return _grown_struct(declared, live, takes)
        case ArrayOf(element=had), ArrayOf(element=has):
            return ArrayOf(_grown(had, has, takes, inside=True))
        case MapOf(), MapOf():
            key = _grown(declared.key, live.key, takes, inside=True)
            return MapOf(key, _grown(declared.value, live.value, takes, inside=True))
    return declared


def _grown_struct(declared: StructOf, live: StructOf, takes: Takes) -> StructOf:
    """Declared fields in their order, then new ones."""
    found = {name.casefold(): kind for name, kind in live.fields} | dict(live.fields)
    fields = [
        (name, _grown(kind, found.get(name, found.get(name.casefold(), kind)), takes, inside=True))
        for name, kind in declared.fields
    ]
    known = {name.casefold() for name, _ in fields}
    if takes(SchemaChange.NESTED_ADD):
        fields += [(name, kind) for name, kind in live.fields if name.casefold() not in known]
    return StructOf(tuple(fields))
