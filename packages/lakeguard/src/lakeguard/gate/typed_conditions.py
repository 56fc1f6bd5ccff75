"""A written condition over a schema: the tree that is asked of data."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.comparability import comparable, orderable
from lakeguard.gate.grammar_error import nearest
from lakeguard.gate.literals import Literal_
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.typed_values import NoSuchValue, OutOfReach, Rounding, typed_value
from lakeguard.gate.where_tree import (
    AllOf,
    AnyOf,
    Between,
    Compared,
    Membership,
    Named,
    Negation,
    NullTest,
    WhereNode,
)
from lakeguard_sdk.expression import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    InSet,
    IsNull,
    Not,
    Or,
    Value,
)
from lakeguard_sdk.schema import TableSchema

_INWARD = {
    Comparison.GT: Rounding.DOWN,
    Comparison.LE: Rounding.DOWN,
    Comparison.GE: Rounding.UP,
    Comparison.LT: Rounding.UP,
    Comparison.EQ: Rounding.NONE,
    Comparison.NE: Rounding.NONE,
}
"""``x > 0.5`` and ``x > 0`` are the same of an integer; so a literal moves, never a value."""


def find_column(read: ReadRule, part: str, name: str, schema: TableSchema) -> ColumnRef:
    data_type = schema.type_of(name)
    if data_type is None:
        raise read.error(
            part, f"there is no column {name}", kind="column", hint=nearest(name, schema.names)
        )
    return ColumnRef(name=name, type=data_type)


class ConditionTyper:
    """Gives every operand its type, in the order in which the reader noted their places."""

    def __init__(self, read: ReadRule, schema: TableSchema) -> None:
        self._read = read
        self._schema = schema
        self._parts: Iterator[str] = (f"where {index}" for index in range(len(read.spans)))

    def condition(self, tree: WhereNode) -> Condition:
        match tree:
            case AllOf(items=items):
                return And(items=tuple(self.condition(item) for item in items))
            case AnyOf(items=items):
                return Or(items=tuple(self.condition(item) for item in items))
            case Negation(item=item):
                return Not(item=self.condition(item))
            case NullTest(column=column, negated=negated):
                return _negated(IsNull(of=self._column(column)), negated)
            case Membership(column=column, values=values, negated=negated):
                of = self._column(column)
                typed = tuple(self._value(value, of, Comparison.EQ) for value in values)
                return _negated(InSet(of=of, values=typed), negated)
            case Between():
                return self._between(tree)
            case Compared():
                return self._test(tree)

    def _test(self, test: Compared) -> Condition:
        left = self._column(test.left)
        if not isinstance(test.right, Named):
            return Compare(op=test.op, left=left, right=self._value(test.right, left, test.op))
        part = next(self._parts)
        right = find_column(self._read, part, test.right.name, self._schema)
        if not comparable(left.type, right.type):
            raise self._read.error(
                part,
                f"{left.name} ({left.type}) cannot be compared with {right.name} ({right.type})",
            )
        self._ordered(part, left, test.op)
        return Compare(op=test.op, left=left, right=right)

    def _between(self, tree: Between) -> Condition:
        of = self._column(tree.column)
        low = self._value(tree.low, of, Comparison.GE)
        high = self._value(tree.high, of, Comparison.LE)
        inside = And(
            items=(
                Compare(op=Comparison.GE, left=of, right=low),
                Compare(op=Comparison.LE, left=of, right=high),
            )
        )
        return _negated(inside, tree.negated)

    def _column(self, column: Named) -> ColumnRef:
        return find_column(self._read, next(self._parts), column.name, self._schema)

    def _value(self, literal: Literal_, of: ColumnRef, op: Comparison) -> Value:
        part = next(self._parts)
        self._ordered(part, of, op)
        try:
            return typed_value(literal, of.type, _INWARD[op])
        except OutOfReach as reason:
            message = f"{of.name}: {reason}, so the condition is the same for every row"
            raise self._read.error(part, message) from None
        except NoSuchValue as reason:
            raise self._read.error(part, f"{of.name}: {reason}") from None

    def _ordered(self, part: str, of: ColumnRef, op: Comparison) -> None:
        if not orderable(of.type, op):
            raise self._read.error(part, f"{of.name} is {of.type}, which has no order: use = or <>")


def _negated(condition: Condition, negated: bool) -> Condition:
    return Not(item=condition) if negated else condition
