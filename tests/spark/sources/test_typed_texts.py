"""DuckDB reads text files as Spark does, or leaves them to Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.conform import conform, with_typed_texts
from openlaketx.conform.casts import is_sound, is_usual
from openlaketx.conform.typed_texts import duckdb_value
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.engine.spark.types import spark_schema, spark_type, try_cast
from openlaketx.extract import Batch, extract
from tests.support.examples import examples
from tests.support.lakes.plans import csv, plan, schema, write_files

pytestmark = pytest.mark.spark

TYPES = (
    *("byte", "short", "integer", "long", "float", "double", "boolean"),
    *("decimal(9,2)", "decimal(18,0)", "decimal(38,10)", "decimal(38,38)"),
    *("date", "timestamp", "timestamp_ntz"),
)
TIMES = ("timestamp", "timestamp_ntz")
ODD = (
    *(
        "",
        " ",
        "0",
        "-0",
        "+7",
        "007",
        "1_000",
        "1e3",
        ".5",
        "2.",
        ".",
        "+",
        "-",
        "+.",
        "-.5",
        "1.e2",
    ),
    *("NaN", "nan", "inf", "Infinity", "-Infinity", "0x1F", "0x1p3", "1d", "1.5f", "1,5", "--1"),
    *("127", "128", "-128", "32768", "2147483648", "9223372036854775807", "9223372036854775808"),
    *(" 1", "1 ", "\t1", "1\n", "\u0661", "\uff11", "1\u00a0", "9" * 38, "9" * 39, "0." + "1" * 38),
    *("0" * 50 + "1", "1." + "0" * 60, "1.005", "1.0050", "1.50000", "1e400", "1e-400", "4.9e-324"),
    *(
        "3.4028236e38",
        "3.40282357e38",
        "1.401298464324817e-45",
        "0.1",
        "16777217",
        "9007199254740993",
    ),
    *("1.00000005960464477539062500001", "2.2250738585072011e-308", "1e23", "8.5e-46", "7e-46"),
    *("true", "TRUE", "fAlse", "t", "1", "yes", "tRue ", "T\u0280UE", "\u212alse"),
    *(
        "0000-01-01",
        "0001-01-01",
        "9999-12-31",
        "2013-2-3",
        "2013-02-29",
        "2012-02-29",
        "1900-02-29",
    ),
    *(
        "2013-13-01",
        "2013-00-10",
        "10000-01-01",
        "-0001-01-01",
        "2013-01-01 (BC)",
        "epoch",
        "today",
    ),
    *("1582-10-10", "1500-02-29", "0004-02-29", "2013-01-01", "2013-01-01T00:00:00", "infinity"),
    *("2013-01-01 10:00:00", "2013-01-01T24:00:00", "2013-01-01T23:59:60", "2013-01-01T10:00"),
    *("2013-01-01T10:00:00.1", "2013-01-01T10:00:00.123456", "2013-01-01T10:00:00.1234567"),
    *("2013-01-01T10:00:00Z", "2013-01-01T10:00:00z", "2013-01-01 10:00:00+02:00"),
    *("2013-01-01T10:00:00-14:59", "2013-01-01T10:00:00+14:00", "2013-01-01T10:00:00+15:00"),
    *("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00-01:00"),
    *("9999-12-31T23:59:59.999999Z", "2013-01-01T10:00:00+0200", "2013-01-01T10:00:00 UTC"),
    *("2013-01-01  10:00:00", "2013-02-30T00:00:00Z", "1700-01-01T00:00:00.000001Z"),
)

SPELLED = (
    *("0E-10", "0E-38", "1E-7", "0.0000001", "1E+3", "0E+3", "-0.00", "0000-02-03", "+10000-01-01"),
    *("-0001-01-01", "2013-01-1T", "2013-01-1 ", "02013-1-01", " 2013-1-01", "10000-01-1"),
)
"""Texts that Spark may make of a value."""

digits = st.text("0123456789", max_size=22)
numbers = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(["", "", "+", "-", " "]),
    digits,
    st.sampled_from(["", "", ".", "_", ","]),
    digits,
    st.sampled_from(["", "", "", "e3", "E-7", "e", "e+30", "e-320", " "]),
)
times = st.builds(
    lambda *parts: "".join(parts),
    st.dates().map(str),
    st.sampled_from(["", " ", "T", "t", "  "]),
    st.times().map(str),
    st.sampled_from(["", "Z", "+02:00", "-14:00", "+14:59", "+05:30", "+2", "-00:00", " "]),
)
texts = st.one_of(
    st.sampled_from(ODD),
    numbers,
    times,
    st.dates().map(str),
    st.integers(-(2**65), 2**65).map(str),
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.text("0123456789-+.: TZeE\t\u0663", max_size=12),
)


@given(drawn=st.lists(texts, max_size=300))
@examples(100, quick=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_value_that_duckdb_accepts_is_the_one_of_spark(
    session: SparkSession, drawn: list[str]
) -> None:
    every = list(dict.fromkeys((*ODD, *drawn)))
    for text, of_duckdb, of_spark in zip(every, *both(session, every), strict=True):
        for declared, ours, theirs in zip(TYPES, of_duckdb, of_spark, strict=True):
            if ours is not None:
                assert (declared, text, ours) == (declared, text, theirs)


def both(session: SparkSession, taken: list[str]) -> tuple[list[Any], list[Any]]:
    """Every text in every type, by DuckDB and by Spark; None where it is invalid."""
    values = [f"TRY({duckdb_value('t', declared, ())})" for declared in TYPES]
    columns = ", ".join(
        f"epoch_us({value})" if kind in TIMES else value
        for kind, value in zip(TYPES, values, strict=True)
    )
    with duckdb_reader() as reader:
        numbered = "(SELECT unnest($texts) AS t, unnest(range($n)) AS i)"
        query = f"SELECT {columns} FROM {numbered} ORDER BY i"
        rows = reader.rows(query, {"texts": taken, "n": len(taken)})
    frame = session.createDataFrame([(text,) for text in taken], spark_schema(schema(t="string")))
    found = frame.coalesce(1).select(*(of_spark(frame["t"], kind) for kind in TYPES)).collect()
    return [tuple(map(exact, row)) for row in rows], [tuple(map(exact, row)) for row in found]


def of_spark(text: Column, declared: str) -> Column:
    sound = (text != "") & is_sound(text, declared)
    value = F.when(sound, try_cast(text, spark_type(declared)))
    return F.unix_micros(value.cast("timestamp")) if declared in TIMES else value


def exact(value: Any) -> str | None:
    """Tells -0.0 from 0.0."""
    return None if value is None else repr(value)


@given(drawn=st.lists(texts, max_size=300))
@examples(100, quick=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_text_as_spark_spells_it_is_valid(session: SparkSession, drawn: list[str]) -> None:
    taken = list(dict.fromkeys((*ODD, *SPELLED, *drawn)))
    frame = session.createDataFrame([(text,) for text in taken], spark_schema(schema(t="string")))
    text, wrong = frame["t"], []
    for kind in TYPES:
        usual = is_usual(text, try_cast(text, spark_type(kind)), kind)
        if usual is not None:
            wrong.append(F.when(usual & ~is_sound(text, kind), F.lit(kind)))
    found = frame.select("t", F.concat_ws(" ", *wrong).alias("wrong")).filter("wrong <> ''")
    assert [tuple(row) for row in found.collect()] == []


def test_the_usual_forms_are_accepted(session: SparkSession) -> None:
    usual = {
        "byte": ["-128", "+7"],
        "short": ["32767"],
        "integer": ["007"],
        "long": ["9223372036854775807"],
        "float": ["0.5", "1e3"],
        "double": ["1.5", ".5", "2.", "1e-3", "-0"],
        "boolean": ["true", "FALSE"],
        "decimal(9,2)": ["1.5", "-1.5000", "7"],
        "date": ["0001-01-01", "9999-12-31"],
        "timestamp": [
            "2013-01-01T10:00:00Z",
            "2013-01-01 10:00:00.12",
            "2013-01-01T10:00:00+02:00",
        ],
        "timestamp_ntz": ["2013-01-01T10:00:00"],
    }
    for declared, taken in usual.items():
        found, _ = both(session, taken)
        place = TYPES.index(declared)
        assert [row[place] is None for row in found] == [False] * len(taken), declared


# Whole files.

MIXED = schema(a="string", b="integer", c="string")

fields = st.one_of(
    st.sampled_from(["", "x", "NA", " y ", '""', '"q"', '"a,b"', '"say ""hi"""', '"two\nlines"']),
    st.sampled_from(
        ["ä", "日本", "💥", '5" pipe', '"x"y', '"open', "\t", "\\", '"\\"', "\ufeff", "\0"]
    ),
    st.text('ab"\\, \t\r\n;', max_size=4),
)
whole = st.sampled_from(["1", "1", "1", "2", "", '"3"', "-4", '""', "x", "1.5", " 1"])
records = st.one_of(
    st.tuples(fields, whole, fields).map(",".join),
    st.tuples(fields, whole, fields).map(",".join),
    st.sampled_from(["", " ", "x", "x,1", "x,1,y,z", ",,", "\t\t", "#x,1,y"]),
)
files = st.builds(
    lambda mark, header, end, lines, last: (
        mark + end.join([header, *lines]) + last * end
    ).encode(),
    st.sampled_from(["", "", "", "\ufeff"]),
    st.sampled_from(["a,b,c", "a,b,c", '"a","b","c"', "c,b,a", "a, b,c"]),
    st.sampled_from(["\n", "\n", "\r\n", "\r"]),
    st.lists(records, max_size=5),
    st.booleans(),
)
cleaner = st.builds(
    lambda end, lines: end.join(["a,b,c", *lines, ""]).encode(),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(
        st.tuples(
            st.sampled_from(
                ["", "x", '""', '"a,b"', '"say ""hi"""', " y ", "ä💥", "NA", '"NA"', "#"]
            ),
            st.sampled_from(["1", "", '"3"', "-4", "+7"]),
            st.sampled_from(["", "x", '""', "'", "\\", '"\\"', "NULL"]),
        ).map(",".join),
        min_size=1,
        max_size=6,
    ),
)
options = st.sampled_from(
    [{}, {}, {}, {"null_value": "NA"}, {"escape": "\\"}, {"quote": ""}, {"quote": "'"}]
)


