from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.types.schema import (
    Column,
    TableSchema,
    normal_type,
    widens,
)


def schema(**columns: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in columns.items()))


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("INT", "integer"),
        ("bigint", "long"),
        (" decimal( 10 , 2 ) ", "decimal(10,2)"),
        ("timestamp_ntz", "timestamp_ntz"),
    ],
)
def test_a_type_has_one_spelling(text: str, normal: str) -> None:
    assert normal_type(text) == normal


@pytest.mark.parametrize("text", ["varchar(10)", "decimal(39,0)", "decimal(2,3)", "", "interval"])
def test_what_is_not_a_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a column type"):
        normal_type(text)


def test_the_schema_hash_sees_names_and_types_but_not_order() -> None:
    one = schema(a="long", b="string")
    assert one.schema_hash == schema(b="string", a="bigint").schema_hash
    assert one.schema_hash != schema(a="long", b="binary").schema_hash
    assert one.schema_hash != schema(A="long", b="string").schema_hash


_DECIMAL = st.tuples(st.integers(1, 38), st.integers(0, 38)).filter(lambda d: d[1] <= d[0])


@given(_DECIMAL, _DECIMAL)
def test_a_decimal_widens_only_where_nothing_is_lost(
    small: tuple[int, int], large: tuple[int, int]
) -> None:
    keeps = large[1] >= small[1] and large[0] - large[1] >= small[0] - small[1]
    assert widens(f"decimal({small[0]},{small[1]})", f"decimal({large[0]},{large[1]})") == keeps


@pytest.mark.parametrize(
    ("found", "declared", "loses_nothing"),
    [
        ("integer", "long", True),
        ("long", "integer", False),
        ("float", "double", True),
        ("integer", "double", True),
        ("long", "double", False),
        ("integer", "string", False),
        ("date", "timestamp", False),
    ],
)
def test_widening(found: str, declared: str, loses_nothing: bool) -> None:
    assert widens(found, declared) is loses_nothing
