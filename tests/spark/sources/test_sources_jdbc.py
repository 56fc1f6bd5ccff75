"""PostgreSQL is read exactly, in slices or whole; unsupported columns are rejected by name."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.errors import JarsMissing, SecretMissing, SourceUnreadable
from lakeguard_sdk.model.evidence import SourcePosition
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.extract import Batch, extract
from openlaketx.extract.sources import jdbc_source
from openlaketx.extract.sources.jdbc_source import read_jdbc
from tests.support.databases.databases import Server
from tests.support.lakes.plans import plan, schema

pytestmark = pytest.mark.spark

DATASET = "bronze.orders"
PASSWORD = f"pw {uuid4()}/?&"
READER = f"reader_{uuid4().hex[:8]}"


@pytest.fixture
def place(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A schema for the test, and a reader with a password."""
    name = f"shop {uuid4().hex[:8]}"
    server.sql(f'CREATE SCHEMA "{name}"')
    server.sql(f"CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}'")
    server.sql(f'GRANT USAGE ON SCHEMA "{name}" TO {READER}')
    server.sql(f'ALTER DEFAULT PRIVILEGES IN SCHEMA "{name}" GRANT SELECT ON TABLES TO {READER}')
    monkeypatch.setenv("SHOP_USER", READER)
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    yield name
    server.sql(f'DROP SCHEMA "{name}" CASCADE')
    server.sql(f"DROP OWNED BY {READER}")
    server.sql(f"DROP ROLE {READER}")


def build_of(server: Server, thing: str, **options: str) -> SourceBuild:
    return SourceBuild(
        source="shop",
        format=SourceFormat.JDBC,
        path="",
        url=f"jdbc:postgresql://127.0.0.1:{server.port}/postgres",
        object=thing,
        secrets={"user": "env:SHOP_USER", "password": "env:SHOP_PASSWORD"},
        options=options,
    )


def made(server: Server, place: str, columns: str, *rows: str) -> str:
    server.sql(f'CREATE TABLE "{place}"."Things" ({columns})')
    for row in rows:
        server.sql(f'INSERT INTO "{place}"."Things" VALUES ({row})')
    return f"{place}.Things"


def rows(batch: Batch) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in batch.frame.collect()), key=str)


def failure(session: SparkSession, build: SourceBuild) -> str:
    try:
        batch = read_jdbc(session, build, DATASET)
        batch.frame.collect()
    except SPARK_ERRORS as error:
        return str(batch.explain(error))
    except SourceUnreadable as error:
        return str(error)
    raise AssertionError("it was read")


TYPES = {
    "boolean": ("true", "boolean", True),
    "smallint": ("-32768", "short", -32768),
    "integer": ("2147483647", "integer", 2147483647),
    "bigint": ("9223372036854775807", "long", 9223372036854775807),
    "real": ("1.5", "float", 1.5),
    "double precision": ("0.1", "double", 0.1),
    "numeric(10,2)": ("12345678.90", "decimal(10,2)", Decimal("12345678.90")),
    "numeric(38,0)": ("9" * 38, "decimal(38,0)", Decimal("9" * 38)),
    "numeric(5)": ("12345", "decimal(5,0)", Decimal(12345)),
    "text": ("'ä 日本💥'", "string", "ä 日本💥"),
    "varchar(9)": ("' x '", "string", " x "),
    "char(3)": ("'x'", "string", "x"),
    "uuid": (
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        "string",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ),
    "json": ("""'{"b": 1.10, "a":[]}'""", "string", '{"b": 1.10, "a":[]}'),
    "bytea": ("'\\x00ff'", "binary", bytearray(b"\x00\xff")),
    "date": ("'0001-01-01'", "date", date(1, 1, 1)),
    "timestamp": ("'1500-02-28 23:59:59.999999'", "timestamp_ntz", None),
    "timestamptz": ("'2024-07-01 02:00:00.000001+02'", "timestamp", None),
}
MOMENTS = {
    "timestamp": "1500-02-28 23:59:59.999999",
    "timestamptz": "2024-07-01 00:00:00.000001",
}
"""As Spark writes them, because Python cannot represent all of them."""


