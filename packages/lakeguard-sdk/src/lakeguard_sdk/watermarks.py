"""Watermarks: how far a version has read, as a value, and where the next run begins."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from lakeguard_sdk.load import parse_lag
from lakeguard_sdk.run import Build, RunPlan, SourceBuild
from lakeguard_sdk.schema import FLOATS, INTEGERS, decimal_size


def watermark_subject(build: Build, column: str) -> str:
    """What a watermark is a value of: a column, of an object of a source where there is one."""
    if isinstance(build, SourceBuild):
        return f"{build.source}/{build.object}/{column}"
    return column


def watermark_value(text: str, data_type: str) -> Any:
    """The value that the text of a position spells."""
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
    """The watermark of the base, less the lag."""
    data_type = str(plan.declared.type_of(plan.load.watermark))
    last = watermark_value(str(plan.watermark), data_type)
    lag = parse_lag(plan.load.lag)
    if not lag:
        return last
    if isinstance(last, date) and not isinstance(last, datetime) and isinstance(lag, timedelta):
        return last - timedelta(days=-(-lag // timedelta(days=1)))
    return last - lag


def bound_text(value: Any) -> str:
    """As every engine reads it, whatever the time zone of a process is."""
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)
