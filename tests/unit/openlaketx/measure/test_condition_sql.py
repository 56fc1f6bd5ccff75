"""Conditions become SQL: literals are bound, both sides keep their exact value."""

from __future__ import annotations

import pytest

from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Length,
    Matches,
    Not,
    Or,
    Value,
)
from openlaketx.measure.spark_engine import SPARK
from openlaketx.measure.sql.condition_sql import ConditionSql, common_type


def column(name: str, data_type: str) -> ColumnRef:
    return ColumnRef(name=name, type=data_type)


def value(data_type: str, text: str) -> Value:
    return Value(type=data_type, text=text)


def less(left: ColumnRef | Length, right: ColumnRef | Value) -> Compare:
    return Compare(op=Comparison.LT, left=left, right=right)


S, N = column("s", "string"), column("n", "integer")
PATTERN = rb"\A(?:a)\z".hex()


@pytest.mark.parametrize(
    ("condition", "sql", "bound"),
    [
        (IsNull(of=S), '("s" IS NULL)', []),
        (IsNan(of=column("d", "double")), 'isnan("d")', []),
        (less(N, value("integer", "5")), '("n" < CAST($p0 AS INTEGER))', ["5"]),
        (less(column("f", "float"), value("float", "0.1")),
         '(CAST("f" AS DOUBLE) < CAST($p0 AS DOUBLE))', ["0.1"]),
        (less(Length(of=S), value("integer", "3")),
         '(CAST(length("s") AS BIGINT) < CAST($p0 AS BIGINT))', ["3"]),
        (less(column("p", "decimal(9,2)"), value("decimal(9,2)", "1.5")),
         '("p" < CAST($p0 AS DECIMAL(9,2)))', ["1.5"]),
        (less(N, value("integer", "3000000000")),
         '(CAST("n" AS HUGEINT) < CAST($p0 AS HUGEINT))', ["3000000000"]),
        (less(column("t", "timestamp"), value("timestamp", "2013-12-31T00:00Z")),
         '("t" < CAST($p0 AS TIMESTAMPTZ))', ["2013-12-31 00:00:00+00:00"]),
        (Matches(of=S, pattern="a|b"), 'regexp_matches("s", $p0)', [r"\A(?:a|b)\z"]),
        (InSet(of=S, values=(value("string", "it's"), value("string", "--"))),
         '("s" IN (CAST($p0 AS VARCHAR), CAST($p1 AS VARCHAR)))', ["it's", "--"]),
        (InSet(of=S, values=()), "FALSE", []),
        (And(items=()), "TRUE", []),
        (Or(items=()), "FALSE", []),
        (Not(item=Or(items=(IsNull(of=S), IsNull(of=N)))),
         '(NOT (("s" IS NULL) OR ("n" IS NULL)))', []),
        (IsNull(of=column('odd "name"; --', "string")), '("odd ""name""; --" IS NULL)', []),
    ],
)  # fmt: skip
def test_rendering(condition: Condition, sql: str, bound: list[str]) -> None:
    writer = ConditionSql()
    assert writer.condition(condition) == sql
    assert list(writer.parameters.values()) == bound


@pytest.mark.parametrize(
    ("condition", "sql"),
    [
        (IsNull(of=column("a `b`", "string")), "(`a ``b``` IS NULL)"),
        (IsNan(of=column("d", "double")), "(`d` = CAST('NaN' AS DOUBLE))"),
        (less(N, value("integer", "5")), "(`n` < CAST('5' AS INT))"),
        (less(N, value("integer", "3000000000")),
         "(CAST(`n` AS DECIMAL(38,0)) < CAST('3000000000' AS DECIMAL(38,0)))"),
        (less(Length(of=S), value("integer", "3")),
         "(CAST(length(`s`) AS BIGINT) < CAST('3' AS BIGINT))"),
        (less(column("t", "timestamp_ntz"), value("timestamp_ntz", "2013-12-31T00:00")),
         "(`t` < CAST('2013-12-31 00:00:00' AS TIMESTAMP_NTZ))"),
        (Matches(of=S, pattern="a"), f"(`s` RLIKE CAST(X'{PATTERN}' AS STRING))"),
        (InSet(of=S, values=(value("string", "it's"), value("string", "a b"))),
         "(`s` IN (CAST(CAST(X'69742773' AS STRING) AS STRING), CAST('a b' AS STRING)))"),
    ],
)  # fmt: skip
def test_the_same_tree_in_the_words_of_spark(condition: Condition, sql: str) -> None:
    writer = ConditionSql(SPARK)
    assert writer.condition(condition) == sql
    assert writer.parameters == {}


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("integer", "integer", "integer"),
        ("byte", "long", "long"),
        ("float", "float", "double"),
        ("integer", "double", "double"),
        ("integer", "decimal(9,2)", "decimal(12,2)"),
        ("decimal(9,2)", "decimal(18,4)", "decimal(18,4)"),
        ("long", "decimal(38,18)", "decimal(38,18)"),
        ("long", "decimal(38,20)", None),
        ("date", "timestamp", "timestamp"),
        ("date", "timestamp_ntz", "timestamp_ntz"),
        ("string", "integer", None),
        ("boolean", "integer", None),
        ("date", "string", None),
    ],
)
def test_the_common_type_keeps_both_sides_exact(left: str, right: str, common: str | None) -> None:
    if common is None:
        with pytest.raises(ValueError, match="cannot be compared"):
            common_type(left, right)
    else:
        assert common_type(left, right) == common


def test_a_finer_bound_widens_the_comparison_instead_of_rounding() -> None:
    condition = less(column("p", "decimal(9,0)"), value("decimal(9,0)", "2.5"))
    assert ConditionSql().condition(condition) == (
        '(CAST("p" AS DECIMAL(10,1)) < CAST($p0 AS DECIMAL(10,1)))'
    )