@given(content=st.one_of(files, cleaner), given_options=options)
@examples(400, quick=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_duckdb_reads_has_the_rows_of_spark(
    session: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    content: bytes,
    given_options: dict[str, str],
) -> None:
    lake = tmp_path_factory.mktemp("lake")
    write_files(lake, one=content)
    run = plan(lake, csv(**given_options), MIXED)
    try:
        batch = extract(run, lambda: session, str(lake), LocalStorage())
    except SourceUnreadable:
        return
    assert batch is not None
    with with_typed_texts(batch, run) as typed:
        if typed is not batch and set(batch.live.names) == set(MIXED.names):
            assert typed.live.type_of("b") == "integer"
            assert rows(conformed(typed)) == rows(conformed(batch))


def conformed(batch: Batch) -> DataFrame:
    return conform(batch.frame, batch.live, MIXED, "bronze.orders")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def read_by_duckdb(session: SparkSession, lake: Path, content: str, **given: str) -> bool:
    write_files(lake, one=content)
    run = plan(lake, csv(**given), MIXED)
    batch = extract(run, lambda: session, str(lake), LocalStorage())
    assert batch is not None
    with with_typed_texts(batch, run) as typed:
        return typed is not batch


def test_usual_files_are_read_by_duckdb(session: SparkSession, tmp_path: Path) -> None:
    for content in (
        "a,b,c\nx,1,y\n",
        'a,b,c\r\n"x",1,"say ""hi, you"""\r\n,,\r\n',
        "\ufeffa,b,c\nä,1,日本💥",
    ):
        assert read_by_duckdb(session, tmp_path, content)
    assert read_by_duckdb(session, tmp_path, "a,b,c\nNA,NA,y\n", null_value="NA")


@pytest.mark.parametrize(
    "content",
    [
        'a,b,c\n"x\ny",1,z\n',
        "a,b,c\nx,1,y\n\nx,1,y\n",
        "a,b,c\nx,one,y\n",
        'a,b,c\n5" pipe,1,y\n',
        "a,b,c\nx,1\n",
        "a,b,c\nx,1,y,z\n",
    ],
)
def test_others_are_left_to_spark(session: SparkSession, tmp_path: Path, content: str) -> None:
    assert not read_by_duckdb(session, tmp_path, content)