def test_every_type_is_read_exactly(session: SparkSession, server: Server, place: str) -> None:
    columns = ", ".join(f'"{name}" {name}' for name in TYPES)
    thing = made(server, place, columns, ", ".join(value for value, _, _ in TYPES.values()))
    server.sql(f'INSERT INTO "{place}"."Things" VALUES ({", ".join(["NULL"] * len(TYPES))})')
    batch = read_jdbc(session, build_of(server, thing), DATASET)
    assert {c.name: c.type for c in batch.live.columns} == {n: t for n, (_, t, _) in TYPES.items()}
    assert batch.position == SourcePosition()
    text = batch.frame.withColumns({n: batch.frame[f"`{n}`"].cast("string") for n in MOMENTS})
    nothing, something = sorted(text.collect(), key=lambda row: row["boolean"] is not None)
    assert list(nothing) == [None] * len(TYPES)
    expected = {name: value for name, (_, _, value) in TYPES.items()}
    assert something.asDict() == expected | MOMENTS
    assert [f.dataType.simpleString() for f in batch.frame.schema.fields][1:4] == [
        "smallint",
        "int",
        "bigint",
    ]


@pytest.mark.parametrize(
    "value",
    ["1969-12-31 23:59:59.5", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"],
)
def test_moments_keep_their_microseconds(
    session: SparkSession, server: Server, place: str, value: str
) -> None:
    thing = made(server, place, "t timestamptz, n timestamp", f"'{value}+00', '{value}'")
    batch = read_jdbc(session, build_of(server, thing), DATASET)
    (found,) = batch.frame.selectExpr(
        "unix_micros(t)", "unix_micros(cast(n AS timestamp))"
    ).collect()
    away = datetime.fromisoformat(f"{value}+00:00") - datetime(1970, 1, 1, tzinfo=UTC)
    micros = (away.days * 86400 + away.seconds) * 10**6 + away.microseconds
    assert tuple(found) == (micros, micros)


@pytest.mark.parametrize(
    ("column", "value"),
    [("date", "infinity"), ("date", "0044-03-15 BC"), ("timestamptz", "-infinity")],
)
def test_a_moment_beyond_the_calendar_is_named(
    session: SparkSession, server: Server, place: str, column: str, value: str
) -> None:
    thing = made(server, place, f'"it\'s" {column}', f"'{value}'")
    reported = failure(session, build_of(server, thing))
    assert f"column it's holds {value}" in reported.replace("infinity BC", "infinity")


@pytest.mark.parametrize(
    ("column", "about"),
    [
        ("amount numeric", "column amount is numeric without precision and scale: read a view"),
        ("amount numeric(50,2)", "column amount is numeric(50,2)"),
        ("amount numeric(3,-2)", "column amount is numeric(3,-2)"),
        ("tags text[]", "column tags is text[], which is not supported"),
        ("a interval", "column a is interval"),
        ("a integer, \"A\" integer", "columns 'a' and 'A' differ in case only"),
    ],
)  # fmt: skip
def test_what_no_dataset_can_declare_is_refused_by_name(
    session: SparkSession, server: Server, place: str, column: str, about: str
) -> None:
    assert about in failure(session, build_of(server, made(server, place, column)))


def test_domains_and_enums_are_what_they_stand_for(
    session: SparkSession, server: Server, place: str
) -> None:
    server.sql(f"CREATE TYPE \"{place}\".mood AS ENUM ('glad')")
    server.sql(f'CREATE DOMAIN "{place}".price AS numeric(9,2)')
    thing = made(server, place, f'm "{place}".mood, p "{place}".price', "'glad', 1.5")
    batch = read_jdbc(session, build_of(server, thing), DATASET)
    assert [column.type for column in batch.live.columns] == ["string", "decimal(9,2)"]
    assert rows(batch) == [("glad", Decimal("1.50"))]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("integer", "i"),
        ("bigint", "i * 900000000000000000"),
        ("numeric(9,1)", "i / 2.0"),
        ("date", "DATE '2020-01-01' + i::integer"),
        ("timestamptz", "now() + i * interval '1 hour'"),
        ("timestamp", "now()::timestamp"),
    ],
)
def test_slices_hold_every_row_once(
    session: SparkSession, server: Server, place: str, column: str, value: str
) -> None:
    thing = made(server, place, f"id integer, k {column}", "-1, NULL", "-2, NULL")
    server.sql(f'INSERT INTO "{place}"."Things" SELECT i, {value} FROM generate_series(-9,9) i')
    batch = read_jdbc(session, build_of(server, thing, slice_by="k", slices="4"), DATASET)
    assert batch.frame.columns == ["id", "k"]
    assert sorted(row.id for row in batch.frame.collect()) == sorted([-1, -2, *range(-9, 10)])
    assert batch.frame.rdd.getNumPartitions() == (2 if value == "now()::timestamp" else 4)


