"""What rules that set aside are asked of a batch that has not met its table yet."""

from __future__ import annotations

from lakeguard_sdk.expression import (
    And,
    Call,
    ColumnRef,
    Condition,
    Function,
    InSet,
    Not,
    Value,
)
from lakeguard_sdk.load import Load
from lakeguard_sdk.measure import AnyMeasure
from lakeguard_sdk.words import Scope
from openlaketx.loads.operations import DELETIONS


def of_incoming(measure: AnyMeasure, load: Load) -> AnyMeasure:
    """The measure over the rows of the batch alone, without those that delete their key: all that
    such a row says is its key."""
    changed: dict[str, object] = {}
    if hasattr(measure, "scope"):
        changed["scope"] = Scope.BATCH
    if load.operation and "where" in type(measure).model_fields:
        where: Condition | None = getattr(measure, "where", None)
        told = _is_told(load.operation)
        changed["where"] = told if where is None else And(items=(told, where))
    return measure.model_copy(update=changed) if changed else measure


def _is_told(operation: str) -> Condition:
    column = ColumnRef(name=operation, type="string")
    trimmed = Call(function=Function.TRIM, arguments=(column,), type="string")
    said = Call(function=Function.LOWER, arguments=(trimmed,), type="string")
    values = tuple(Value(type="string", text=word) for word in DELETIONS)
    return Not(item=InSet(of=said, values=values))
