"""Each measure has a value or a reason, from the cheapest source that proves it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import (
    Call,
    ColumnRef,
    Compare,
    Comparison,
    Function,
    IsNan,
    IsNull,
    Matches,
    Value,
)
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DuplicateRows,
    Quantile,
    RowCount,
    measure_key,
)
from lakeguard_sdk.storage.storage import LocalStorage, staging_area
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.measure import MeasureOptions, Subject, take_measures
from openlaketx.measure.engine_choice import options_from_settings
from openlaketx.stage.candidate import collect
from tests.property.measure.staging import staged, write_rows

SCHEMA = TableSchema(
    columns=tuple(
        Column(name=name, type=kind)
        for name, kind in {
            "n": "long", "s": "string", "d": "double", "p": "decimal(38,0)", "at": "timestamp",
        }.items()
    )
)  # fmt: skip
N, S, D, P, AT = (ColumnRef(name=column.name, type=column.type) for column in SCHEMA.columns)
BIG = 10**38 - 1


def row(n: int | None, s: str | None = "x", **more: Any) -> dict[str, Any]:
    return {"n": n, "s": s, "d": 0.5, "p": 1, "at": 0, **more}


def aggregate(function: str, column: ColumnRef) -> Aggregate:
    return Aggregate(function=AggregateFunction(function), column=column)


def test_footers_answer_without_a_row_being_read(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(3), row(None), row(-1)], [row(9)], SCHEMA)
    for file in subject.batch.files:
        (tmp_path / file.path).unlink()
    questions = {
        RowCount(): 3,
        RowCount(scope=Scope.TABLE): 4,
        CountIf(condition=IsNull(of=N)): 1,
        aggregate("min", N): -1,
        aggregate("max", N): 3,
        aggregate("max", AT): "1970-01-01T00:00:00.000000Z",
    }
    measured = take_measures(list(questions), subject)
    assert measured.unmeasured == {}
    assert measured.values == {
        measure_key(asked): reported for asked, reported in questions.items()
    }


def test_footers_answer_where_whole_row_groups_are_null(tmp_path: Path) -> None:
    batch = [row(None)] * 4 + [row(5)] + [row(None)] * 5
    subject = staged(tmp_path, batch, [], SCHEMA)
    for file in subject.batch.files:
        (tmp_path / file.path).unlink()
    measured = take_measures([aggregate("min", N), aggregate("max", N)], subject)
    assert list(measured.values.values()) == [5, 5]


def test_rows_are_read_where_footers_tell_nothing(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(3), row(None), row(-1)], [], SCHEMA)
    for file in subject.batch.files:
        content = pq.read_table(tmp_path / file.path)
        pq.write_table(
            content, tmp_path / file.path, write_statistics=False, store_decimal_as_integer=True
        )
    bare = collect(str(tmp_path), "runs/run_1", SCHEMA, "silver.t", LocalStorage())
    questions = [CountIf(condition=IsNull(of=N)), aggregate("min", N), aggregate("max", N)]
    measured = take_measures(questions, Subject(bare, SCHEMA, (), 0))
    assert list(measured.values.values()) == [1, -1, 3]


def test_each_measure_looks_at_the_rows_of_its_scope(tmp_path: Path) -> None:
    one = Compare(op=Comparison.EQ, left=N, right=Value(type="long", text="1"))
    subject = staged(tmp_path, [row(1), row(2)], [row(1), row(1)], SCHEMA)
    questions = {
        RowCount(where=one): 1,
        RowCount(where=one, scope=Scope.TABLE): 3,
        CountIf(condition=one): 1,
        aggregate("sum", N): 3,
    }
    measured = take_measures(list(questions), subject)
    assert measured.values == {
        measure_key(asked): reported for asked, reported in questions.items()
    }


def test_one_that_raises_takes_no_other_with_it(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(1, p=BIG), row(2, p=BIG)], [], SCHEMA)
    bad = [
        aggregate("sum", P),
        aggregate("mean", S),
        CountIf(condition=Compare(op=Comparison.LT, left=S, right=Value(type="long", text="1"))),
        CountIf(condition=Matches(of=S, pattern="(unclosed")),
    ]
    good = [aggregate("mean", N), CountIf(condition=Matches(of=S, pattern="x"))]
    measured = take_measures([*bad, *good], subject)
    assert set(measured.unmeasured) == {measure_key(measure) for measure in bad}
    assert all(reason and "\n" not in reason for reason in measured.unmeasured.values())
    assert measured.values == {measure_key(good[0]): 1.5, measure_key(good[1]): 2}


def test_duplicates_are_counted_in_the_table_that_the_publish_would_make(tmp_path: Path) -> None:
    batch = [row(1), row(2), row(2), row(None), row(None)]
    subject = staged(tmp_path, batch, [row(1), row(7)], SCHEMA)
    within = DuplicateRows(columns=(N,), scope=Scope.BATCH)
    table = DuplicateRows(columns=(N,), scope=Scope.TABLE)
    measured = take_measures([within, table], subject)
    assert measured.values == {measure_key(within): 2, measure_key(table): 4}


def test_an_empty_batch_has_counts_of_zero_and_aggregates_of_nothing(tmp_path: Path) -> None:
    subject = staged(tmp_path, [], [], SCHEMA)
    matching = Matches(of=S, pattern="a")
    questions = {
        RowCount(): 0,
        RowCount(where=matching): 0,
        CountIf(condition=matching): 0,
        CountIf(condition=IsNull(of=N)): 0,
        DuplicateRows(columns=(N, S)): 0,
        aggregate("max", N): None,
        aggregate("sum", N): None,
        aggregate("mean", D): None,
        aggregate("min", S): None,
    }
    measured = take_measures(list(questions), subject)
    assert measured.unmeasured == {}
    assert measured.values == {
        measure_key(asked): reported for asked, reported in questions.items()
    }


def test_integers_beyond_what_json_holds_are_text(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(2**63 - 1), row(2**63 - 1)], [], SCHEMA)
    measured = take_measures([aggregate("max", N), aggregate("sum", N)], subject)
    assert list(measured.values.values()) == [str(2**63 - 1), str(2**64 - 2)]


@pytest.mark.parametrize("folder", ["plain", "odd [1] {x} *?", "it's é%41"])
def test_files_are_read_by_name_and_never_by_pattern(tmp_path: Path, folder: str) -> None:
    subject: Subject = staged(tmp_path / folder, [row(1), row(2)], [], SCHEMA)
    staged(tmp_path / "odd 1 x ab", [row(5)], [], SCHEMA)
    measured = take_measures([aggregate("mean", N)], subject)
    assert list(measured.values.values()) == [1.5]


def test_the_engine_is_named(tmp_path: Path) -> None:
    assert take_measures([], staged(tmp_path, [], [], SCHEMA)).engine.startswith("duckdb ")


def test_columns_are_matched_by_name_where_older_files_have_another_order(tmp_path: Path) -> None:
    backwards = TableSchema(columns=SCHEMA.columns[::-1])
    subject = staged(tmp_path, [row(1), row(2)], [], SCHEMA)
    write_rows(tmp_path / "runs" / "run_0" / "a.parquet", [row(2), row(3)], backwards)
    shown = (*subject.table, "runs/run_0/a.parquet")
    table = Subject(subject.batch, SCHEMA, shown, 4)
    measured = take_measures([DuplicateRows(columns=(N,))], table)
    assert list(measured.values.values()) == [2]


def test_a_condition_that_only_nan_meets_is_met(tmp_path: Path) -> None:
    """Statistics of a file say nothing of NaN, which is greater than any number."""
    rows = [row(1, d=0.0), row(2, d=math.nan), row(3, d=math.nan), row(4, d=None)]
    subject = staged(tmp_path, rows, [], SCHEMA)
    greater = Compare(left=D, op=Comparison.GT, right=Value(type="double", text="5"))
    questions = [DuplicateRows(columns=(D,), where=where) for where in (IsNan(of=D), greater, None)]
    measured = take_measures(questions, subject)
    assert [measured.values[measure_key(question)] for question in questions] == [2, 2, 2]


def test_only_keys_that_a_run_brings_are_looked_for_where_the_rest_is_proven(
    tmp_path: Path,
) -> None:
    """The table's own duplicates stay uncounted, which shows that nobody looked at them."""
    question = DuplicateRows(columns=(N,))
    stored = [row(2), row(3), row(7), row(7)]
    batch = [row(1), row(2), row(None)]
    proven = staged(tmp_path, batch, stored, SCHEMA, (measure_key(question),))
    assert list(take_measures([question], proven).values.values()) == [2]
    unproven = staged(tmp_path, batch, stored, SCHEMA)
    assert list(take_measures([question], unproven).values.values()) == [4]


