"""Types a condition against a schema."""

from __future__ import annotations

from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.grammar.syntax_tree import (
    AllOf,
    AnyOf,
    Between,
    Called,
    Compared,
    LikeTest,
    Membership,
    Named,
    Negation,
    NullTest,
    WhereNode,
    WrittenNode,
)
from lakeguard.gate.grammar.unparse import written_text
from lakeguard.gate.typecheck.comparability import comparable, orderable
from lakeguard.gate.typecheck.constant_conditions import settled
from lakeguard.gate.typecheck.typed_calls import BadArgument, checked
from lakeguard.gate.typecheck.typed_scalars import Pending, ScalarTyper
from lakeguard.gate.typecheck.typed_values import (
    NoSuchValue,
    OutOfRange,
    Rounding,
    typed_value,
)
from lakeguard_sdk.expressions.conditions import (
    And,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Element,
    InSet,
    IsNull,
    Not,
    Or,
    Predicate,
    Scalar,
    Test,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import Column, TableSchema

ELEMENT = "value"
"""The name of the element in a condition over elements."""

INWARD = {
    Comparison.GT: Rounding.DOWN,
    Comparison.LE: Rounding.DOWN,
    Comparison.GE: Rounding.UP,
    Comparison.LT: Rounding.UP,
    Comparison.EQ: Rounding.NONE,
    Comparison.NE: Rounding.NONE,
}
"""For an integer ``x > 0.5`` equals ``x > 0``: the literal is rounded, never the value."""


class ConditionTyper(ScalarTyper):
    """Types every operand, in the order in which the parser recorded their spans."""

    def condition(self, tree: WhereNode) -> Condition:
        match tree:
            case AllOf(items=items):
                part = self._here
                return self._checked(part, And(items=tuple(self.condition(item) for item in items)))
            case AnyOf(items=items):
                part = self._here
                return self._checked(part, Or(items=tuple(self.condition(item) for item in items)))
            case Negation(item=item):
                return Not(item=self.condition(item))
            case NullTest(of=of, negated=negated):
                part = self._here
                typed = _negated(IsNull(of=self.scalar(of)), negated)
                return self._checked(part, typed, "every row")
            case Membership():
                return self._membership(tree)
            case Between():
                return self._between(tree)
            case LikeTest():
                return self._likened(tree)
            case Compared(op=op, left=left, right=right):
                part = self._here
                typed = self._compared(self.scalar(left), written_name(left), op, right)
                return self._checked(part, typed)
            case Called():
                part, made = self._here, self.call(tree)
                if isinstance(made, Scalar):
                    raise self._read.error(self._here, f"{tree.function} is not a condition")
                return self._checked(part, made)

    def _membership(self, tree: Membership) -> Condition:
        part = self._here
        of, name = self.scalar(tree.of), written_name(tree.of)
        typed = []
        for literal in tree.values:
            found = Pending(literal, self._next())
            value = self._value(found, of, name, Comparison.EQ)
            if self._read.fresh and settled(InSet(of=of, values=(value,))) is False:
                raise self._read.error(found.part, f"{name} is never {value.text}")
            typed.append(value)
        return _negated(self._checked(part, InSet(of=of, values=tuple(typed))), tree.negated)

    def _between(self, tree: Between) -> Condition:
        part = self._here
        of, name = self.scalar(tree.of), written_name(tree.of)
        low = self._compared(of, name, Comparison.GE, tree.low)
        high = self._compared(of, name, Comparison.LE, tree.high)
        return _negated(self._checked(part, And(items=(low, high))), tree.negated)

    def _checked(
        self, part: str, made: Condition, rows: str = "every row with a value"
    ) -> Condition:
        """Refuses constant conditions while the rule is being authored."""
        found = settled(made) if self._read.fresh else None
        if found is not None:
            message = f"this is {'TRUE' if found else 'FALSE'} for {rows}"
            raise self._read.error(part, f"{message}: the condition has no effect")
        return made

    def _likened(self, tree: LikeTest) -> Condition:
        part = self._here
        of = self.scalar(tree.of)
        if type_of(of) != "string":
            raise self._read.error(part, f"like needs a string, and this is {type_of(of)}")
        part = self._next()
        try:
            pattern = checked(Predicate.LIKE, tree.pattern)
        except BadArgument as reason:
            raise self._read.error(part, reason.message) from None
        return _negated(Test(predicate=Predicate.LIKE, of=of, argument=pattern), tree.negated)

    def _compared(self, of: Scalar, name: str, op: Comparison, other: WrittenNode) -> Condition:
        part = self._here
        found = self._first(other)
        if isinstance(found, Pending):
            return Compare(op=op, left=of, right=self._value(found, of, name, op))
        left, right = type_of(of), type_of(found)
        if not comparable(left, right):
            message = f"{name} ({left}) cannot be compared with {written_name(other)} ({right})"
            raise self._read.error(part, message)
        self._ordered(part, of, name, op)
        return Compare(op=op, left=of, right=found)

    def _value(self, found: Pending, of: Scalar, name: str, op: Comparison) -> Value:
        self._ordered(found.part, of, name, op)
        try:
            return typed_value(found.literal, type_of(of), INWARD[op])
        except OutOfRange as reason:
            message = f"{name}: {reason}, so the condition is the same for every row"
            raise self._read.error(found.part, message) from None
        except NoSuchValue as reason:
            raise self._read.error(found.part, f"{name}: {reason}") from None

    def _ordered(self, part: str, of: Scalar, name: str, op: Comparison) -> None:
        if not orderable(type_of(of), op):
            message = f"{name} is {type_of(of)}, which cannot be ordered: use = or <>"
            raise self._read.error(part, message)


class ElementTyper(ConditionTyper):
    """A condition over the elements of an array; the element is called ``value``."""

    def __init__(self, read: ParsedRule, element: str, prefix: str) -> None:
        column = Column(name=ELEMENT, type=element)
        super().__init__(read, TableSchema(columns=(column,)), prefix)

    def _named(self, node: Named) -> Scalar:
        found = super()._named(node)
        if isinstance(found, ColumnRef):
            return Element(type=found.type)
        raise self._read.error("condition 0", "only whole elements can be tested")


def written_name(node: WrittenNode) -> str:
    """A value in a message: a column by name, anything else as written."""
    return node.name if isinstance(node, Named) and not node.path else written_text(node)


def _negated(condition: Condition, negated: bool) -> Condition:
    return Not(item=condition) if negated else condition