@pytest.mark.parametrize(("options", "slices"), [({}, 4), ({"slices": "1"}, 1)])
def test_there_are_four_slices_unless_a_source_says_otherwise(
    session: SparkSession, server: Server, place: str, options: dict[str, str], slices: int
) -> None:
    thing = made(server, place, "id integer", "1", "100", "NULL")
    batch = read_jdbc(session, build_of(server, thing, slice_by="id", **options), DATASET)
    assert (len(rows(batch)), batch.frame.rdd.getNumPartitions()) == (3, slices)


def test_rows_that_come_after_the_bounds_were_taken_are_in_a_slice(
    session: SparkSession, server: Server, place: str
) -> None:
    thing = made(server, place, "id integer", "1", "100")
    batch = read_jdbc(session, build_of(server, thing, slice_by="id", slices="3"), DATASET)
    server.sql(f'INSERT INTO "{place}"."Things" VALUES (-5), (1000)')
    assert rows(batch) == sorted([(1,), (100,), (-5,), (1000,)], key=str)


def test_an_empty_table_is_an_empty_batch_in_one_slice(
    session: SparkSession, server: Server, place: str
) -> None:
    thing = made(server, place, "id integer")
    batch = read_jdbc(session, build_of(server, thing, slice_by="id", slices="3"), DATASET)
    assert (rows(batch), batch.frame.rdd.getNumPartitions()) == ([], 1)


def test_a_condition_is_the_databases_own(
    session: SparkSession, server: Server, place: str
) -> None:
    thing = made(server, place, "id integer, t timestamptz", "1, '2024-01-01Z'", "2, '2024-01-02Z'")
    for options in ({}, {"slice_by": "id", "slices": "2"}):
        build = build_of(server, thing, **options)
        batch = read_jdbc(session, build, DATASET, "t > '2024-01-01 12:00:00+00' OR t IS NULL")
        assert [row.id for row in batch.frame.collect()] == [2]


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"slices": "2"}, "slices requires slice_by"),
        ({"slice_by": "ids", "slices": "2"}, "unknown column 'ids'; did you mean id?"),
        ({"slice_by": "name", "slices": "2"}, "column name is text, which cannot be sliced"),
        ({"slice_by": "id", "slices": "0"}, "slices must be a number from 1 to 64, not '0'"),
        ({"fetchsize": "9"}, "unknown database option 'fetchsize'; did you mean fetch_size?"),
        ({"fetch_size": "0"}, "fetch_size must be a number of rows"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    session: SparkSession, server: Server, place: str, options: dict[str, str], about: str
) -> None:
    thing = made(server, place, "id integer, name text")
    assert about in failure(session, build_of(server, thing, **options))


@pytest.mark.parametrize(
    ("load", "is_read"),
    [
        ({"type": "APPEND"}, False),
        ({"type": "APPEND", "keys": ["id"]}, True),
        ({"type": "APPEND", "watermark": "id"}, True),
        ({"type": "FULL"}, True),
    ],
)
def test_an_append_knows_what_is_new(
    session: SparkSession,
    server: Server,
    place: str,
    tmp_path: Path,
    load: dict[str, Any],
    is_read: bool,
) -> None:
    build = build_of(server, made(server, place, "id integer", "1"))
    run = plan(tmp_path, build, schema(id="integer"), load=load)
    if is_read:
        batch = extract(run, lambda: session, str(tmp_path), LocalStorage())
        assert batch is not None
        assert rows(batch) == [(1,)]
    else:
        with pytest.raises(SourceUnreadable, match="give the load keys or a watermark"):
            extract(run, lambda: session, str(tmp_path), LocalStorage())


def test_what_is_not_there_is_named(session: SparkSession, server: Server, place: str) -> None:
    assert "table or view nowhere.x does not exist" in failure(
        session, build_of(server, "nowhere.x")
    )
    assert "is not a table name" in failure(session, build_of(server, "a.b.c"))
    other = build_of(server, "x").model_copy(update={"url": "jdbc:mysql://h/d"})
    assert "does not start with jdbc:postgresql:" in failure(session, other)