def test_a_condition_on_nan_that_two_measures_share_is_met(tmp_path: Path) -> None:
    """DuckDB works such a condition out once, and then believes statistics about it."""
    subject = staged(tmp_path, [row(1, d=0.0), row(2, d=0.0), row(3, d=math.nan)], [], SCHEMA)
    is_nan = IsNan(of=D)
    three = Compare(left=N, op=Comparison.EQ, right=Value(type="long", text="3"))
    questions = [RowCount(where=is_nan), CountIf(condition=three, where=is_nan)]
    assert list(take_measures(questions, subject).values.values()) == [1, 1]


def test_what_takes_too_long_is_not_measured(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(1), row(2)], [], SCHEMA)
    questions = [aggregate("mean", N), aggregate("sum", D), DuplicateRows(columns=(N,))]
    measured = take_measures([RowCount(), *questions], subject, MeasureOptions(seconds=1e-9))
    assert measured.values == {measure_key(RowCount()): 2}, "footers take no time"
    assert set(measured.unmeasured) == {measure_key(question) for question in questions}
    assert set(measured.unmeasured.values()) == {"measuring took longer than 1e-09 s"}


def test_a_question_that_is_being_asked_is_ended(tmp_path: Path) -> None:
    many = [row(n, str(n), d=n / 7) for n in range(20_000)]
    subject = staged(tmp_path, many, [], SCHEMA)
    questions = [Quantile(q=f"0.{n:04d}", column=D) for n in range(1, 10_000, 3)]
    before = monotonic()
    measured = take_measures(questions, subject, MeasureOptions(seconds=0.1))
    assert len(measured.unmeasured) == len(questions)
    assert monotonic() - before < 30


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"measure_with": "pandas"}, "measure_with must be one of auto, duckdb, spark"),
        ({"measure_seconds": "soon"}, "measure_seconds must be a positive number"),
        ({"measure_seconds": "0"}, "measure_seconds must be a positive number"),
        ({"measure_spark_above_gb": "inf"}, "measure_spark_above_gb must be a positive number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        options_from_settings(settings)


def test_the_engine_is_chosen_by_size_and_by_word(tmp_path: Path) -> None:
    subject = replace(staged(tmp_path, [row(1)], [row(2)], SCHEMA), table_bytes=10**9)
    batch, table = [aggregate("mean", N)], [DuplicateRows(columns=(N,))]
    assert not MeasureOptions().with_spark(table, subject)
    assert not MeasureOptions(large_bytes=10**8).with_spark(batch, subject)
    assert MeasureOptions(large_bytes=10**8).with_spark(table, subject)
    assert options_from_settings({"measure_with": "Spark"}).with_spark(batch, subject)
    by_word = options_from_settings({"measure_with": "duckdb", "measure_spark_above_gb": "0.1"})
    assert not by_word.with_spark(table, subject)


def test_files_staged_here_for_a_store_are_measured_here(tmp_path: Path) -> None:
    """DuckDB reads them from this disk; the rest of the table is in the store."""
    subject = staged(tmp_path, [row(1)], [row(2)], SCHEMA)
    there = replace(subject, batch=replace(subject.batch, location="s3://lake/bronze/orders"))
    batch, table = [aggregate("mean", N)], [DuplicateRows(columns=(N,))]
    assert MeasureOptions().with_spark(batch, there)
    with staging_area("s3://lake/bronze/orders", tmp_path):
        assert not MeasureOptions().with_spark(batch, there)
        assert MeasureOptions().with_spark(table, there)
        assert MeasureOptions(large_bytes=0).with_spark(batch, there)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1.0, 2.5, None), 3.5),
        ((math.inf, 1.7e308, 1.7e308), "Infinity"),
        ((-math.inf, 1.7e308, 1.7e308), "-Infinity"),
        ((math.inf, -math.inf, 1.0), "NaN"),
        ((math.nan, -math.inf, 1.0), "NaN"),
        ((math.nan, math.nan), "NaN"),
        ((1.7e308, 1.7e308), None),
        ((None,), None),
    ],
)
def test_sums_of_doubles_do_not_depend_on_the_order_of_rows(
    values: tuple[float | None, ...], expected: float | str | None, tmp_path: Path
) -> None:
    subject = staged(tmp_path, [row(1, d=value) for value in values], [], SCHEMA)
    measured = take_measures([aggregate("sum", D)], subject)
    assert measured.values.get(measure_key(aggregate("sum", D))) == expected
    too_large = expected is None and any(value is not None for value in values)
    assert bool(measured.unmeasured) is too_large


@pytest.mark.parametrize(
    ("kind", "function", "ends"),
    [
        *(("timestamp", name, 2**63 - 1) for name in ("year", "month", "day", "hour", "weekday")),
        *(("date", name, 2**31 - 1) for name in ("year", "month", "day", "weekday")),
        ("date", "days_between", 2**31 - 1),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_time_beyond_the_calendar_is_not_taken_for_null(
    tmp_path: Path, kind: str, function: str, ends: int, sign: int
) -> None:
    """NULL would meet the condition: DuckDB has no year of what it reads as infinity."""
    schema = TableSchema(columns=(Column(name="t", type=kind),))
    time = ColumnRef(name="t", type=kind)
    arguments = (time, time) if function == "days_between" else (time,)
    part = Call(function=Function(function), arguments=arguments, type="long")
    one = Value(type="long", text="1")
    late = CountIf(condition=Compare(op=Comparison.GT, left=part, right=one))
    beyond = staged(tmp_path / "beyond", [{"t": sign * ends}], [], schema)
    assert set(take_measures([late], beyond).unmeasured) == {measure_key(late)}
    calm = staged(tmp_path / "calm", [{"t": 0}, {"t": None}], [], schema)
    assert take_measures([late], calm).unmeasured == {}
