"""Scalar values as SQL: columns, literals, arithmetic and functions, each with a declared type."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import date, datetime
from decimal import Decimal

from lakeguard_sdk.expressions.arithmetic_types import arithmetic_types
from lakeguard_sdk.expressions.conditions import (
    Arithmetic,
    Calculation,
    Call,
    Choice,
    ColumnRef,
    Condition,
    Element,
    ElementCount,
    FieldRef,
    Function,
    Length,
    Scalar,
    Value,
)
from lakeguard_sdk.types.schema import FLOATS, decimal_size, is_numeric
from openlaketx.measure.sql.comparison_types import operand_type
from openlaketx.measure.sql.dialect import Dialect

ELEMENT = "e"
_IN_THE_RESULTS_TYPE = (Function.ABS, Function.COALESCE, Function.NULLIF, Function.DOUBLE)


class ScalarSql(ABC):
    """Renders scalars for one engine and collects their bound parameters."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.parameters: dict[str, str] = {}

    @abstractmethod
    def condition(self, node: Condition) -> str:
        """SQL that is TRUE, FALSE or NULL like the tree; ValueError if it has no exact form."""

    def scalar(self, node: Scalar) -> str:
        """SQL of the scalar in its own type; integers may be wider."""
        match node:
            case ColumnRef(name=name):
                return self.dialect.quoted(name)
            case FieldRef(name=name, path=path):
                return self.dialect.field(name, path)
            case Element():
                return ELEMENT
            case Value(text=text, type=data_type):
                return self.dialect.cast(self._bound(_literal(text, data_type)), data_type)
            case Length(of=of):
                return f"length({self.scalar(of)})"
            case Calculation():
                return self._calculation(node)
            case Call():
                return self._call(node)
            case Choice(condition=condition, then=then, otherwise=otherwise, type=kind):
                chosen = f"CASE WHEN {self.condition(condition)} THEN {self._as(then, kind)}"
                return f"({chosen} ELSE {self._as(otherwise, kind)} END)"
            case ElementCount(of=of, condition=condition):
                chosen = self.dialect.elements(self.scalar(of), ELEMENT, self.condition(condition))
                return self.dialect.size(chosen, operand_type(of))

    def _as(self, operand: Scalar, data_type: str) -> str:
        """The operand's exact value in another type."""
        if isinstance(operand, Value):
            return self.dialect.cast(self._bound(_literal(operand.text, operand.type)), data_type)
        own = operand_type(operand)
        sql = self.scalar(operand)
        if isinstance(operand, Length | ElementCount):
            return self.dialect.cast(sql, data_type)
        if data_type == "double" and is_numeric(own):
            return sql if own == "double" else self.dialect.to_double(sql, own)
        return sql if own == data_type else self.dialect.cast(sql, data_type)

    def _calculation(self, node: Calculation) -> str:
        found = arithmetic_types(node.op, operand_type(node.left), operand_type(node.right))
        left, right = self._operand(node.left, found.left), self._operand(node.right, found.right)
        if node.op in (Arithmetic.DIVIDE, Arithmetic.REMAINDER):
            # a zero of another type would make Spark compare in a third type, and round
            zero = "0e0" if found.right == "double" else self.dialect.cast("0", found.right)
            right = f"nullif({right}, {zero})"
        sql = f"({left} {node.op} {right})"
        return sql if found.result == "double" else self.dialect.cast(sql, found.result)

    def _operand(self, operand: Scalar, data_type: str) -> str:
        sql = self._as(operand, data_type)
        return sql if data_type == "double" else self.dialect.widened(sql, data_type)

    def _call(self, node: Call) -> str:
        function, arguments = node.function, node.arguments
        if function in _IN_THE_RESULTS_TYPE:
            written = [self._as(argument, node.type) for argument in arguments]
            if function is Function.DOUBLE:
                return written[0]
            return self.dialect.call(function, written)
        if function in (Function.ROUND, Function.SUBSTR):
            # positions are validated literals; engines derive the result type from them
            places = [str(int(place.text)) for place in arguments[1:] if isinstance(place, Value)]
            return self._typed(node, [self.scalar(arguments[0]), *places])
        if function is Function.SIZE:
            size = self.dialect.size(self.scalar(arguments[0]), operand_type(arguments[0]))
            return self.dialect.cast(size, node.type)
        if function is Function.KEYS:
            return self.dialect.call(function, [self.scalar(arguments[0])])
        if function is Function.DAYS_BETWEEN:
            return self._typed(node, [self._day(argument) for argument in arguments])
        return self._typed(node, [self.scalar(argument) for argument in arguments])

    def _day(self, operand: Scalar) -> str:
        if isinstance(operand, Value):
            return self._as(operand, "date")
        return self.dialect.day(self.scalar(operand), operand_type(operand))

    def _typed(self, node: Call, written: list[str]) -> str:
        sql = self.dialect.call(node.function, written)
        return sql if node.type == "string" else self.dialect.cast(sql, node.type)

    def _bound(self, text: str) -> str:
        return self.dialect.bound(text, self.parameters)


def _literal(text: str, data_type: str) -> str:
    """The text in a spelling that every engine casts without loss."""
    if data_type == "date":
        return date.fromisoformat(text).isoformat()
    if data_type in ("timestamp", "timestamp_ntz"):
        return datetime.fromisoformat(text).isoformat(sep=" ")
    if data_type in FLOATS:
        return repr(float(text))
    if decimal_size(data_type):
        return format(Decimal(text), "f")
    return text
