"""Row conditions as SQL: every literal is a bound parameter of a stated type.

The forms are those that mean the same in every engine: literals of the column's own type,
floats compared as doubles, patterns anchored at both ends, length in code points. What engines
spell differently stands in their dialects.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from lakeguard_sdk.expression import (
    And,
    ColumnRef,
    Compare,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Length,
    Matches,
    Not,
    Or,
    Value,
)
from lakeguard_sdk.schema import FLOATS, decimal_size
from openlaketx.measure.comparison_types import WIDEST, common_type, operand_type
from openlaketx.measure.dialect import Dialect
from openlaketx.measure.duckdb_dialect import DUCKDB, quoted, sql_type

__all__ = ["WIDEST", "ConditionSql", "common_type", "quoted", "sql_type"]


class ConditionSql:
    """Writes conditions for one engine and keeps the parameters that they bind."""

    def __init__(self, dialect: Dialect = DUCKDB) -> None:
        self.dialect = dialect
        self.parameters: dict[str, str] = {}

    def condition(self, node: Condition) -> str:
        """SQL that is TRUE, FALSE or NULL as the tree is; ValueError where it has no exact form."""
        match node:
            case And(items=items):
                return self._joined(items, "AND", "TRUE")
            case Or(items=items):
                return self._joined(items, "OR", "FALSE")
            case Not(item=item):
                return f"(NOT {self.condition(item)})"
            case IsNull(of=ref):
                return f"({self.dialect.quoted(ref.name)} IS NULL)"
            case IsNan(of=ref):
                return self.dialect.is_nan(self.dialect.quoted(ref.name))
            case Matches(of=ref, pattern=pattern):
                full = self._bound(rf"\A(?:{pattern})\z")
                return self.dialect.matches(self.dialect.quoted(ref.name), full)
            case Compare(op=op, left=left, right=right):
                common = common_type(operand_type(left), operand_type(right))
                return f"({self._as(left, common)} {op} {self._as(right, common)})"
            case InSet(of=ref, values=values):
                return self._in_set(ref, values)

    def _joined(self, items: Sequence[Condition], word: str, empty: str) -> str:
        written = f" {word} ".join(self.condition(item) for item in items)
        return f"({written})" if items else empty

    def _in_set(self, ref: ColumnRef, values: Sequence[Value]) -> str:
        if not values:
            return "FALSE"
        common = ref.type
        for value in values:
            common = common_type(common, operand_type(value))
        listed = ", ".join(self._as(value, common) for value in values)
        return f"({self._as(ref, common)} IN ({listed}))"

    def _as(self, operand: ColumnRef | Value | Length, common: str) -> str:
        match operand:
            case ColumnRef(name=name, type=data_type):
                sql = self.dialect.quoted(name)
                return sql if data_type == common else self.dialect.cast(sql, common)
            case Length(of=ref):
                return self.dialect.cast(f"length({self.dialect.quoted(ref.name)})", common)
            case Value(text=text, type=data_type):
                return self.dialect.cast(self._bound(_literal(text, data_type)), common)

    def _bound(self, text: str) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = text
        return self.dialect.parameter(name)


def _literal(text: str, data_type: str) -> str:
    """The text in the spelling that every engine casts without loss."""
    if data_type == "date":
        return date.fromisoformat(text).isoformat()
    if data_type in ("timestamp", "timestamp_ntz"):
        return datetime.fromisoformat(text).isoformat(sep=" ")
    if data_type in FLOATS:
        return repr(float(text))
    if decimal_size(data_type):
        return format(Decimal(text), "f")
    return text
