"""Resolves a rule's columns and parameters against a schema; errors point at the text."""

from __future__ import annotations

from functools import cached_property

from lakeguard.gate.grammar.literals import (
    Flag,
    Literal_,
    Number,
    Text,
)
from lakeguard.gate.grammar.rule import AggregateArgument, ConditionArgument, Listed, ParsedRule
from lakeguard.gate.grammar.syntax_tree import WhereNode
from lakeguard.gate.typecheck.checks import Bounds, Scalar
from lakeguard.gate.typecheck.scalars import as_scalar
from lakeguard.gate.typecheck.typed_aggregates import AggregateTyper, TotalTyper
from lakeguard.gate.typecheck.typed_conditions import ConditionTyper, ElementTyper
from lakeguard.gate.typecheck.typed_scalars import find_column
from lakeguard.gate.typecheck.typed_values import (
    NoSuchValue,
    OutOfRange,
    Rounding,
    type_limits,
    typed_value,
)
from lakeguard_sdk.expressions.aggregates import TotalCondition
from lakeguard_sdk.expressions.conditions import ColumnRef, Condition, Value
from lakeguard_sdk.expressions.measures import GroupTerm
from lakeguard_sdk.types.schema import FLOATS, TableSchema, is_nested

ON_NESTED = (
    "array_elements",
    "array_size",
    "column_exists",
    "column_order",
    "column_type",
    "completeness",
    "map_keys",
    "not_null",
    "null",
    "null_drift",
)
"""Rule types that accept nested columns."""


