"""Backfill windows and watermarks."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from lakeguard_sdk.model.load import parse_lag
from lakeguard_sdk.model.run import Build, RunPlan, SourceBuild, Window
from lakeguard_sdk.types.schema import FLOATS, INTEGERS, TableSchema, decimal_size

WINDOW_TYPES = ("date", "timestamp", "timestamp_ntz", "string", *INTEGERS)


def window_problem(window: Window, declared: TableSchema) -> str | None:
    """Why the window is invalid; None if it is valid."""
    data_type = declared.type_of(window.column)
    if data_type is None:
        return f"column {window.column!r} does not exist"
    if data_type not in WINDOW_TYPES:
        return f"column {window.column} is {data_type}, which does not support windows"
    try:
        start, end = window_bounds(window, data_type)
    except ValueError as error:
        return str(error)
    if start > end:  # type: ignore[operator]
        return f"the window ends at {window.end}, before it starts at {window.start}"
    return None


def window_bounds(
    window: Window, data_type: str
) -> tuple[date | datetime | int | str, date | datetime | int | str]:
    """Both inclusive. A date as the end of a timestamp window means the whole day."""
    return _bound(window.start, data_type, time.min), _bound(window.end, data_type, time.max)


def _bound(text: str, data_type: str, moment: time) -> date | datetime | int | str:
    try:
        found = _value(text, data_type, moment)
    except ValueError:
        raise ValueError(f"{text!r} is not a valid {data_type}") from None
    if data_type == "timestamp_ntz" and isinstance(found, datetime) and found.tzinfo:
        raise ValueError(
            f"{text!r} has a time zone, but the column is a timestamp_ntz: write it without one"
        )
    return found


def _value(text: str, data_type: str, moment: time) -> date | datetime | int | str:
    if data_type in INTEGERS:
        return int(text)
    if data_type == "date":
        return date.fromisoformat(text)
    if data_type == "timestamp_ntz":
        return _moment(text, moment)
    if data_type == "timestamp":
        found = _moment(text, moment)
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    return text


def _moment(text: str, moment: time) -> datetime:
    if len(text) == len("2013-01-31"):
        return datetime.combine(date.fromisoformat(text), moment)
    return datetime.fromisoformat(text)


# Watermarks: how far a version has read, and where the next run starts.


def watermark_subject(build: Build, column: str) -> str:
    """Identifies a watermark: the column, with source and object if there are any."""
    if isinstance(build, SourceBuild):
        return f"{build.source}/{build.object}/{column}"
    return column


def watermark_value(text: str, data_type: str) -> Any:
    """Parses the watermark of a position."""
    if data_type in INTEGERS:
        return int(text)
    if data_type in FLOATS:
        return float(text)
    if decimal_size(data_type):
        return Decimal(text)
    if data_type == "date":
        return date.fromisoformat(text)
    if data_type in ("timestamp", "timestamp_ntz"):
        return datetime.fromisoformat(text)
    return text


def lower_bound(plan: RunPlan) -> Any:
    """The watermark of the base, minus the lag."""
    data_type = str(plan.declared.type_of(plan.load.watermark))
    last = watermark_value(str(plan.watermark), data_type)
    lag = parse_lag(plan.load.lag)
    if not lag:
        return last
    if isinstance(last, date) and not isinstance(last, datetime) and isinstance(lag, timedelta):
        return last - timedelta(days=-(-lag // timedelta(days=1)))
    return last - lag


def bound_text(value: Any) -> str:
    """Spelled for every engine, independent of the process's time zone."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
