"""Windows of back-fills: which values are understood, and how far they reach."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeguard_sdk.model.run import Window
from lakeguard_sdk.model.windows import window_bounds, window_problem
from lakeguard_sdk.types.schema import Column, TableSchema


def problem(data_type: str, start: str, end: str) -> str | None:
    declared = TableSchema(columns=(Column(name="at", type=data_type),))
    return window_problem(Window(column="at", start=start, end=end), declared)


@pytest.mark.parametrize("zoned", ["2026-01-01T00:00:00Z", "2026-01-01T05:30:00+05:30"])
def test_a_zone_for_a_time_that_has_none_is_refused_and_not_dropped(zoned: str) -> None:
    text = f"'{zoned}' has a time zone, but the column is a timestamp_ntz: write it without one"
    assert problem("timestamp_ntz", zoned, "2026-01-31") == text
    assert problem("timestamp_ntz", "2025-01-01", zoned) == text
    assert problem("timestamp", zoned, "2026-01-31") is None
    assert problem("timestamp_ntz", "2026-01-01T00:00:00", "2026-01-31") is None


def test_times_without_a_zone_are_of_utc_where_the_column_has_one() -> None:
    window = Window(column="at", start="2026-01-01", end="2026-01-01")
    start, end = window_bounds(window, "timestamp")
    assert start == datetime(2026, 1, 1, tzinfo=UTC)
    assert end == datetime(2026, 1, 1, 23, 59, 59, 999999, tzinfo=UTC)
    assert window_bounds(window, "timestamp_ntz")[0] == datetime(2026, 1, 1)  # noqa: DTZ001
