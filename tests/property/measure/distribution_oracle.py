"""How values are spread, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from hashlib import md5, sha256
from typing import Any

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.expressions.measures import Distribution
from openlaketx.measure.sql.value_text import (
    day,
    double,
    exact,
    instant,
    local_instant,
    whole,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def spread(question: Distribution, found: Sequence[Any]) -> str:
    """Of the values of rows in scope; a date or time may be the number that stands for it."""
    data_type = question.column.type
    values = [_plain(value, data_type) for value in found if value is not None]
    counted = Counter(value for value in values if value == value)
    rows = sum(counted.values())
    if question.placed:
        return canonical_json({"rows": rows, "places": _places(question, counted, rows)})
    frequent = sorted(counted, key=lambda text: (-counted[text], _md5(text)))[: question.most]
    listed = [[sha256(text.encode()).hexdigest()[:16], counted[text]] for text in frequent]
    listed.sort(key=lambda item: (-int(item[1]), item[0]))
    return canonical_json({"rows": rows, "values": listed})


def _places(question: Distribution, counted: Counter[Any], rows: int) -> list[list[Any]]:
    below, places = 0, []
    for value in sorted(counted):
        up_to = below + counted[value]
        steps = [part * question.most // rows for part in (below, up_to)]
        if below == 0 or steps[0] < steps[1]:
            places.append([_told(value, question.column.type), below, up_to])
        below = up_to
    return places


def _plain(value: Any, data_type: str) -> Any:
    if data_type == "boolean":
        return "true" if value else "false"
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=UTC)
        return (zoned - _EPOCH) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - _EPOCH.date()).days
    return value + 0.0 if isinstance(value, float) else value


def _told(value: Any, data_type: str) -> Any:
    match data_type:
        case "date":
            return day(value)
        case "timestamp":
            return instant(value)
        case "timestamp_ntz":
            return local_instant(value)
        case "float" | "double":
            return double(value)
    if isinstance(value, Decimal):
        return exact(value, -int(value.as_tuple().exponent))
    return whole(value)


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()
