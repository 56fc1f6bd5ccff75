"""What can be asked of any column type, nested ones included."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard_sdk.plain_types import plain_widens
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf, parts_of

_NESTED = ("array<", "map<", "struct<")


def is_nested(data_type: str) -> bool:
    """Of a type in its normal spelling."""
    return data_type.startswith(_NESTED)


def leaf_types(data_type: str) -> tuple[str, ...]:
    """The plain types in a type, in order: a Parquet file has one column of each."""
    return tuple(_leaves(parse_type(data_type))) if is_nested(data_type) else (data_type,)


def field_names(data_type: str) -> tuple[str, ...]:
    """The names of all fields in a type, at every depth."""
    return tuple(_names(parse_type(data_type))) if is_nested(data_type) else ()


def field_paths(name: str, data_type: str) -> tuple[str, ...]:
    """A column and the fields of its structs as engines name their statistics: ``a.b.c``."""
    if not is_nested(data_type):
        return (name,)
    return tuple(_paths(name, parse_type(data_type)))


def widens(found: str, declared: str) -> bool:
    """Whether every value of ``found`` has the same meaning as a ``declared``.

    Part by part, the fields of a struct by name; a field more or less is no widening.
    """
    return found == declared or _widens(parse_type(found), parse_type(declared))


def _leaves(found: ColumnType) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    for part in parts_of(found):
        yield from _leaves(part)


def _names(found: ColumnType) -> Iterator[str]:
    if isinstance(found, StructOf):
        yield from (name for name, _ in found.fields)
    for part in parts_of(found):
        yield from _names(part)


def _paths(path: str, found: ColumnType) -> Iterator[str]:
    yield path
    if isinstance(found, StructOf):
        for name, part in found.fields:
            yield from _paths(f"{path}.{name}", part)


def _widens(found: ColumnType, declared: ColumnType) -> bool:
    match found, declared:
        case str(), str():
            return plain_widens(found, declared)
        case StructOf(), StructOf():
            wanted = dict(declared.fields)
            return len(found.fields) == len(wanted) and all(
                name in wanted and _widens(part, wanted[name]) for name, part in found.fields
            )
        case (ArrayOf(), ArrayOf()) | (MapOf(), MapOf()):
            pairs = zip(parts_of(found), parts_of(declared), strict=True)
            return all(_widens(one, other) for one, other in pairs)
    return False
