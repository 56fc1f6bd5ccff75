"""Row conditions as DuckDB SQL: every literal is a bound parameter of a stated type.

The forms are those that mean the same in every engine: literals of the column's own type,
floats compared as doubles, patterns anchored at both ends, length in code points.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

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
from lakeguard_sdk.schema import FLOATS, INTEGERS, decimal_size, is_nested, is_numeric
from lakeguard_sdk.type_parser import parse_type
from lakeguard_sdk.type_tree import ArrayOf, ColumnType, MapOf, StructOf

_TYPES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}
_BITS = {"byte": 7, "short": 15, "integer": 31, "long": 63}
_TIMES = ("date", "timestamp_ntz", "timestamp")
WIDEST = 38


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class ConditionSql:
    """Writes conditions and keeps the parameters that they bind."""

    def __init__(self) -> None:
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
                return f"({quoted(ref.name)} IS NULL)"
            case IsNan(of=ref):
                return f"isnan({quoted(ref.name)})"
            case Matches(of=ref, pattern=pattern):
                full = self._bound(rf"\A(?:{pattern})\z")
                return f"regexp_matches({quoted(ref.name)}, {full})"
            case Compare(op=op, left=left, right=right):
                common = common_type(_type(left), _type(right))
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
            common = common_type(common, _type(value))
        listed = ", ".join(self._as(value, common) for value in values)
        return f"({self._as(ref, common)} IN ({listed}))"

    def _as(self, operand: ColumnRef | Value | Length, common: str) -> str:
        match operand:
            case ColumnRef(name=name, type=data_type):
                sql = quoted(name)
                return sql if data_type == common else f"CAST({sql} AS {sql_type(common)})"
            case Length(of=ref):
                return f"CAST(length({quoted(ref.name)}) AS {sql_type(common)})"
            case Value(text=text, type=data_type):
                return f"CAST({self._bound(_literal(text, data_type))} AS {sql_type(common)})"

    def _bound(self, text: str) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = text
        return f"${name}"


def sql_type(data_type: str) -> str:
    """The type as DuckDB declares it, nested or not."""
    if data_type == "huge":
        return "HUGEINT"
    if is_nested(data_type):
        return _nested_sql(parse_type(data_type))
    return _TYPES.get(data_type) or data_type.upper()


def _nested_sql(found: ColumnType) -> str:
    match found:
        case StructOf(fields=fields):
            parts = ", ".join(f"{quoted(name)} {_nested_sql(part)}" for name, part in fields)
            return f"STRUCT({parts})"
        case ArrayOf(element=element):
            return f"{_nested_sql(element)}[]"
        case MapOf(key=key, value=value):
            return f"MAP({_nested_sql(key)}, {_nested_sql(value)})"
        case str():
            return "FLOAT" if found == "float" else sql_type(found)


def common_type(left: str, right: str) -> str:
    """The type in which both sides keep their exact value; ValueError where there is none."""
    if left == right and left != "float":
        return left
    if {left, right} <= {*INTEGERS, "huge"}:
        order = (*INTEGERS, "huge")
        return max(left, right, key=order.index)
    if left in _TIMES and right in _TIMES:
        return max(left, right, key=_TIMES.index)
    if _number(left) and _number(right):
        if left in FLOATS or right in FLOATS:
            return "double"
        return _common_decimal(left, right)
    raise ValueError(f"{left} and {right} cannot be compared")


def _common_decimal(left: str, right: str) -> str:
    sizes = [_size(left), _size(right)]
    scale = max(size[1] for size in sizes)
    digits = max(size[0] - size[1] for size in sizes)
    if scale + digits > WIDEST:
        raise ValueError(f"{left} and {right} cannot be compared exactly")
    return f"decimal({scale + digits},{scale})"


def _size(data_type: str) -> tuple[int, int]:
    whole = {"byte": 3, "short": 5, "integer": 10, "long": 19, "huge": WIDEST}
    return decimal_size(data_type) or (whole[data_type], 0)


def _number(data_type: str) -> bool:
    return data_type == "huge" or is_numeric(data_type)


def _type(operand: ColumnRef | Value | Length) -> str:
    """The type of an operand; a literal too large for its column's type has its own."""
    match operand:
        case ColumnRef(type=data_type):
            return data_type
        case Length():
            return "long"
        case Value(type=data_type, text=text) if data_type in INTEGERS:
            fits = -(2 ** _BITS[data_type]) <= int(text) < 2 ** _BITS[data_type]
            return data_type if fits else "huge"
        case Value(type=data_type, text=text) if decimal_size(data_type):
            return _decimal_type(text, data_type)
        case Value(type=data_type):
            return data_type


def _decimal_type(text: str, data_type: str) -> str:
    """The column's type, made wider where the literal does not fit it."""
    try:
        whole, _, fraction = format(Decimal(text).copy_abs(), "f").partition(".")
    except InvalidOperation:
        raise ValueError(f"{text!r} is not a decimal") from None
    digits, scale = len(whole.lstrip("0")), len(fraction.rstrip("0"))
    return _common_decimal(f"decimal({digits + scale or 1},{scale})", data_type)


def _literal(text: str, data_type: str) -> str:
    """The text in the spelling that DuckDB casts without loss."""
    if data_type == "date":
        return date.fromisoformat(text).isoformat()
    if data_type in ("timestamp", "timestamp_ntz"):
        return datetime.fromisoformat(text).isoformat(sep=" ")
    if data_type in FLOATS:
        return repr(float(text))
    if decimal_size(data_type):
        return format(Decimal(text), "f")
    return text
