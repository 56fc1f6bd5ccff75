"""Parquet types are mapped exactly, at every depth, or rejected by name."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeguard_sdk.types.schema import TableSchema, leaf_types
from lakeguard_sdk.types.type_tree import ColumnType, type_text
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from tests.support.cases.arrow_types import arrow_of
from tests.support.strategies.column_types import column_types


def written(*fields: tuple[str, pa.DataType], store_schema: bool = True) -> TableSchema:
    schema = pa.schema(list(fields))
    file = io.BytesIO()
    with pq.ParquetWriter(file, schema, store_schema=store_schema) as writer:
        writer.write_table(schema.empty_table())
    return table_schema(pq.read_metadata(file))


@settings(deadline=None)
@given(st.lists(column_types, min_size=1, max_size=4), st.booleans())
def test_every_type_is_told_as_it_was_written(types: list[ColumnType], store_schema: bool) -> None:
    fields = [(f"c{index}", arrow_of(found)) for index, found in enumerate(types)]
    reported = written(*fields, store_schema=store_schema)
    assert [column.type for column in reported.columns] == list(map(type_text, types))
    assert reported.names == tuple(f"c{index}" for index in range(len(types)))


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.large_list(pa.int8()), "array<byte>"),
        (pa.list_(pa.int64(), 3), "array<long>"),
        (pa.list_(pa.dictionary(pa.int8(), pa.string())), "array<string>"),
        (pa.list_(pa.field("item", pa.int32(), nullable=False)), "array<integer>"),
        (pa.struct([pa.field("x", pa.int32(), nullable=False)]), "struct<x:integer>"),
        (pa.list_(pa.uint32()), "array<long>"),
        (pa.struct([("a.b", pa.date32()), ("a", pa.date32())]), "struct<`a.b`:date,a:date>"),
        (pa.list_(pa.timestamp("ms", "UTC")), "array<timestamp>"),
    ],
    ids=str,
)
def test_other_ways_of_writing_a_nested_column(arrow: pa.DataType, expected: str) -> None:
    found = written(("before", pa.int64()), ("x", arrow), ("a.b", pa.string()))
    assert [column.type for column in found.columns] == ["long", expected, "string"]
    assert found.names == ("before", "x", "a.b")
    assert sum(len(leaf_types(column.type)) for column in found.columns) >= 3


@pytest.mark.parametrize(
    ("arrow", "expected"),
    [
        (pa.list_(pa.timestamp("ns", "UTC")), "column x: column x.list.element is INT64"),
        (pa.struct([("t", pa.time64("us"))]), "column x: column x.t is INT64"),
        (pa.struct([("a", pa.int32()), ("A", pa.int32())]), "differ in case only"),
    ],
    ids=["nanoseconds", "time of day", "case"],
)
def test_a_part_that_no_column_has_is_refused_by_name(arrow: pa.DataType, expected: str) -> None:
    with pytest.raises(UnsupportedColumn, match=expected):
        written(("before", pa.int64()), ("x", arrow))
