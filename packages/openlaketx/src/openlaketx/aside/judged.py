"""What a batch is asked before rows are set aside."""

from __future__ import annotations

from lakeguard_sdk.expression import (
    And,
    Call,
    ColumnRef,
    Condition,
    Function,
    InSet,
    Matches,
    Not,
    Value,
)
from lakeguard_sdk.load import Load
from lakeguard_sdk.measure import AnyMeasure, CountIf, SampleMatches
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import TableSchema
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


def patterns_of(plan: RunPlan, schema: TableSchema) -> list[AnyMeasure]:
    """What the run counts by patterns of columns that the batch has: a value that is forbidden is
    not to be kept either."""
    found: list[AnyMeasure] = []
    for measure in plan.measures:
        match measure:
            case SampleMatches(column=ColumnRef(name=name)):
                asked = name
            case CountIf(condition=Matches(of=ColumnRef(name=name))):
                asked = name
            case _:
                continue
        if asked in schema.names:
            found.append(measure)
    return found


def _is_told(operation: str) -> Condition:
    column = ColumnRef(name=operation, type="string")
    trimmed = Call(function=Function.TRIM, arguments=(column,), type="string")
    said = Call(function=Function.LOWER, arguments=(trimmed,), type="string")
    values = tuple(Value(type="string", text=word) for word in DELETIONS)
    return Not(item=InSet(of=said, values=values))
