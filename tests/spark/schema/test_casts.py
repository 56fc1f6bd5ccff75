"""Casts are lossless, or fail and name the value."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from openlaketx.conform import conform
from openlaketx.conform.casts import is_sound
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason
from openlaketx.engine.spark.types import spark_schema
from tests.support.lakes.plans import schema

pytestmark = pytest.mark.spark
NEW_YEAR = datetime(2013, 1, 1, tzinfo=UTC)

GOOD: dict[str, dict[str | None, Any]] = {
    "byte": {"-128": -128, "+7": 7, "": None, None: None},
    "short": {"32767": 32767},
    "integer": {"007": 7, "-2147483648": -2147483648},
    "long": {"9223372036854775807": 2**63 - 1},
    "float": {"0.5": 0.5, "1e3": 1000.0},
    "double": {"1.5": 1.5, ".5": 0.5, "2.": 2.0, "1e-3": 0.001, "-0": -0.0},
    "decimal(9,2)": {"1.5": Decimal("1.50"), "-1.5000": Decimal("-1.50"), "7": Decimal(7)},
    "decimal(38,0)": {"9" * 38: Decimal("9" * 38)},
    "boolean": {"true": True, "FALSE": False},
    "date": {"0001-01-01": date(1, 1, 1), "9999-12-31": date(9999, 12, 31)},
    "timestamp": {
        "2013-01-01T10:00:00Z": "2013-01-01 10:00:00",
        "2013-01-01 10:00:00.123456": "2013-01-01 10:00:00.123456",
        "2013-01-01T10:00:00+02:00": "2013-01-01 08:00:00",
    },
    "timestamp_ntz": {"2013-01-01T10:00:00": "2013-01-01 10:00:00"},
    "string": {" kept ": " kept ", "": ""},
    "binary": {"ab": bytearray(b"ab"), "": None},
}
BAD = {
    "byte": ["128", "1.0", "1.9", " 1", "1 ", "1e2", "0x1", "1_0", "\u0661", "\t1", "x"],
    "long": ["9223372036854775808"],
    "float": ["1e39", "NaN"],
    "double": ["1e400", "NaN", "Infinity", "1d", "1,5", "1.5f", "--1", "."],
    "decimal(9,2)": ["1.005", "12345678.00", "1e2", ".", "1.50 "],
    "boolean": ["1", "yes", "t", " true"],
    "date": ["2013-02-29", "2013-1-1", "2013", "2013-01-01 00:00:00", "01/01/2013", "epoch"],
    "timestamp": ["2013-01-01", "10:20:30", "2013-01-01T24:00:00", "2013-02-30T00:00:00Z", "now"],
    "timestamp_ntz": ["2013-01-01T00:00:00Z"],
}


def read(session: SparkSession, texts: list[str | None], declared: str) -> list[Any]:
    return read_all(session, {declared: texts})[declared]


def read_all(session: SparkSession, expected: dict[str, list[str | None]]) -> dict[str, list[Any]]:
    """One job for all types: a column for each, padded with NULL."""
    longest = max(map(len, expected.values()))
    columns = [[*texts, *[None] * (longest - len(texts))] for texts in expected.values()]
    names = [f"c{number}" for number in range(len(expected))]
    strings = schema(**dict.fromkeys(names, "string"))
    declared = schema(**dict(zip(names, expected, strict=True)))
    frame = session.createDataFrame(list(zip(*columns, strict=True)), spark_schema(strings))
    cast = conform(frame, strings, declared, "bronze.t")
    shown = [
        cast[name].cast("string") if kind.startswith("timestamp") else cast[name]
        for name, kind in zip(names, expected, strict=True)
    ]
    rows = cast.select(*shown).collect()
    return {
        kind: [row[place] for row in rows[: len(expected[kind])]]
        for place, kind in enumerate(expected)
    }


def test_texts_that_are_values(session: SparkSession) -> None:
    found = read_all(session, {declared: list(reported) for declared, reported in GOOD.items()})
    assert found == {declared: list(reported.values()) for declared, reported in GOOD.items()}


def test_texts_that_are_not(session: SparkSession) -> None:
    texts = sorted({text for reported in BAD.values() for text in reported})
    frame = session.createDataFrame(
        [(text,) for text in texts], StructType([StructField("x", StringType())])
    )
    verdicts = [is_sound(frame["x"], declared).alias(declared) for declared in BAD]
    found = {row["x"]: row for row in frame.select("x", *verdicts).collect()}
    taken = [
        (kind, text) for kind, reported in BAD.items() for text in reported if found[text][kind]
    ]
    assert taken == []


def test_a_text_that_is_no_value_fails_the_run_and_is_named(session: SparkSession) -> None:
    for declared in ("byte", "double", "decimal(9,2)", "date"):
        with pytest.raises(SPARK_ERRORS) as raised:
            read(session, ["1.005 "], declared)
        assert reason(raised.value) == f"column c0: '1.005 ' is not a valid {declared}"


@pytest.mark.parametrize(
    ("found", "declared", "kept", "refused"),
    [
        ("integer", "long", 5, None),
        ("long", "integer", 5, 2**31),
        ("double", "integer", 2.0, 1.9),
        ("double", "float", 0.5, 0.1),
        ("long", "double", 2**53, 2**53 + 1),
        ("decimal(18,4)", "decimal(9,2)", Decimal("1.5000"), Decimal("1.0050")),
        ("decimal(18,4)", "long", Decimal("2.0000"), Decimal("2.5000")),
        (
            "timestamp",
            "date",
            datetime(2013, 1, 1, tzinfo=UTC),
            datetime(2013, 1, 1, 5, tzinfo=UTC),
        ),
        ("date", "timestamp", date(2013, 1, 1), None),
        ("long", "string", 5, None),
    ],
)
def test_other_types_are_cast_only_without_loss(
    session: SparkSession, found: str, declared: str, kept: Any, refused: Any
) -> None:
    live = schema(x=found)

    wanted = spark_schema(schema(x=declared))

    def cast(value: Any) -> list[Any]:
        frame = session.createDataFrame([(value,), (None,)], spark_schema(live))
        made = conform(frame, live, schema(x=declared), "bronze.t")
        assert made.schema["x"].dataType == wanted["x"].dataType
        return made.collect()

    assert [row[0] is None for row in cast(kept)] == [False, True]
    if refused is not None:
        with pytest.raises(SPARK_ERRORS) as raised:
            cast(refused)
        assert f"is not a valid {declared}" in reason(raised.value)
