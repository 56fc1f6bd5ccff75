"""Nested columns have several leaves in a file, which never shift other columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.expressions.conditions import ColumnRef, IsNull
from lakeguard_sdk.expressions.measures import Aggregate, AggregateFunction, CountIf
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.measure.sql.condition_sql import sql_type
from openlaketx.measure.take_measures import NoAnswer, answer
from openlaketx.stage.candidate import Candidate, collect
from openlaketx.stage.footer_ranges import leaf_indexes

TYPES = {
    "a": "long",
    "s": "struct<x:integer,y:map<string,array<decimal(9,2)>>,f:float>",
    "b": "long",
    "l": "array<struct<z:timestamp>>",
    "region": "string",
}
SCHEMA = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in TYPES.items()))
MOMENTS = pa.list_(pa.struct([("z", pa.timestamp("us", "UTC"))]))
ARROW = pa.schema(
    [
        ("a", pa.int64()),
        (
            "s",
            pa.struct(
                [
                    ("x", pa.int32()),
                    ("y", pa.map_(pa.string(), pa.list_(pa.decimal128(9, 2)))),
                    ("f", pa.float32()),
                ]
            ),
        ),
        ("b", pa.int64()),
        ("l", MOMENTS),
        ("region", pa.string()),
    ]
)
ROWS: list[dict[str, Any]] = [
    {"a": 1, "s": {"x": 99, "y": [("k", [None])]}, "b": -5, "l": [], "region": "n"},
    {"a": 2, "s": None, "b": None, "l": None, "region": "n"},
    {"a": None, "s": {"x": None, "y": None}, "b": 7, "l": [None, {"z": None}], "region": "n"},
]


def staged(folder: Path, arrow: pa.Schema = ARROW, by: tuple[str, ...] = ()) -> Candidate:
    run = folder / "runs" / "run_1" / ("lg_partition=1" if by else "")
    run.mkdir(parents=True, exist_ok=True)
    (folder / "runs" / "run_1" / "_SUCCESS").touch()
    rows = pa.Table.from_pylist(ROWS, arrow)
    pq.write_table(rows, run / "a.parquet", row_group_size=2, store_decimal_as_integer=True)
    return collect(str(folder), "runs/run_1", SCHEMA, "silver.t", LocalStorage(), by)


def test_footers_are_asked_by_leaf() -> None:
    assert leaf_indexes(SCHEMA) == {"a": 0, "b": 5, "region": 7}


def test_statistics_are_those_of_the_plain_columns(tmp_path: Path) -> None:
    (file,) = staged(tmp_path).files
    assert json.loads(file.stats) == {
        "numRecords": 3,
        "minValues": {"a": 1, "b": -5, "region": "n"},
        "maxValues": {"a": 2, "b": 7, "region": "n"},
        "nullCount": {"a": 1, "b": 1, "region": 0},
    }


def test_a_partition_is_that_of_its_own_column(tmp_path: Path) -> None:
    (file,) = staged(tmp_path, by=("region",)).files
    assert file.partition == {"region": "n"}


def test_footers_answer_for_plain_columns_and_for_no_other(tmp_path: Path) -> None:
    candidate = staged(tmp_path)
    b, s = ColumnRef(name="b", type="long"), ColumnRef(name="s", type=TYPES["s"])
    most = Aggregate(function=AggregateFunction.MAX, column=b)
    assert answer(most, candidate, SCHEMA, 0) == 7
    assert answer(CountIf(condition=IsNull(of=b)), candidate, SCHEMA, 0) == 1
    with pytest.raises(NoAnswer):
        answer(CountIf(condition=IsNull(of=s)), candidate, SCHEMA, 0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (pa.list_(pa.struct([("Z", pa.timestamp("us", "UTC"))])), "array<struct<Z:timestamp>>"),
        (pa.list_(pa.struct([("z", pa.timestamp("us"))])), "array<struct<z:timestamp_ntz>>"),
        (pa.struct([("z", pa.timestamp("us", "UTC"))]), "struct<z:timestamp>"),
    ],
    ids=["name", "type", "kind"],
)
def test_another_nested_column_than_declared_is_refused(
    tmp_path: Path, change: pa.DataType, expected: str
) -> None:
    arrow = ARROW.set(3, pa.field("l", change))
    rows = [{**row, "l": None} for row in ROWS]
    run = tmp_path / "runs" / "run_1"
    run.mkdir(parents=True)
    (run / "_SUCCESS").touch()
    table = pa.Table.from_pylist(rows, arrow)
    pq.write_table(table, run / "a.parquet", store_decimal_as_integer=True)
    with pytest.raises(StagingFailed, match=f"column l is {expected}"):
        collect(str(tmp_path), "runs/run_1", SCHEMA, "silver.t", LocalStorage())


def test_a_leaf_in_another_physical_type_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "run_1"
    run.mkdir(parents=True)
    (run / "_SUCCESS").touch()
    pq.write_table(pa.Table.from_pylist(ROWS, ARROW), run / "a.parquet")
    with pytest.raises(StagingFailed, match=r"column s is struct.*FIXED_LEN_BYTE_ARRAY"):
        collect(str(tmp_path), "runs/run_1", SCHEMA, "silver.t", LocalStorage())


def test_duckdb_has_a_type_for_each(tmp_path: Path) -> None:
    """An empty table is queried with the types that a file would have."""
    candidate = staged(tmp_path)
    file = str(Path(candidate.location, candidate.files[0].path))
    with duckdb.connect() as connection:
        for column in SCHEMA.columns:
            query = f'SELECT typeof("{column.name}") FROM read_parquet($f) LIMIT 1'
            found = connection.execute(query, {"f": file}).fetchone()
            made = f"SELECT typeof(CAST(NULL AS {sql_type(column.type)}))"
            assert connection.execute(made).fetchone() == found
