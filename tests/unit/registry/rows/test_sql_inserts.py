"""INSERT statements of any database: values and positions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from lakeguard.registry.rows import NOW, Value
from tests.unit.registry.rows.row_files import at, good, plain, typed


def value_of(written: str) -> Value:
    (row,) = good("t.sql", f"INSERT INTO t (v) VALUES ({written});")
    return row.values["v"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'x'", "x"),
        ("''", ""),
        ("''''", "'"),
        ("'it''s; -- /* not */ ( a comment'", "it's; -- /* not */ ( a comment"),
        ("'a\\'", "a\\"),
        ("'$(x) ${y}'", "$(x) ${y}"),
        ("N'é😀'", "é😀"),
        ("n''", ""),
        ("E'plain ''text'''", "plain 'text'"),
        ("'one\r\ntwo'", "one\ntwo"),
        ("1", 1),
        ("-1", -1),
        ("- 1", -1),
        ("+1", 1),
        ("007", 7),
        ("12345678901234567890123", 12345678901234567890123),
        ("1.50", Decimal("1.50")),
        ("-.5", Decimal("-0.5")),
        ("1.", Decimal(1)),
        ("1e3", Decimal("1e3")),
        ("TRUE", True),
        ("false", False),
        ("Null", None),
        ("CURRENT_TIMESTAMP", NOW),
        ("current_timestamp(3)", NOW),
        ("now()", NOW),
        ("GETDATE ( )", NOW),
        ("SYSUTCDATETIME()", NOW),
        ("now()::timestamp", NOW),
        ("CAST('x' AS varchar(10))", "x"),
        ("cast(-1.5 as numeric(10, 2))", Decimal("-1.5")),
        ("CAST(NULL AS NVARCHAR(MAX))", None),
        ("CAST(N'2026' AS [sys].[datetime2](7))", "2026"),
        ("'x'::text", "x"),
        ("'{}'::jsonb::text", "{}"),
        ("'x'::pg_catalog.varchar(3)", "x"),
        ("1::double precision", 1),
        ("'x'::timestamp(3) with time zone", "x"),
        ("DATE '2026-01-01'", "2026-01-01"),
        ("timestamp'2026-01-01 00:00'", "2026-01-01 00:00"),
        ("TIMESTAMP WITH TIME ZONE '2026-01-01 00:00Z'", "2026-01-01 00:00Z"),
        ("/* a */ 1 -- b", 1),
    ],
)
def test_values(written: str, value: Value) -> None:
    found = value_of(f"{written}\n")
    assert typed([("t", {"v": found})]) == typed([("t", {"v": value})])


@pytest.mark.parametrize(
    "name",
    [
        "source_objects",
        "SOURCE_OBJECTS",
        "meta.source_objects",
        '"Meta"."Source_Objects"',
        "[meta].[source_objects]",
        "[we]]ird . name].source_objects",
        "`meta`.`source_objects`",
        "$(SchemaName).source_objects",
        "[$(SchemaName)].[source_objects]",
        "${schema}.source_objects",
        "${env}_meta.source_objects",
        "lake.$(SchemaName).source_objects",
        "lake . dbo /* here */ . source_objects",
        "lake..source_objects",
    ],
)
def test_database_and_schema_are_dropped(name: str) -> None:
    rows = good("x.sql", f"INSERT INTO {name} (Id) VALUES (1)")
    assert plain(rows) == [("source_objects", {"id": 1})]


def test_a_file_for_sqlcmd() -> None:
    content = """\
:setvar SchemaName "meta"
USE [lake];
GO
SET NOCOUNT ON
SET IDENTITY_INSERT $(SchemaName).source_objects ON;
BEGIN TRANSACTION
INSERT INTO $(SchemaName).source_objects
    ([object_id], object_name, business_keys, created_at)
VALUES
    (1, N'orders', '["order_id"]', SYSUTCDATETIME()), -- the first
    (2, N'it''s', NULL, GETDATE())
/* outer /* inner ' */ still ; */
INSERT $(SchemaName).source_systems (name) VALUES ('shop')
GO
COMMIT TRAN;
;;
GO
"""
    rows = good("seed.sql", content)
    first = {"object_id": 1, "object_name": "orders", "business_keys": '["order_id"]'}
    second = {"object_id": 2, "object_name": "it's", "business_keys": None}
    assert plain(rows) == [
        ("source_objects", {**first, "created_at": NOW}),
        ("source_objects", {**second, "created_at": NOW}),
        ("source_systems", {"name": "shop"}),
    ]
    assert [at(rows[1], name) for name in rows[1].values] == [
        (11, 6, 1), (11, 9, 8), (11, 19, 4), (11, 25, 9),
    ]  # fmt: skip
    named = rows[1].place_of_name("object_id")
    assert (named.line, named.column, named.length) == (8, 6, 11)
    assert (rows[1].place.line, rows[1].place.column, rows[1].place.length) == (11, 5, 30)


def test_a_file_for_postgresql() -> None:
    content = (
        "\ufeffSET search_path = meta, public;\r\nSTART TRANSACTION;\r\n"
        "insert into md_jobs (job_id, job_name) values (1, 'a'), (2, 'b');\r\nCOMMIT;\r\n"
    )
    assert plain(good("seed.sql", content)) == [
        ("md_jobs", {"job_id": 1, "job_name": "a"}),
        ("md_jobs", {"job_id": 2, "job_name": "b"}),
    ]


@pytest.mark.parametrize(
    "content", ["", ";", "-- nothing", "/* nothing */", "GO\n", "BEGIN; COMMIT"]
)
def test_nothing_to_insert(content: str) -> None:
    assert good("t.sql", content) == []


def test_a_place_covers_the_cast_around_a_value() -> None:
    (row,) = good("t.sql", "INSERT INTO t (a, b, c)\nVALUES (CAST('x' AS text), 'y'::text, - 5)")
    assert [at(row, name) for name in row.values] == [(2, 9, 17), (2, 28, 9), (2, 39, 3)]