def test_the_password_is_shown_to_nobody(
    session: SparkSession,
    server: Server,
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    thing = made(server, place, "id integer", "1")
    build = build_of(server, thing)
    described = []
    with caplog.at_level(logging.DEBUG):
        batch = read_jdbc(session, build, DATASET)
        described += [batch.frame._jdf.queryExecution().toString(), repr(batch)]
        monkeypatch.setenv("SHOP_USER", f"{READER}x")
        described.append(failure(session, build))
        assert 'failed for user "***"' in described[-1]
        wrong = build.model_copy(update={"url": build.url + "?options={password}"})
        described.append(failure(session, wrong))
        elsewhere = build.model_copy(update={"url": "jdbc:postgresql://127.0.0.1:1/{password}"})
        described.append(failure(session, elsewhere))
    text = "".join([*described, caplog.text, *capfd.readouterr(), build.to_json()])
    assert PASSWORD not in text
    assert PASSWORD.split()[1] not in text


def test_a_spark_without_the_driver_says_how_to_get_it(
    session: SparkSession, server: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jdbc_source, "_DRIVER", "org.postgresql.Absent")
    with pytest.raises(JarsMissing, match=r"without org\.postgresql\.Absent"):
        read_jdbc(session, build_of(server, f"{place}.x"), DATASET)


def test_a_secret_that_is_not_there_is_named(
    session: SparkSession, server: Server, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHOP_PASSWORD")
    with pytest.raises(SecretMissing, match="env:SHOP_PASSWORD"):
        read_jdbc(session, build_of(server, "x"), DATASET)


def test_a_table_that_may_not_be_read_is_told_so(
    session: SparkSession, server: Server, place: str
) -> None:
    thing = made(server, place, "id integer", "1")
    server.sql(f'REVOKE ALL ON "{place}"."Things" FROM {READER}')
    assert "permission denied for table Things" in failure(session, build_of(server, thing))


@pytest.mark.parametrize("readable", [True, False])
def test_a_delivered_table_is_read_by_name(
    session: SparkSession, server: Server, place: str, readable: bool
) -> None:
    for name in ("silver_people", "silver_own", "Things"):
        server.sql(f'CREATE TABLE "{place}"."{name}" AS SELECT 1::bigint AS id')
    server.sql(f'CREATE VIEW "{place}".inner_view AS SELECT * FROM "{place}".silver_people')
    server.sql(f'CREATE VIEW "{place}".people AS SELECT id FROM "{place}".inner_view')
    server.sql(f'CREATE TABLE "{place}".anyone (id bigint)')
    server.sql(f'ALTER TABLE "{place}".silver_people INHERIT "{place}".anyone')
    server.sql(f'CREATE TABLE "{place}".lakeguard_delivered (table_name text, dataset text)')
    markers = f'"{place}".lakeguard_delivered'
    server.sql(f"INSERT INTO {markers} VALUES ('silver_people', 'silver.people')")
    if not readable:
        server.sql(f"REVOKE SELECT ON {markers} FROM {READER}")
    for name in ("silver_people", "people", "anyone"):
        found = failure(session, build_of(server, f"{place}.{name}"))
        assert f"{place}.silver_people is a delivered table" in found
        assert "`parents: [silver.people]`" in found
    for name in ("silver_own", "Things") if readable else ("Things",):
        assert rows(read_jdbc(session, build_of(server, f"{place}.{name}"), DATASET)) == [(1,)]


def test_functions_of_the_database_do_not_hide_a_delivered_table(
    session: SparkSession, server: Server, place: str
) -> None:
    server.sql(f'CREATE TABLE "{place}".silver_people AS SELECT 1::bigint AS id')
    server.sql(f'CREATE TABLE "{place}".lakeguard_delivered (table_name text, dataset text)')
    server.sql(f"INSERT INTO \"{place}\".lakeguard_delivered VALUES ('silver_people', 'x')")
    server.sql(
        f'CREATE FUNCTION "{place}".split_part(text, text, integer) RETURNS text'
        " LANGUAGE sql AS $$ SELECT 'another' $$"
    )
    build = build_of(server, f"{place}.silver_people")
    searched = f"{build.url}?currentSchema=%22{place}%22,pg_catalog"
    found = failure(session, build.model_copy(update={"url": searched}))
    assert f"{place}.silver_people is a delivered table" in found
