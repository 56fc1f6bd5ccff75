"""Conditions over the aggregates of a group: TRUE, FALSE or NULL, reckoned exactly.

NULL is an aggregate without a value, what is divided by 0, and what is reckoned with NaN or
infinity. By itself NaN equals NaN and is above every number, as in the conditions of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.total_value import Held, NoNumber, Standing, TotalValue, standing


class TotalCompare(Noun):
    node: Literal["compare"] = "compare"
    op: Comparison
    left: TotalValue
    right: TotalValue


class TotalMissing(Noun):
    node: Literal["missing"] = "missing"
    of: TotalValue


class TotalNot(Noun):
    node: Literal["not"] = "not"
    item: TotalCondition


class TotalAnd(Noun):
    node: Literal["and"] = "and"
    items: tuple[TotalCondition, ...]


class TotalOr(Noun):
    node: Literal["or"] = "or"
    items: tuple[TotalCondition, ...]


TotalCondition = Annotated[
    TotalCompare | TotalMissing | TotalNot | TotalAnd | TotalOr, Field(discriminator="node")
]

for _node in (TotalCompare, TotalMissing, TotalNot, TotalAnd, TotalOr):
    _node.model_rebuild()


def holds(condition: TotalCondition, values: Sequence[Held]) -> bool | None:
    """What the condition is where the aggregates have these values."""
    match condition:
        case TotalMissing(of=of):
            return _standing(of, values) is None
        case TotalNot(item=item):
            found = holds(item, values)
            return None if found is None else not found
        case TotalAnd(items=items):
            told = [holds(item, values) for item in items]
            return False if False in told else None if None in told else True
        case TotalOr(items=items):
            told = [holds(item, values) for item in items]
            return True if True in told else None if None in told else False
        case TotalCompare(op=op, left=left, right=right):
            one, other = _standing(left, values), _standing(right, values)
            return None if one is None or other is None else _compared(op, one, other)


def _compared(op: Comparison, one: Standing, other: Standing) -> bool:
    match op:
        case Comparison.EQ:
            return one == other
        case Comparison.NE:
            return one != other
        case Comparison.LT:
            return one < other
        case Comparison.LE:
            return one <= other
        case Comparison.GT:
            return one > other
        case Comparison.GE:
            return one >= other


def _standing(of: TotalValue, values: Sequence[Held]) -> Standing | None:
    try:
        return standing(of, values)
    except NoNumber:
        return None
