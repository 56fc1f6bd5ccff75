"""Rule text: typed literals and calls."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from lakeguard.gate.grammar.literals import (
    Literal_,
    Text,
    literal_text,
    number_text,
)
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.typecheck.checks import Scalar
from lakeguard.gate.typecheck.scalars import NotAValue, as_scalar
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import decimal_size


def call(rule_type: str, *columns: str, **given: str) -> str:
    """``range(dep_delay, min=0, max=5)``; arguments are literal text."""
    arguments = [*map(column_text, columns), *(f"{name}={text}" for name, text in given.items())]
    return f"{rule_type}({', '.join(arguments)})"


def spelt(value: Scalar, data_type: str) -> MeasureValue:
    """A literal from a value in evidence."""
    match value:
        case Decimal():
            return format(value, "f") if decimal_size(data_type) else number_text(value)
        case datetime():
            text = format_instant(value).replace(".000000", "")
            return text.removesuffix("Z") if data_type == "timestamp_ntz" else text
        case date():
            return value.isoformat()


def literal(value: Scalar, data_type: str) -> str:
    if isinstance(value, Decimal):
        return number_text(value)
    return text(str(spelt(value, data_type)))


def text(value: str) -> str:
    return literal_text(Text(value=value))


def listed(values: list[Literal_]) -> str:
    return f"[{', '.join(map(literal_text, values))}]"


def ends(column: ColumnProfile) -> tuple[Scalar, Scalar] | None:
    """Minimum and maximum, if known and finite."""
    try:
        found = [as_scalar(end, column.type) for end in (column.least, column.greatest)]
    except NotAValue:
        return None
    least, greatest = found
    if least is None or greatest is None:
        return None
    if any(isinstance(end, Decimal) and not end.is_finite() for end in found):
        return None
    return least, greatest


def counted_values(values: int) -> str:
    """``1 value is``, ``2,000 values are``."""
    return "1 value is" if values == 1 else f"{values:,} values are"
