"""Python values as the literals of a rule, and back."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from lakeguard_sdk.expressions.conditions import Value
from lakeguard_sdk.types.schema import FLOATS, INTEGERS, decimal_size

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_value(value: Any, data_type: str) -> Value:
    """A literal of the type; the text is what a rule would carry."""
    if data_type == "boolean":
        text = "true" if value else "false"
    elif data_type in FLOATS:
        text = repr(float(value))
    elif decimal_size(data_type):
        text = format(value, "f")
    elif data_type == "date":
        text = (EPOCH + timedelta(days=value)).date().isoformat()
    elif data_type in ("timestamp", "timestamp_ntz"):
        zone = "Z" if data_type == "timestamp" else ""
        moment = (EPOCH + timedelta(microseconds=value)).replace(tzinfo=None)
        text = moment.isoformat(timespec="microseconds") + zone
    else:
        text = str(value)
    return Value(type=data_type, text=text)


def from_text(value: Value) -> Any:
    """The Python value that a literal stands for."""
    data_type, text = value.type, value.text
    if data_type in INTEGERS:
        return int(text)
    if data_type in FLOATS:
        return float(text)
    if decimal_size(data_type):
        return Decimal(text)
    if data_type == "boolean":
        return text == "true"
    if data_type == "date":
        return (date.fromisoformat(text) - date(1970, 1, 1)).days
    if data_type in ("timestamp", "timestamp_ntz"):
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - EPOCH) // timedelta(microseconds=1)
    return text
