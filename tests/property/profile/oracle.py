"""What a profile should say, worked out in plain Python from the values of a column."""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from lakeguard_sdk.model.profile import SHARES
from lakeguard_sdk.model.row_sample import LONGEST_TEXT
from openlaketx.measure.sql.value_text import (
    day,
    double,
    exact,
    instant,
    local_instant,
    whole,
)

LISTED = 10
CUT = 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def present(values: list[Any]) -> list[Any]:
    """What counts as a value, -0.0 as 0.0 and every NaN as the same."""
    return [_one_spelling(value) for value in values if value is not None]


def _one_spelling(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def profile_text(value: Any, data_type: str) -> Any:
    """As profiles spell a value."""
    if value == "NaN" and data_type in ("float", "double"):
        return value
    match data_type:
        case "boolean":
            return "true" if value else "false"
        case "float" | "double":
            return double(value)
        case "date":
            return day((value - date(1970, 1, 1)).days)
        case "timestamp":
            return instant(micros(value))
        case "timestamp_ntz":
            return local_instant(micros(value))
        case "string":
            return cut(value)
    return exact(value, -value.as_tuple().exponent) if isinstance(value, Decimal) else whole(value)


def micros(value: datetime) -> int:
    apart = (value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH
    return (apart.days * 86_400 + apart.seconds) * 1_000_000 + apart.microseconds


def cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def placed(values: list[Any]) -> list[Any]:
    return sorted(value for value in present(values) if value != "NaN")


def extremes(values: list[Any], data_type: str) -> tuple[Any, Any]:
    """Of texts by their UTF-8, which is the order of code points."""
    found = placed(values)
    return (
        (profile_text(found[0], data_type), profile_text(found[-1], data_type))
        if found
        else (None, None)
    )


def mean(values: list[Any]) -> float | None:
    numbers = [float(value) for value in placed(values)]
    return _tellable(lambda: statistics.fmean(numbers)) if numbers else None


def deviation(values: list[Any]) -> float | None:
    numbers = [float(value) for value in placed(values)]
    return _tellable(lambda: statistics.stdev(numbers)) if len(numbers) > 1 else None


def _tellable(work: Any) -> float | None:
    try:
        value = float(work())
    except (OverflowError, AttributeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def quantiles(values: list[Any]) -> dict[str, Any]:
    """Of so few values that the sketch keeps them all."""
    found = placed(values)
    if not found:
        return {}
    return {share: found[max(0, math.ceil(float(share) * len(found)) - 1)] for share in SHARES}


def top(values: list[Any], data_type: str) -> list[tuple[str, int]]:
    counted = Counter(present(values))
    ordered = sorted(counted, key=_order)
    return [
        (str(profile_text(value, data_type)), rows) for value, rows in _listed(counted, ordered)
    ]


def patterns(values: list[Any]) -> list[tuple[str, int]]:
    counted = Counter(map(pattern, present(values)))
    return _listed(counted, sorted(counted))


def _listed(counted: Counter[Any], ordered: list[Any]) -> list[tuple[Any, int]]:
    found = sorted(((value, counted[value]) for value in ordered), key=lambda item: -item[1])
    return [item for item in found if item[1] > 1 or len(counted) <= LISTED][:LISTED]


def _order(value: Any) -> Any:
    """NaN is above everything; FALSE before TRUE."""
    return (1, 0) if value == "NaN" else (0, value)


def pattern(text: str) -> str:
    return "".join(map(_sign, text[:CUT])) + ("…" if len(text) > CUT else "")


def _sign(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Lu", "Lt"):
        return "A"
    if category.startswith("L"):
        return "a"
    return "9" if category == "Nd" else character


def lengths(values: list[Any]) -> tuple[int, int, float] | None:
    found = [len(value) for value in present(values)]
    return (min(found), max(found), statistics.fmean(found)) if found else None
