"""``in_set`` for low-cardinality columns."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from lakeguard.gate.grammar.literals import Literal_, Number, Text
from lakeguard.insight.suggestions.rule_text import call, listed
from lakeguard.insight.suggestions.suggestion import Draft, one_set
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import INTEGERS

_MOST = 12
"""Maximum distinct values for a list."""
_OFTEN = 20
"""Minimum rows per distinct value."""
_SHORT = 40
NO_SUCH = "no such value"


def few_values(column: ColumnProfile, values: int) -> Draft | None:
    """``in_set`` if there are two or more values, few and short, in many rows."""
    found = [item.value for item in column.top if item.value is not None]
    listed_rows = sum(item.rows for item in column.top if item.value is not None)
    rare = len(found) * _OFTEN > values + column.nulls
    if not 1 < len(found) <= _MOST or listed_rows != values or rare:
        return None
    literals = _literals(sorted(found), column.type)
    if literals is None:
        return None
    return Draft(
        rule=call("in_set", column.column, values=listed(literals)),
        column=column.column,
        about="values",
        why=f"{values:,} values are {len(found)} different ones, each about"
        f" {values // len(found):,} times",
        support=values,
        strength=0.9,
        mutation=one_set(column, _another(literals)),
    )


def _literals(found: list[str], data_type: str) -> list[Literal_] | None:
    if data_type == "string":
        plain = all(text.isprintable() and 0 < len(text) <= _SHORT for text in found)
        return [Text(value=text) for text in found] if plain else None
    if data_type not in INTEGERS:
        return None
    try:
        numbers = sorted(Decimal(text) for text in found)
    except InvalidOperation:
        return None
    return [Number(value=number) for number in numbers]


def _another(literals: list[Literal_]) -> str:
    """A value of the type that is not listed."""
    numbers = {int(item.value) for item in literals if isinstance(item, Number)}
    if numbers:
        return str(next(number for number in range(_MOST + 1) if number not in numbers))
    texts = {item.value for item in literals if isinstance(item, Text)}
    return NO_SUCH if NO_SUCH not in texts else f"{NO_SUCH}!"
