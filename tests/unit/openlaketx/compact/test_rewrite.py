"""Merged files: the same rows in the same types, and no bound that would hide one."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.run import RunTicket, TableBase
from lakeguard_sdk.model.table_operations import Compacted, CompactionPlan
from lakeguard_sdk.storage.storage import storage_for
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.compact import rewrite
from openlaketx.compact.row_sums import row_sum
from openlaketx.engine.duckdb_reader import duckdb_reader

TYPES = {
    "s": ("string", pa.string()),
    "b": ("binary", pa.binary()),
    "flag": ("boolean", pa.bool_()),
    "tiny": ("byte", pa.int8()),
    "small": ("short", pa.int16()),
    "i": ("integer", pa.int32()),
    "n": ("long", pa.int64()),
    "f": ("float", pa.float32()),
    "d": ("double", pa.float64()),
    "day": ("date", pa.date32()),
    "at": ("timestamp", pa.timestamp("us", "UTC")),
    "local": ("timestamp_ntz", pa.timestamp("us")),
    "d9": ("decimal(9,2)", pa.decimal128(9, 2)),
    "d18": ("decimal(18,3)", pa.decimal128(18, 3)),
    "d38": ("decimal(38,4)", pa.decimal128(38, 4)),
}
SCHEMA = TableSchema(columns=tuple(Column(name=n, type=t) for n, (t, _) in TYPES.items()))
ARROW = pa.schema([(name, kind) for name, (_, kind) in TYPES.items()])
PHYSICAL = [
    "BYTE_ARRAY", "BYTE_ARRAY", "BOOLEAN", "INT32", "INT32", "INT32", "INT64", "FLOAT", "DOUBLE",
    "INT32", "INT64", "INT64", "INT32", "INT64", "FIXED_LEN_BYTE_ARRAY",
]  # fmt: skip


def row(number: int, **changed: Any) -> dict[str, Any]:
    return {
        "s": f"text {number} ü",
        "b": bytes([number]),
        "flag": number % 2 == 0,
        "tiny": number,
        "small": -number,
        "i": number,
        "n": 2**60 + number,
        "f": number / 4,
        "d": number / 3,
        "day": date(1999, 12, number + 1),
        "at": datetime(2026, 1, 1, 0, 0, 0, number + 1, tzinfo=UTC),
        "local": datetime(2026, 1, 1, 0, 0, 0, number + 1),  # noqa: DTZ001
        "d9": Decimal(f"{number}.25"),
        "d18": Decimal(f"-{number}.125"),
        "d38": Decimal(f"{10**30 + number}.0625"),
        **changed,
    }


NOTHING = dict.fromkeys(TYPES)


def written(root: Path, name: str, rows: list[dict[str, Any]], **options: Any) -> str:
    place = root / "runs" / name / "part.parquet"
    place.parent.mkdir(parents=True)
    given = {"store_decimal_as_integer": True, "store_schema": False, **options}
    schema = given.pop("schema", ARROW)
    with pq.ParquetWriter(place, schema, **given) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
        if schema.metadata:
            writer.add_key_value_metadata(schema.metadata)
    return f"runs/{name}/part.parquet"


def plan_of(root: Path, *groups: tuple[str, ...], **changed: Any) -> CompactionPlan:
    fields: dict[str, Any] = {
        "ticket": RunTicket(run_id="run_9", task_id="t", attempt=1, lease_token="l"),
        "dataset": DatasetName("silver.things"),
        "dataset_id": "ds_1",
        "lease_seconds": 120.0,
        "location": str(root),
        "base": TableBase(version=1, commit=1, table_id="table"),
        "groups": groups,
        "staging": "runs/run_9",
        "table_schema": SCHEMA,
    }
    return CompactionPlan(**{**fields, **changed})


def compacted(plan: CompactionPlan) -> Compacted:
    made = rewrite(plan, storage_for(plan.location), lambda: None)
    assert made is not None
    return made


def rows_of(root: Path, paths: list[str]) -> list[str]:
    found = [row for path in paths for row in pq.read_table(root / path).to_pylist()]
    return sorted(map(repr, found))


def test_rows_and_types_are_the_same(tmp_path: Path) -> None:
    files = [
        written(tmp_path, "a", [row(1), row(2), NOTHING]),
        written(tmp_path, "b", [row(3), row(3)]),
        written(tmp_path, "c", [row(4)]),
    ]
    made = compacted(plan_of(tmp_path, tuple(files)))
    (added,) = made.adds
    assert rows_of(tmp_path, [added.path]) == rows_of(tmp_path, files)
    assert (made.rows, added.rows, set(made.removes)) == (6, 6, set(files))
    assert made.before == made.after
    footer = pq.read_metadata(tmp_path / added.path)
    leaves = [footer.schema.column(index) for index in range(len(TYPES))]
    assert [leaf.physical_type for leaf in leaves] == PHYSICAL
    assert [leaf.name for leaf in leaves] == list(TYPES)
    assert footer.row_group(0).column(0).compression == "SNAPPY"
    stats = json.loads(added.stats)
    assert stats["numRecords"] == 6
    assert (stats["minValues"]["n"], stats["maxValues"]["n"]) == (2**60 + 1, 2**60 + 4)
    assert set(stats["nullCount"].values()) == {1}
    assert stats["maxValues"]["at"] == "2026-01-01T00:00:00.000005Z"
    assert len(added.sha256) == 64


def test_what_is_no_number_has_no_bounds(tmp_path: Path) -> None:
    """Else a reader that asks for more than the greatest number would skip it."""
    files = [
        written(tmp_path, "a", [row(1), row(2, d=math.nan)]),
        written(tmp_path, "b", [row(3, f=-0.0)]),
    ]
    (added,) = compacted(plan_of(tmp_path, tuple(files))).adds
    stats = json.loads(added.stats)
    assert "d" not in stats["maxValues"]
    assert "f" in stats["maxValues"]
    place = tmp_path / added.path
    column = pq.read_metadata(place).row_group(0).column(list(TYPES).index("d"))
    assert column.statistics is None
    asked = f"SELECT count(*) FROM read_parquet('{place}') WHERE d > 1e300"
    with duckdb.connect() as connection:
        assert connection.execute(asked).fetchall() == [(1,)]


def test_metadata_of_the_writer_stays(tmp_path: Path) -> None:
    """Spark reads from it how old dates are counted."""
    schema = ARROW.with_metadata({"org.apache.spark.version": "4.0.0"})
    files = [written(tmp_path, name, [row(1)], schema=schema) for name in ("a", "b")]
    (added,) = compacted(plan_of(tmp_path, tuple(files))).adds
    kept = pq.read_metadata(tmp_path / added.path).metadata
    assert kept[b"org.apache.spark.version"] == b"4.0.0"


def test_groups_stay_apart(tmp_path: Path) -> None:
    files = [written(tmp_path, name, [row(1, s=name[0])]) for name in ("x1", "x2", "y1", "y2")]
    groups = (tuple(files[:2]), tuple(files[2:]))
    made = compacted(plan_of(tmp_path, *groups, partition_by=("s",)))
    assert [file.partition for file in made.adds] == [{"s": "x"}, {"s": "y"}]
    assert made.before == made.after


@pytest.mark.parametrize(
    "odd",
    [
        {"schema": ARROW.append(pa.field("stranger", pa.int64()))},
        {"schema": ARROW.set(10, pa.field("at", pa.timestamp("ms", "UTC")))},
        {"schema": ARROW.with_metadata({"org.apache.spark.legacyDateTime": ""})},
        {"use_deprecated_int96_timestamps": True},
    ],
)
def test_what_cannot_stand_beside_others_is_left_alone(tmp_path: Path, odd: dict[str, Any]) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    files = [written(tmp_path, name, [row(1)]) for name in ("a", "b")]
    strange = written(tmp_path, "c", [row(1, at=at)], **odd)
    made = compacted(plan_of(tmp_path, (*files, strange)))
    assert set(made.removes) == set(files)
    alone = plan_of(tmp_path, (files[0], strange), staging="runs/run_10")
    assert rewrite(alone, storage_for(str(tmp_path)), lambda: None) is None


NESTED = {
    "v": ("struct<x:double,tags:array<string>>",
          pa.struct([("x", pa.float64()), ("tags", pa.list_(pa.field("element", pa.string())))])),
    "m": ("map<string,long>", pa.map_(pa.string(), pa.int64())),
}  # fmt: skip
GROWN = TableSchema(
    columns=(*SCHEMA.columns, *(Column(name=n, type=t) for n, (t, _) in NESTED.items()))
)
GROWN_ARROW = pa.schema([*ARROW, *((name, kind) for name, (_, kind) in NESTED.items())])


def without(*names: str) -> pa.Schema:
    return pa.schema([one for one in GROWN_ARROW if one.name not in names])


@pytest.mark.parametrize(
    "lacks",
    [(), ("v",), ("v", "m"), ("d",), tuple(name for name in TYPES if name != "n")],
)
def test_a_column_that_a_file_lacks_is_null_in_it(tmp_path: Path, lacks: tuple[str, ...]) -> None:
    """A table that gained columns keeps its old files, which would never find their like."""
    full = {**row(1, d=math.nan), "v": {"x": 0.5, "tags": ["a", None]}, "m": [("k", 1)]}
    others = [("b", GROWN_ARROW), ("c", pa.schema(list(GROWN_ARROW)[::-1]))]
    files = [written(tmp_path, name, [row(2), NOTHING], schema=without(*lacks)) for name in "a"]
    files += [written(tmp_path, name, [full, row(3)], schema=schema) for name, schema in others]
    made = compacted(plan_of(tmp_path, tuple(files), table_schema=GROWN))
    (added,) = made.adds
    assert (set(made.removes), made.rows, made.before) == (set(files), 6, made.after)
    assert pq.read_schema(tmp_path / added.path).names == list(GROWN.names)
    found = [repr([one.get(name) for name in GROWN.names]) for path in files for one in
             pq.read_table(tmp_path / path).to_pylist()]  # fmt: skip
    merged = pq.read_table(tmp_path / added.path).to_pylist()
    assert sorted(repr(list(one.values())) for one in merged) == sorted(found)


def test_a_column_that_no_file_has_is_null_in_all(tmp_path: Path) -> None:
    described = {
        "org.apache.spark.version": "4",
        "org.apache.spark.sql.parquet.row.metadata": "old",
    }
    files = [
        written(tmp_path, name, [row(number)], schema=ARROW.with_metadata(described))
        for number, name in enumerate(("a", "b"), start=1)
    ]
    (added,) = compacted(plan_of(tmp_path, tuple(files), table_schema=GROWN)).adds
    assert json.loads(added.stats)["nullCount"]["n"] == 0
    kept = pq.read_metadata(tmp_path / added.path).metadata
    assert kept[b"org.apache.spark.version"] == b"4"
    assert b"org.apache.spark.sql.parquet.row.metadata" not in kept
    merged = pq.read_table(tmp_path / added.path)
    assert merged.schema.field("v").type == NESTED["v"][1]
    assert merged.column("m").null_count == merged.num_rows == 2
    again = plan_of(tmp_path, (added.path, files[0]), table_schema=GROWN, staging="runs/run_10")
    assert compacted(again).rows == 3


def test_a_column_in_two_types_keeps_files_apart(tmp_path: Path) -> None:
    other = ARROW.set(5, pa.field("i", pa.int64()))
    files = [written(tmp_path, name, [row(1)]) for name in ("a", "b")]
    wide = written(tmp_path, "c", [row(1)], schema=other)
    assert set(compacted(plan_of(tmp_path, (wide, *files))).removes) == set(files)


def test_nested_columns_are_merged_too(tmp_path: Path) -> None:
    kind = pa.struct([("x", pa.float64()), ("tags", pa.list_(pa.string()))])
    schema = TableSchema(
        columns=(
            Column(name="n", type="long"),
            Column(name="v", type="struct<x:double,tags:array<string>>"),
        )
    )
    arrow = pa.schema([("n", pa.int64()), ("v", kind)])
    rows = [{"n": 1, "v": {"x": math.nan, "tags": ["a", None]}}, {"n": 2, "v": None}]
    files = [written(tmp_path, name, rows, schema=arrow) for name in ("a", "b")]
    made = compacted(plan_of(tmp_path, tuple(files), table_schema=schema))
    assert made.before == made.after
    assert rows_of(tmp_path, [made.adds[0].path]) == rows_of(tmp_path, files)


CHANGES = [
    [row(1), row(2)],
    [row(1), row(2), row(2)],
    [row(2), row(2)],
    [row(1), row(2, s=None)],
    [row(1), row(2, d=-0.0)],
    [row(1), row(2, d=0.0)],
    [row(1), row(2, d=math.nan)],
    [row(1, tiny=2), row(2, tiny=1)],
    [row(1, i=None, n=5), row(2)],
    [row(1, i=5, n=None), row(2)],
]


def test_the_digest_tells_rows_apart_and_order_not(tmp_path: Path) -> None:
    with duckdb_reader() as reader:
        described = {
            row_sum(reader, [str(tmp_path / written(tmp_path, str(i), rows))], SCHEMA).text()
            for i, rows in enumerate(CHANGES)
        }
        assert len(described) == len(CHANGES)
        back = written(tmp_path, "back", CHANGES[0][::-1])
        assert row_sum(reader, [str(tmp_path / back)], SCHEMA).text() in described


def test_it_stops_where_it_is_told_to(tmp_path: Path) -> None:
    files = [written(tmp_path, name, [row(1)]) for name in ("a", "b")]

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rewrite(plan_of(tmp_path, tuple(files)), storage_for(str(tmp_path)), stop)
