"""A value of all rows over a schema: the measures it asks for and how they are put together."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

from lakeguard.gate.literals import Number
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.typed_conditions import ConditionTyper
from lakeguard.gate.written import Aggregated, Calculated, WrittenNode
from lakeguard_sdk.expression import Arithmetic, ColumnRef, Condition, IsNull, Not, Scalar, type_of
from lakeguard_sdk.measure import (
    Aggregate,
    AggregateFunction,
    CountIf,
    DistinctCount,
    Measure,
    RowCount,
)
from lakeguard_sdk.schema import FLOATS, TableSchema, is_nested, is_numeric
from lakeguard_sdk.total_value import Figure, Reckoned, Total, TotalValue
from lakeguard_sdk.words import Scope

_FUNCTIONS = {
    "sum": AggregateFunction.SUM,
    "min": AggregateFunction.MIN,
    "max": AggregateFunction.MAX,
    "avg": AggregateFunction.MEAN,
}


_DIVIDING = (Arithmetic.DIVIDE, Arithmetic.REMAINDER)


class AggregateTyper(ConditionTyper):
    """``measures`` are the terms of ``formula``; ``inexact`` says that a double is among them."""

    prefix: ClassVar[str] = "aggregate"
    """Of the places that it goes through."""

    def __init__(self, read: ReadRule, schema: TableSchema, where: Condition | None) -> None:
        super().__init__(read, schema, self.prefix)
        self._where = where
        self.measures: list[Measure] = []
        self.inexact = False
        self.formula: TotalValue = Total(term=0)

    def read(self, node: WrittenNode) -> None:
        self.formula = self._formula(node)

    def _formula(self, node: WrittenNode) -> TotalValue:
        match node:
            case Number(value=value):
                self._next()
                return Figure(text=format(value, "f"))
            case Calculated(op=op, left=left, right=right):
                one = self._formula(left)
                part = self._next()
                other = self._formula(right)
                if self._read.fresh and op in _DIVIDING and _is_zero(other):
                    raise self._read.error(part, "nothing is divided by 0: there is no value")
                return Reckoned(op=op, left=one, right=other)
            case Aggregated():
                return self._term(self._measure(node))
        raise self._read.error(self._here, "a number or an aggregate expected")

    def _term(self, measure: Measure) -> Total:
        if measure not in self.measures:
            self.measures.append(measure)
        return Total(term=self.measures.index(measure))

    def _measure(self, node: Aggregated) -> Measure:
        self._next()
        if node.of is None:
            return RowCount(where=self._where)
        part = self._here
        of = self.scalar(node.of)
        if node.distinct:
            return self._distinct(of, part)
        if node.function == "count":
            return CountIf(condition=Not(item=IsNull(of=of)), where=self._where)
        if not is_numeric(type_of(of)):
            message = f"{node.function} is for numbers here, and this is {type_of(of)}"
            raise self._read.error(part, message)
        self.inexact |= type_of(of) in FLOATS or node.function == "avg"
        return Aggregate(function=_FUNCTIONS[node.function], column=of, where=self._where)

    def _distinct(self, of: Scalar, part: str) -> Measure:
        if not isinstance(of, ColumnRef) or is_nested(of.type):
            raise self._read.error(part, "count(distinct …) is for a column that is not nested")
        return DistinctCount(columns=(of,), scope=Scope.BATCH, where=self._where)


def _is_zero(value: TotalValue) -> bool:
    return isinstance(value, Figure) and Decimal(value.text) == 0
