"""Rules on numbers: ranges, low cardinality, sign and finiteness."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from lakeguard.gate.grammar.literals import EXACT, number_text
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.insight.suggestions.low_cardinality import few_values
from lakeguard.insight.suggestions.rule_text import (
    call,
    counted_values,
    ends,
    literal,
    spelt,
)
from lakeguard.insight.suggestions.suggestion import Draft, Mutation, ProfileFacts, one_set
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import FLOATS, INTEGERS, decimal_size

_OFTEN = 20
_DENSEST = 100
_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_FAR = 10
Bound = Decimal | None


def numbers(column: ColumnProfile, facts: ProfileFacts, key: bool) -> Iterator[Draft]:
    """One rule on a numeric column; keys get no upper bound."""
    values = facts.rows - column.nulls
    found = ends(column)
    if found is None or not values:
        return
    least, greatest = found
    if not isinstance(least, Decimal) or not isinstance(greatest, Decimal):
        return
    dense = _is_dense(column, least, greatest, values)
    if not dense and (draft := few_values(column, values)):
        yield draft
    elif key or least == greatest:
        yield from _signed(column, least, values)
        yield from _finite(column, values)
    else:
        yield from _range(column, (least, greatest), values, dense=dense)


def _is_dense(column: ColumnProfile, least: Decimal, greatest: Decimal, values: int) -> bool:
    """Whether every integer in the range occurs often: months, hours, grades."""
    if column.type not in INTEGERS or column.distinct is None or column.distinct < 2:
        return False
    numbers = EXACT.subtract(greatest, least) + 1
    complete = len(column.top) == numbers or abs(column.distinct - numbers) <= numbers // 20
    return numbers <= _DENSEST and complete and numbers * _OFTEN <= values


def _range(
    column: ColumnProfile, found: tuple[Decimal, Decimal], values: int, *, dense: bool
) -> Iterator[Draft]:
    low, high = found if dense else widened(*found, column.type)
    smallest, largest = limits(column.type)
    least = None if smallest is not None and low <= smallest else low
    most = None if largest is not None and high >= largest else high
    mutation = _beyond(column, found, least, most)
    if mutation is None:
        return
    given = {"min": least, "max": most}
    extent = f"{values:,} values lie between {number_text(found[0])} and {number_text(found[1])}"
    more = "every whole number between them comes" if dense else "half as much again is allowed"
    yield Draft(
        rule=call(
            "range", column.column, **{k: number_text(v) for k, v in given.items() if v is not None}
        ),
        column=column.column,
        about="values",
        why=f"{extent}, and {more}",
        support=values,
        strength=0.9 if dense else 0.8,
        mutation=mutation,
    )


def widened(least: Decimal, greatest: Decimal, data_type: str) -> tuple[Decimal, Decimal]:
    """The range widened by half on either side, not across zero, rounded outward."""
    spread = EXACT.subtract(greatest, least)
    step = max(EXACT.scaleb(Decimal(1), spread.adjusted() - 1), _unit(data_type))
    margin = EXACT.divide(spread, Decimal(2))
    low = EXACT.subtract(least, margin)
    high = EXACT.add(greatest, margin)
    low = Decimal(0) if low < 0 <= least else _rounded(low, step, ROUND_FLOOR)
    high = Decimal(0) if greatest <= 0 < high else _rounded(high, step, ROUND_CEILING)
    return low, high


def _rounded(value: Decimal, step: Decimal, rounding: str) -> Decimal:
    steps = EXACT.divide(value, step).to_integral_value(rounding, EXACT)
    return EXACT.multiply(steps, step)


def _unit(data_type: str) -> Decimal:
    """The smallest step of the type; None for continuous types."""
    if size := decimal_size(data_type):
        return Decimal(1).scaleb(-size[1])
    return Decimal(1 if data_type in INTEGERS else 0)


def limits(data_type: str) -> tuple[Bound, Bound]:
    """Minimum and maximum of a bounded type."""
    if data_type in _BITS:
        half = 2 ** (_BITS[data_type] - 1)
        return Decimal(-half), Decimal(half - 1)
    if size := decimal_size(data_type):
        most = EXACT.scaleb(EXACT.subtract(Decimal(10) ** size[0], Decimal(1)), -size[1])
        return most.copy_negate(), most
    return None, None


def _beyond(
    column: ColumnProfile, found: tuple[Decimal, Decimal], low: Bound, high: Bound
) -> Mutation | None:
    """A value of the type outside the bounds, far outside if possible."""
    far = EXACT.multiply(EXACT.subtract(found[1], found[0]), Decimal(_FAR))
    smallest, largest = limits(column.type)
    if high is not None:
        value = EXACT.add(high, far)
        value = value if largest is None else min(value, largest)
    elif low is not None:
        value = EXACT.subtract(low, far)
        value = value if smallest is None else max(value, smallest)
    else:
        return None
    return one_set(column, spelt(value, column.type))


def _signed(column: ColumnProfile, least: Decimal, values: int) -> Iterator[Draft]:
    if least < 0:
        return
    rule_type, limit = ("gt", "greater than 0") if least > 0 else ("ge", "0 or greater")
    yield Draft(
        rule=call(rule_type, column.column, value="0"),
        column=column.column,
        about="values",
        why=f"{counted_values(values)} {limit}, the least is {literal(least, column.type)}",
        support=values,
        strength=0.72,
        mutation=one_set(column, -1),
    )


def _finite(column: ColumnProfile, values: int) -> Iterator[Draft]:
    if column.type not in FLOATS:
        return
    yield Draft(
        rule=f"sql_row(is_finite({column_text(column.column)}))",
        about=f"finite {column.column}",
        why=f"none of {values:,} values is NaN or infinite",
        support=values,
        strength=0.75,
        mutation=one_set(column, "NaN"),
    )