class Resolver:
    """Typed access to the arguments of a rule."""

    def __init__(self, read: ParsedRule, schema: TableSchema) -> None:
        self._read = read
        self._schema = schema

    @cached_property
    def where(self) -> Condition | None:
        tree = self._read.rule.where
        return None if tree is None else ConditionTyper(self._read, self._schema).condition(tree)

    def condition(self) -> Condition:
        """The rule's own condition."""
        tree = self._tree
        return ConditionTyper(self._read, self._schema, "condition").condition(tree)

    def element_condition(self, element: str) -> Condition:
        """The condition over array elements, where ``value`` is the element and columns are not
        visible."""
        return ElementTyper(self._read, element, "condition").condition(self._tree)

    def group_condition(self) -> tuple[TotalCondition, tuple[GroupTerm, ...]]:
        """The condition over the aggregates of each group, and those aggregates."""
        typer = TotalTyper(self._read, self._schema, self.where)
        condition = typer.total_condition(self._tree)
        return condition, typer.terms()

    def total(self) -> AggregateTyper:
        """The aggregate that the rule is about, with its measures."""
        totalled = self._read.rule.parameter("aggregate")
        if not isinstance(totalled, AggregateArgument):
            raise self._read.error("type", f"{self._read.rule.rule_type} needs an aggregate")
        typer = AggregateTyper(self._read, self._schema, self.where)
        typer.read(totalled.tree)
        return typer

    @property
    def _tree(self) -> WhereNode:
        argument = self._read.rule.parameter("condition")
        if not isinstance(argument, ConditionArgument):
            raise self._read.error("type", f"{self._read.rule.rule_type} needs a condition")
        return argument.tree

    @property
    def every(self) -> tuple[ColumnRef, ...]:
        return tuple(self.column(index) for index in range(len(self._read.rule.columns)))

    @cached_property
    def by(self) -> tuple[ColumnRef, ...]:
        """The columns of ``by``."""
        found = []
        for index, name in enumerate(self._read.rule.by):
            column = find_column(self._read, f"by {index}", name, self._schema)
            if is_nested(column.type):
                message = f"{column.name} is {column.type}: nested columns cannot be grouped"
                raise self._read.error(f"by {index}", message)
            found.append(column)
        return tuple(found)

    @property
    def whole_row(self) -> tuple[ColumnRef, ...]:
        """All columns of the table, typed."""
        return tuple(ColumnRef(name=c.name, type=c.type) for c in self._schema.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """All column names, in order."""
        return self._schema.names

    def column(self, index: int = 0) -> ColumnRef:
        name = self._read.rule.columns[index]
        return find_column(self._read, f"column {index}", name, self._schema)

    def column_of(self, kinds: str, accepted: bool, instead: str = "") -> None:
        """Refuses the rule's first column unless its type is ``accepted``."""
        if accepted:
            return
        column = self.column()
        message = f"{self._read.rule.rule_type} needs {kinds}; {column.name} is {column.type}"
        raise self._read.error("column 0", message + instead)

    def refuse_nested(self) -> None:
        """Engines do not order, compare or count nested values consistently."""
        supported = f"{', '.join(ON_NESTED[:-1])} and {ON_NESTED[-1]}"
        for index, column in enumerate(self.every):
            if is_nested(column.type):
                raise self._read.error(
                    f"column {index}",
                    (
                        f"{column.name} is {column.type}: nested columns support only {supported}; "
                        "extract the part to check into a column of its own"
                    ),
                )

    def literal(self, name: str) -> Literal_ | None:
        value = self._read.rule.parameter(name)
        return value if isinstance(value, Number | Text) else None

    def bound(self, name: str, data_type: str) -> Value | None:
        """``min`` or ``max`` as a value of the type, rounded inward if the type is coarser."""
        literal = self.literal(name)
        if literal is None:
            return None
        inward = Rounding.UP if name == "min" else Rounding.DOWN
        try:
            return typed_value(literal, data_type, inward)
        except OutOfRange as reason:
            if reason.above == (name == "min") or data_type in FLOATS:
                raise self._read.error(f"parameter {name}", str(reason)) from None
            limit = type_limits(data_type)[1 if reason.above else 0]
            return typed_value(Number(value=limit), data_type)
        except NoSuchValue as reason:
            raise self._read.error(f"parameter {name}", str(reason)) from None

    def bounds(self, data_type: str) -> tuple[Value | None, Value | None, Bounds]:
        """``min`` and ``max``, typed and as exact scalars; refused if nothing lies between them."""
        low, high = self.bound("min", data_type), self.bound("max", data_type)
        bounds = Bounds(data_type, _scalar(low), _scalar(high))
        if bounds.crossed:
            raise self._read.error("parameter max", f"no {data_type} lies between min and max")
        return low, high, bounds

    def value(self, name: str, column: ColumnRef, rounding: Rounding) -> Value:
        """A parameter in the type of a column, rounded if the type is coarser."""
        literal = self._read.rule.parameter(name)
        if not isinstance(literal, Number | Text | Flag):
            raise self._read.error("type", f"{self._read.rule.rule_type} needs {name}")
        try:
            return typed_value(literal, column.type, rounding)
        except OutOfRange as reason:
            message = f"{column.name}: {reason}, so the result is the same for every row"
            raise self._read.error(f"parameter {name}", message) from None
        except NoSuchValue as reason:
            raise self._read.error(f"parameter {name}", f"{column.name}: {reason}") from None

    def text(self, name: str) -> str:
        """A text parameter; empty if not given."""
        literal = self.literal(name)
        return literal.value if isinstance(literal, Text) else ""

    def values(self, name: str, column: ColumnRef) -> tuple[Value, ...]:
        """A list parameter in the type of a column; duplicates are refused."""
        listed = self._read.rule.parameter(name)
        found: list[Value] = []
        for index, item in enumerate(listed.items if isinstance(listed, Listed) else ()):
            try:
                value = typed_value(item, column.type)
            except NoSuchValue as reason:
                raise self._read.error(f"{name} {index}", f"{column.name}: {reason}") from None
            if value in found:
                raise self._read.error(f"{name} {index}", "duplicate value")
            found.append(value)
        return tuple(found)


def _scalar(value: Value | None) -> Scalar | None:
    return None if value is None else as_scalar(value.text, value.type)
