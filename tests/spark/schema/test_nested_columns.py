"""Nested tables: every engine reads exactly what was written."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.types.schema import Column, TableSchema
from lakeguard_sdk.types.type_parser import parse_type
from openlaketx.conform.hashes import content_hash
from openlaketx.engine.delta_table import live_files, open_table, schema_of
from openlaketx.engine.locations import duckdb_path
from openlaketx.worker import create_worker
from tests.support.cases.arrow_types import arrow_of

pytestmark = pytest.mark.spark

Types = dict[str, str]
Rows = list[dict[str, Any]]

ODD_NAMES = [
    "a b", "it's", 'say "x"', "tick`", "a.b", "a,b", "semi;", "{x}", "(y)", "k = v", "100%",
    "é", "Ångström 💥", "日本", "<z>", "[0]", "a/b", "back\\slash", "#", "select", "_", "1st",
    "?x&y", "$f", "a:b", "*", "value",
]  # fmt: skip
FIRST = datetime(1, 1, 1, tzinfo=UTC)
LOCAL = FIRST.replace(tzinfo=None)
LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
PLAIN: Types = {
    "id": "long", "small": "decimal(9,2)", "middle": "decimal(18,4)", "whole": "decimal(38,0)",
    "fraction": "decimal(38,38)", "both": "decimal(38,18)", "at": "timestamp",
    "local": "timestamp_ntz", "day": "date", "x": "float", "y": "double", "tiny": "byte",
    "ok": "boolean", "raw": "binary", "text": "string", "nothing": "string",
}  # fmt: skip
NESTED: Types = {
    "person": "struct<name:string,`born on`:date,tags:array<string>>",
    "list": "array<integer>",
    "prices": "map<string,decimal(38,18)>",
    "log": "array<struct<at:timestamp,local:timestamp_ntz,by:map<integer,array<double>>>>",
    "deep": "struct<b:struct<c:struct<d:array<array<map<string,struct<e:binary>>>>>>>",
    "keyed": "map<struct<x:long,y:string>,boolean>",
}
WHOLE, PART = Decimal("9" * 38), Decimal("0." + "9" * 38)
ROWS: Rows = [
    {
        "id": 1, "small": Decimal("-9999999.99"), "middle": Decimal("0.0001"), "whole": WHOLE,
        "fraction": PART.copy_negate(), "both": Decimal("9" * 20 + "." + "9" * 18), "at": FIRST,
        "local": FIRST.replace(tzinfo=None), "day": FIRST.date(), "x": math.nan, "y": -0.0,
        "tiny": -128, "ok": True, "raw": b"\x00\xff", "text": "",
        "person": {"name": "Ada", "born on": date(1815, 12, 10), "tags": ["", None]},
        "list": [], "prices": [("a", Decimal("0." + "9" * 18)), ("", None)],
        "log": [None, {"at": FIRST, "local": None, "by": [(1, [0.1, None]), (2, None)]}],
        "deep": {"b": {"c": {"d": [[[("k", {"e": b""})], []], None]}}},
        "keyed": [({"x": 1, "y": None}, True), ({"x": 1, "y": "z"}, None)],
    },
    {
        "id": 2, "small": Decimal("0.00"), "whole": WHOLE.copy_negate(), "fraction": PART,
        "at": LAST, "local": LAST.replace(tzinfo=None), "day": LAST.date(), "x": math.inf,
        "y": 5e-324, "tiny": 127, "ok": False, "raw": b"", "text": "é💥\n\"',",
        "person": {"name": None, "born on": None, "tags": None}, "list": [None, 2**31 - 1],
        "prices": [], "log": [], "deep": {"b": None}, "keyed": [],
    },
    {"id": 3},
]  # fmt: skip


def arrow(types: Types) -> pa.Schema:
    return pa.schema([(name, arrow_of(parse_type(kind))) for name, kind in types.items()])


def land(folder: Path, name: str, types: Types, rows: Rows, **options: Any) -> pa.Table:
    (folder / "in").mkdir(exist_ok=True)
    table = pa.Table.from_pylist(rows, arrow(types))
    pq.write_table(table, folder / "in" / f"{name}.parquet", **options)
    return table


def project(
    folder: Path, name: str, types: Types, load: str, more: str = "", silver: str = ""
) -> Client:
    """A bronze dataset that reads ``in/<name>*.parquet``, and a silver one of the same columns."""
    said_columns = {column: {"type": kind} for column, kind in types.items()}
    columns = json.dumps(said_columns, ensure_ascii=False)
    text = f"owner: tests\ndomain: shapes\ncolumns: {columns}\n{more}"
    files = {
        "lakeguard.toml": "[env.dev]\n",
        f"definitions/sources/{name}.yaml": (
            f"source: {name}\nformat: parquet\npath: in/{name}*.parquet\n"
        ),
        f"definitions/bronze/{name}.yaml": (
            f"dataset: bronze.{name}\nsource: {name}\nload: {load}\n{text}"
        ),
        f"definitions/silver/{name}.yaml": (
            f"dataset: silver.{name}\nparents: [bronze.{name}]\n"
            f"build: {{sql: sql/{name}.sql}}\nload: {silver or load}\n{text}"
        ),
        f"sql/{name}.sql": f"SELECT * FROM bronze.{name}\n",
    }
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    client = connect(folder)
    client.registry.apply(client.registry.plan(load_folder(folder)))
    return client


def run(client: Client, name: str) -> RunResult:
    task = client.operations.submit(DatasetName(name), "tests")
    return create_worker(client.for_worker(), spark_options={}).run_task(task)


def published(client: Client, name: str) -> RunResult:
    result = run(client, name)
    assert (result.status, result.error) == (RunStatus.SUCCESS, None)
    return result


def shown(table: pa.Table, names: list[str]) -> list[tuple[Any, ...]]:
    """Rows in one order and format: NaN equals NaN, and -0.0 is not 0.0."""
    rows = [tuple(_spelled(row[name]) for name in names) for row in table.to_pylist()]
    return sorted(rows, key=repr)


def _spelled(value: Any) -> Any:
    match value:
        case float():
            return repr(value)
        case dict():
            return {name: _spelled(item) for name, item in value.items()}
        case list() | tuple():
            return [_spelled(item) for item in value]
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC)
    return value


def read_alike(spark: SparkSession, client: Client, name: str, brought: pa.Table) -> str:
    """Every engine returns the written rows; returns the location of the table."""
    found = client.reader.resolve(parse_address(name))
    location, names = found.location, list(brought.column_names)
    wanted = shown(brought, names)
    assert shown(pa.table(DeltaTable(location).scan().read_all()), names) == wanted, "delta-rs"
    by_spark = spark.read.format("delta").load(location)
    assert by_spark.columns == names
    assert shown(by_spark.toArrow(), names) == wanted, "Spark"
    files = [f"{location}/{path}" for path in live_files(open_table(location, found.commit))]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("log", DeltaTable(location).to_pyarrow_dataset())
        origins = {"log": {}, "read_parquet($f)": {"f": [*map(duckdb_path, files)]}}
        for origin, given in origins.items():
            if origin == "log" or files:
                reported = connection.sql(f"SELECT * FROM {origin}", params=given).to_arrow_table()
                assert shown(reported, names) == wanted, f"DuckDB, {origin}"
    return location


def declared(types: Types) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))


def test_values_and_names_of_every_shape(spark: SparkSession, tmp_path: Path) -> None:
    types = {**PLAIN, **NESTED, **dict.fromkeys(ODD_NAMES, "integer")}
    rows = [{**row, **{name: n + row["id"] for n, name in enumerate(ODD_NAMES)}} for row in ROWS]
    brought = land(tmp_path, "shapes", types, rows)
    rules = 'rules: ["not_null(person) warn_if > 0", "not_null(`a.b`)", "max(`a b`, max=3)"]\n'
    by_odd = '{type: FULL, partition_by: ["k = v", "日本"]}'
    client = project(tmp_path, "shapes", types, "FULL", rules, by_odd)
    for name in ("bronze.shapes", "silver.shapes"):
        result = published(client, name)
        location = read_alike(spark, client, name, brought)
        assert schema_of(DeltaTable(location)) == declared(types)
        assert result.decision is not None
        failed = {check.check_id: check.failed_rows for check in result.decision.ruling.checks}
        assert failed["not_null.person"] == 1, "a struct of nothing but NULL is no NULL"
        table = spark.read.format("delta").load(location)
        assert table.where(f"whole = {WHOLE}").count() == 1, "no digit is lost in statistics"
        assert table.where("`a b` = 1 AND at < TIMESTAMP'0002-01-01 00:00:00'").count() == 1
        assert table.where("person.`born on` = DATE'1815-12-10'").count() == 1
    assert client.ledger.verify().findings == ()


def test_parts_widen_by_name_and_nothing_else_passes(spark: SparkSession, tmp_path: Path) -> None:
    wide = {
        "id": "long", "s": "struct<a:double,b:struct<c:long,d:decimal(20,4)>>",
        "l": "array<struct<x:long,y:string>>", "m": "map<long,array<integer>>",
    }  # fmt: skip
    narrow = {
        "id": "integer", "m": "map<integer,array<short>>", "l": "array<struct<y:string,x:byte>>",
        "s": "struct<b:struct<d:decimal(9,2),c:integer>,a:float>",
    }  # fmt: skip
    rows: Rows = [
        {"id": 1, "s": {"a": 0.5, "b": {"c": 7, "d": Decimal("1.50")}}, "l": [{"x": 1, "y": "z"}],
         "m": [(1, [2, None])]},
        {"id": 2, "s": {"a": None, "b": None}, "l": [None], "m": [(3, None)]},
        {"id": 3, "s": None, "l": None, "m": None},
    ]  # fmt: skip
    land(tmp_path, "parts", narrow, rows)
    client = project(tmp_path, "parts", wide, "FULL")
    published(client, "bronze.parts")
    read_alike(spark, client, "bronze.parts", pa.Table.from_pylist(rows, arrow(wide)))
    for change in ("struct<a:double>", "struct<a:double,b:struct<c:long,d:decimal(20,4)>,e:long>"):
        land(tmp_path, "parts", {**wide, "s": change}, [{"id": 1}])
        blocked = run(client, "bronze.parts")
        assert blocked.status is RunStatus.BLOCKED
    read_alike(spark, client, "bronze.parts", pa.Table.from_pylist(rows, arrow(wide)))


def test_arrays_that_are_made_in_a_build(spark: SparkSession, tmp_path: Path) -> None:
    """Spark knows that these contain no NULL and writes them so."""
    types = {
        "id": "long",
        "l": "array<long>",
        "s": "struct<id:long,one:integer>",
        "m": "map<string,long>",
    }
    land(tmp_path, "made", types, [{"id": 1}, {"id": 2}])
    client = project(tmp_path, "made", types, "FULL")
    text = "SELECT id, array(id, 1L) AS l, struct(id, 1 AS one) AS s, map('k', id) AS m"
    (tmp_path / "sql" / "made.sql").write_text(f"{text} FROM bronze.made\n")
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    published(client, "bronze.made")
    published(client, "silver.made")
    rows = [{"id": n, "l": [n, 1], "s": {"id": n, "one": 1}, "m": [("k", n)]} for n in (1, 2)]
    read_alike(spark, client, "silver.made", pa.Table.from_pylist(rows, arrow(types)))


def test_batches_of_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    types = {name: {**PLAIN, **NESTED}[name] for name in ("id", "fraction", "at", "person", "log")}
    nothing = land(tmp_path, "anew", types, [])
    land(tmp_path, "more_1", types, [])
    project(tmp_path, "more", types, "APPEND")
    client = project(tmp_path, "anew", types, "FULL", 'rules: ["not_null(person)"]\n')
    for name in ("bronze.anew", "silver.anew", "bronze.more"):
        assert published(client, name).version == 1, "a table of no rows"
        read_alike(spark, client, name, nothing)
    rows = [{name: row.get(name) for name in types} for row in ROWS]
    land(tmp_path, "anew", types, rows[:2])
    brought = land(tmp_path, "more_2", types, rows)
    assert [published(client, f"bronze.{name}").version for name in ("anew", "more")] == [2, 2]
    read_alike(spark, client, "bronze.more", brought)
    land(tmp_path, "anew", types, [])
    land(tmp_path, "more_3", types, [])
    assert published(client, "bronze.anew").version == 3
    published(client, "bronze.more")
    read_alike(spark, client, "bronze.anew", nothing)
    read_alike(spark, client, "bronze.more", brought)
    assert client.ledger.verify().findings == ()


def test_rows_of_every_shape_are_updated_by_key(spark: SparkSession, tmp_path: Path) -> None:
    """By keys that need quoting, and only where a value differs, at any depth."""
    types = {"k = v": "string", "a.b": "long", **NESTED, "whole": "decimal(38,0)"}
    load = '{type: INCREMENTAL, keys: ["k = v", "a.b"], hash: ROW_HASH}'

    def row(key: str, of: int, **changed: Any) -> dict[str, Any]:
        return {**{name: ROWS[of].get(name) for name in types}, "k = v": key, "a.b": 1, **changed}

    land(tmp_path, "keyed_1", types, [row("same", 0), row("other", 0), row("gone", 2)])
    client = project(tmp_path, "keyed", types, load)
    assert published(client, "bronze.keyed").version == 1
    later = [None, {"at": FIRST, "local": LAST.replace(tzinfo=None), "by": None}]
    batch = [row("same", 0), row("other", 0, log=later), row("new", 1)]
    land(tmp_path, "keyed_2", types, batch)
    result = published(client, "bronze.keyed")
    assert result.version == 2
    wanted = pa.Table.from_pylist([*batch, row("gone", 2)], arrow(types))
    found = client.reader.resolve(parse_address("bronze.keyed"))
    reported = pa.table(DeltaTable(found.location).scan().read_all())
    assert shown(reported, wanted.column_names) == shown(wanted, wanted.column_names)
    by_spark = spark.read.format("delta").load(found.location).toArrow()
    assert shown(by_spark, by_spark.column_names) == shown(reported, by_spark.column_names)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("struct<t:timestamp_ntz>", {"t": LOCAL}, {"t": LOCAL.replace(microsecond=1)}),
        ("map<struct<x:string,y:string>,long>", [({"x": "a, b", "y": "c"}, 1)],
         [({"x": "a", "y": "b, c"}, 1)]),
        ("array<double>", [0.1], [math.nextafter(0.1, 1)]),
        ("array<string>", ["NULL"], [None]),
        ("array<string>", [], [None]),
        ("struct<x:array<long>>", {"x": None}, {"x": []}),
        ("struct<x:long,y:long>", {"x": 1, "y": None}, {"x": None, "y": 1}),
        ("map<string,binary>", [("a", b"1")], [("a", b"2")]),
    ],
)  # fmt: skip
def test_a_hash_sees_every_difference_in_a_nested_value(
    session: SparkSession, kind: str, one: Any, other: Any
) -> None:
    table = pa.Table.from_pylist([{"v": one}, {"v": other}, {"v": one}], arrow({"v": kind}))
    hashed = session.createDataFrame(table).select(content_hash([Column(name="v", type=kind)]))
    first, second, again = (row[0] for row in hashed.collect())
    assert first == again
    assert first != second


def test_the_entries_of_a_map_have_no_order(session: SparkSession) -> None:
    kind = "struct<m:map<string,array<long>>>"
    texts = ["map('a', array(1L), 'b', NULL)", "map('b', NULL, 'a', array(1L))"]
    frame = session.sql(" UNION ALL ".join(f"SELECT named_struct('m', {text}) v" for text in texts))
    hashed = frame.select(content_hash([Column(name="v", type=kind)])).collect()
    assert hashed[0] == hashed[1]


def test_five_hundred_columns(spark: SparkSession, tmp_path: Path) -> None:
    kinds = ["long", "string", "decimal(38,18)", "timestamp", "array<struct<x:long,y:double>>"]
    types = {f"column {n} of 500": kinds[n % len(kinds)] for n in range(500)}
    values = [
        [1, 2**62], ["", "é"], [Decimal(1), Decimal("-" + "9" * 20 + "." + "9" * 18)],
        [FIRST, LAST], [[{"x": 1, "y": None}], None],
    ]  # fmt: skip
    rows = [{name: values[n % len(kinds)][row] for n, name in enumerate(types)} for row in range(2)]
    brought = land(tmp_path, "wide", types, rows)
    client = project(tmp_path, "wide", types, "FULL", 'rules: ["unique(`column 495 of 500`)"]\n')
    published(client, "bronze.wide")
    read_alike(spark, client, "bronze.wide", brought)


@pytest.fixture
def small_row_groups(spark: SparkSession) -> Any:
    """Small row groups: the default does not fit the data of a test."""
    settings = spark.sparkContext._jsc.hadoopConfiguration()  # type: ignore[union-attr]
    settings.set("parquet.block.size", str(256 << 10))
    settings.set("parquet.page.row.count.limit", "2000")
    yield
    settings.unset("parquet.block.size")
    settings.unset("parquet.page.row.count.limit")


@pytest.mark.usefixtures("small_row_groups")
def test_files_in_slices(spark: SparkSession, tmp_path: Path) -> None:
    """One file becomes several, each with several row groups, and statistics hold for all."""
    count = 400_000
    random = np.random.default_rng(7)
    (tmp_path / "in").mkdir()
    table = pa.table(
        {
            "s": pa.array([{"x": [n % 3, None]} if n % 5 else None for n in range(count)]),
            "id": pa.array(random.permutation(count)),
            "y": pa.array(random.random(count)),
            "z": pa.array(random.random(count)),
        }
    )
    pq.write_table(table, tmp_path / "in" / "slices.parquet", row_group_size=50_000)
    assert (tmp_path / "in" / "slices.parquet").stat().st_size > 8 << 20
    types = {"s": "struct<x:array<long>>", "id": "long", "y": "double", "z": "double"}
    rules = ["unique(id)", "min(id, min=0)", f"max(id, max={count - 1})", "not_null(s) warn_if > 0"]
    client = project(tmp_path, "slices", types, "FULL", f"rules: {json.dumps(rules)}\n")
    result = published(client, "bronze.slices")
    assert result.decision is not None
    checks = {check.check_id: check for check in result.decision.ruling.checks}
    assert checks["not_null.s"].failed_rows == count // 5
    found = client.reader.resolve(parse_address("bronze.slices"))
    files = [f"{found.location}/{path}" for path in live_files(DeltaTable(found.location))]
    footers = [pq.read_metadata(file) for file in files]
    assert len(files) > 1
    assert all(footer.num_row_groups > 1 for footer in footers)
    assert sum(footer.num_rows for footer in footers) == count
    wanted = table.sort_by("id")
    by_spark = spark.read.format("delta").load(found.location)
    for got in (by_spark.toArrow(), pa.table(DeltaTable(found.location).scan().read_all())):
        assert got.select(wanted.column_names).sort_by("id").cast(wanted.schema) == wanted
    for n in (0, 1, count // 2, count - 1):
        assert by_spark.where(f"id = {n}").count() == 1
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT count(DISTINCT id), count(s), sum(len(s.x)) FROM read_parquet($f)", {"f": files}
        ).fetchone()
    assert rows == (count, count - count // 5, 2 * (count - count // 5))
