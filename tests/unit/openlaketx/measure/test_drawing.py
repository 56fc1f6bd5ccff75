"""Samples hold the rows that were counted, of the columns that the rule is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.row_sample import (
    LONGEST_TEXT,
    MASKED,
    MOST_SAMPLED,
    RowSample,
)
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.measure import MeasureOptions, take_measures
from openlaketx.measure.duckdb_engine import DuckdbEngine
from openlaketx.measure.failing_rows import failing_rows
from openlaketx.measure.row_samples import SampleRequest, draw_samples
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.time_limit import TimeLimit, TimeLimitExceeded
from openlaketx.measure.timed_engine import TimedEngine
from tests.property.measure.staging import OTHER, staged, staged_beside
from tests.support.cases.failing_rows import (
    BATCH,
    BEFORE,
    NAN,
    RULES,
    SCHEMA,
    counted_by,
    row,
    staged_rows,
)

PATIENCE = 60.0


def drawn(folder: Path, *rules: str, **asked: tuple[str, ...]) -> dict[str, RowSample]:
    wanted = SampleRequest({rule: counted_by(rule) for rule in rules}, **{"keys": ("id",), **asked})
    found = draw_samples(wanted, staged_rows(folder), MeasureOptions(), PATIENCE)
    return {sample.rule_id: sample for sample in found}


@pytest.mark.parametrize("rule", RULES)
def test_a_sample_holds_the_rows_that_were_counted(tmp_path: Path, rule: str) -> None:
    columns, rows = RULES[rule]
    sample = drawn(tmp_path, rule)[rule]
    assert (sample.columns, sample.masked) == (columns, ())
    assert sorted(sample.rows, key=str) == sorted(rows, key=str)
    measured = take_measures([counted_by(rule)], staged_rows(tmp_path))
    assert list(measured.values.values()) == [len(rows)]


def test_rows_of_equal_keys_stand_together(tmp_path: Path) -> None:
    rows = [row(number % 30) for number in range(90)]
    subject = staged(tmp_path, rows, [], SCHEMA)
    wanted = SampleRequest({"twice": counted_by("unique(id)")})
    (sample,) = draw_samples(wanted, subject, MeasureOptions(), PATIENCE)
    found = [value for (value,) in sample.rows]
    assert len(found) == MOST_SAMPLED
    assert [found.count(value) for value in dict.fromkeys(found)] == [3] * 6 + [2]


@pytest.mark.parametrize("rule", ["unique(price)", "unique(id, price)"])
def test_nan_is_a_key_wherever_statistics_do_not_know_of_it(tmp_path: Path, rule: str) -> None:
    rows = [row(1, price=NAN), row(2, price=2.0), row(1, price=NAN), row(3, price=5.0)]
    subject = staged(tmp_path, rows, [], SCHEMA)
    (sample,) = draw_samples(
        SampleRequest({"twice": counted_by(rule)}), subject, MeasureOptions(), PATIENCE
    )
    assert [values[-1] for values in sample.rows] == ["NaN", "NaN"]


def test_only_keys_that_the_run_brings_are_looked_at(tmp_path: Path) -> None:
    """Where the table had no duplicates before."""
    measure = counted_by("unique(id)")
    subject = staged(tmp_path, BATCH, BEFORE, SCHEMA, proven=(measure_key(measure),))
    (sample,) = draw_samples(SampleRequest({"twice": measure}), subject, MeasureOptions(), PATIENCE)
    assert sorted(sample.rows) == [("1",), ("1",), ("3",), ("3",)]


def test_no_more_rows_than_are_kept_and_no_longer_texts(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(n, name="ü" * 500) for n in range(50)], [], SCHEMA)
    wanted = SampleRequest({"short": counted_by("length(name, max=3)")}, ("id",))
    (sample,) = draw_samples(wanted, subject, MeasureOptions(), PATIENCE)
    assert len(set(sample.rows)) == MOST_SAMPLED
    assert {value for _, value in sample.rows} == {"ü" * (LONGEST_TEXT - 1) + "…"}


@pytest.mark.parametrize("rule", RULES)
def test_a_masked_column_is_not_told(tmp_path: Path, rule: str) -> None:
    """Keys too, whatever the case; and a field with the column that it is of."""
    columns, rows = RULES[rule]
    sample = drawn(tmp_path, rule, masked=("ID", "name", "place"))[rule]
    hidden = {"id", "name", "place.geo.lat"}
    assert sample.masked == tuple(name for name in columns if name in hidden)
    wanted = [
        tuple(
            MASKED if name in hidden else reported
            for name, reported in zip(columns, row, strict=True)
        )
        for row in rows
    ]
    assert sorted(sample.rows, key=str) == sorted(wanted, key=str)


def test_nan_is_found_wherever_statistics_do_not_know_of_it(tmp_path: Path) -> None:
    rows = [row(n, price=1.0) for n in range(30)] + [row(99, price=NAN)]
    subject = staged(tmp_path, rows, [], SCHEMA)
    rules = ("range(price, max=5)", "sql_row(id < 50) where price > 2")
    wanted = SampleRequest({rule: counted_by(rule) for rule in rules}, ("id",))
    found = draw_samples(wanted, subject, MeasureOptions(), PATIENCE)
    assert [sample.rows for sample in found] == [(("99", "NaN"),)] * 2


def test_what_cannot_be_drawn_is_left_out(tmp_path: Path) -> None:
    good, other = counted_by("not_null(name)"), counted_by("unique(id)")
    subject = replace(staged_rows(tmp_path), table=("runs/gone.parquet",))
    wanted = SampleRequest({"none": RowCount(), "gone": other, "good": good})
    found = draw_samples(wanted, subject, MeasureOptions(), PATIENCE)
    assert [sample.rule_id for sample in found] == ["good"]


def test_a_rule_without_failing_rows_has_no_sample(tmp_path: Path) -> None:
    assert drawn(tmp_path, "range(price, min=-10, max=10) where id < 3") == {}


def test_drawing_ends_when_its_time_is_over(tmp_path: Path) -> None:
    numbers = [row(n) for n in range(2_000)]
    subject = staged(tmp_path, numbers, [], SCHEMA)
    counted = counted_by("sql_row(id < 0 and length(concat(name, name)) > 0)")
    wanted = SampleRequest({f"rule {n}": counted for n in range(5_000)})
    found = draw_samples(wanted, subject, MeasureOptions(), 0.5)
    assert len(found) < 5_000
    assert draw_samples(wanted, subject, MeasureOptions(), 0.0) == ()


def test_nothing_is_asked_when_the_time_is_over(tmp_path: Path) -> None:
    """Whatever is asked first: rows, values of groups, or texts to read."""
    asked: list[str] = []

    class Heard(DuckdbEngine):
        def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
            asked.append(query)
            return super().rows(query, parameters)

        def batches(
            self, query: str, parameters: Mapping[str, Any]
        ) -> Iterator[Sequence[tuple[Any, ...]]]:
            asked.append(query)
            return super().batches(query, parameters)

    with duckdb_reader() as reader:
        engine = Heard(staged_rows(tmp_path), reader)
        for seconds in (PATIENCE, 0.0):
            for rule in RULES:
                sql = ConditionSql(engine.forms.dialect)
                timed = TimedEngine(engine, TimeLimit(seconds))
                with nullcontext() if seconds else pytest.raises(TimeLimitExceeded):
                    failing_rows(counted_by(rule), timed, sql, ["1 AS lg_shown_0"])
            assert bool(asked) is bool(seconds)
            asked.clear()


def test_rows_that_another_dataset_has_less_often(tmp_path: Path) -> None:
    """As many as it lacks; what it has more often is no row to show."""
    rows = [row(1), row(1), row(1), row(None), row(None), row(2)]
    others = [row(1), row(None), row(2), row(2), row(8)]
    subject = staged_beside(tmp_path, rows, [], others, SCHEMA)
    wanted = SampleRequest({"same": counted_by(f"dataset_equal(id -> {OTHER}(id))")})
    (sample,) = draw_samples(wanted, subject, MeasureOptions(), PATIENCE)
    assert sorted(sample.rows, key=str) == [("1",), ("1",), (None,)]


def test_a_day_that_no_calendar_has_is_told_as_such(tmp_path: Path) -> None:
    subject = staged(tmp_path, [row(1, day=4_000_000), row(2, day=1)], [], SCHEMA)
    wanted = SampleRequest({"future": counted_by("le(day, value='2026-01-01')")}, ("id",))
    (sample,) = draw_samples(wanted, subject, MeasureOptions(), PATIENCE)
    assert sample.rows == (("1", "beyond the calendar"),)
