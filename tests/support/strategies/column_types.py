"""Column types of every kind and depth, for generated tests."""

from __future__ import annotations

from hypothesis import strategies as st

from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
    parts_of,
)

PLAIN = (
    "string", "boolean", "byte", "short", "integer", "long", "float", "double", "date",
    "timestamp", "timestamp_ntz", "binary", "decimal(1,0)", "decimal(9,2)", "decimal(38,38)",
)  # fmt: skip
plain_types = st.sampled_from(PLAIN)
names = st.one_of(
    st.sampled_from(
        ["id", "Name", "a b", "a.b", "a`b", "map", "struct<x", "é", "1", "decimal(1,2)"]
    ),
    st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=8),
)


def _map_free(found: ColumnType) -> bool:
    return not isinstance(found, MapOf) and all(map(_map_free, parts_of(found)))


def _made_of(parts: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
    fields = st.lists(
        st.tuples(names, parts), min_size=1, max_size=4, unique_by=lambda field: field[0].casefold()
    )
    return st.one_of(
        st.builds(ArrayOf, parts),
        st.builds(MapOf, parts.filter(_map_free), parts),
        st.builds(StructOf, fields.map(tuple)),
    )


column_types: st.SearchStrategy[ColumnType] = st.recursive(plain_types, _made_of, max_leaves=8)
