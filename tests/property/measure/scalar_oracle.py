"""What every value and condition means, in plain Python: slow, obvious, and without any engine.

A row is a dict. NULL is None, a date is a number of days, a time a number of microseconds, a
struct a dict, an array a list and a map a list of pairs. Every part is worked out, needed or not,
but for the branch of an ``if`` that is not taken.
"""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

from lakeguard_sdk.expressions.arithmetic_types import arithmetic_types
from lakeguard_sdk.expressions.conditions import (
    And,
    Arithmetic,
    Calculation,
    Call,
    Choice,
    ColumnRef,
    Compare,
    Comparison,
    Condition,
    Element,
    ElementCount,
    FieldRef,
    Function,
    InSet,
    IsNan,
    IsNull,
    Length,
    Matches,
    Not,
    Or,
    Predicate,
    Scalar,
    Test,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import FLOATS, decimal_size
from tests.property.measure.literals import from_text
from tests.property.measure.written_values import (
    reads_as,
    right_card,
    right_iban,
    written_day,
)

Row = dict[str, Any]
ELEMENT = "\0element"
MICROS_PER_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1)
_WHITE = " \t\n\x0b\x0c\r\xa0"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class TooManyDigits(Exception):
    """No decimal of 38 digits holds the result: the measure has no value."""


def truth(condition: Condition, row: Row) -> bool | None:
    """TRUE, FALSE or NULL."""
    match condition:
        case And(items=items):
            found = [truth(item, row) for item in items]
            return False if False in found else None if None in found else True
        case Or(items=items):
            found = [truth(item, row) for item in items]
            return True if True in found else None if None in found else False
        case Not(item=item):
            inner = truth(item, row)
            return None if inner is None else not inner
        case IsNull(of=of):
            return scalar(of, row) is None
        case Compare(op=op, left=left, right=right):
            return _compare(op, _comparable(left, row), _comparable(right, row))
        case InSet(of=of, values=values):
            value = _comparable(of, row)
            wanted = [order(_comparable(item, row)) for item in values]
            return False if not wanted else None if value is None else order(value) in wanted
    return _of_one(condition, row)


def _of_one(condition: IsNan | Matches | Test, row: Row) -> bool | None:
    value = scalar(condition.of, row)
    if value is None:
        return None
    match condition:
        case IsNan():
            return math.isnan(value)
        case Matches(pattern=pattern):
            return re.fullmatch(pattern, value, re.ASCII) is not None
        case Test(predicate=predicate, argument=argument):
            return _test(predicate, value, argument)


def _test(predicate: Predicate, value: Any, argument: str) -> bool:
    match predicate:
        case Predicate.IS_FINITE:
            return math.isfinite(value)
        case Predicate.STARTS_WITH:
            return bool(value.startswith(argument))
        case Predicate.ENDS_WITH:
            return bool(value.endswith(argument))
        case Predicate.CONTAINS:
            return argument in value
        case Predicate.LIKE:
            return like(value, argument)
        case Predicate.CASTABLE:
            return reads_as(value, argument)
        case Predicate.DATE_FORMAT:
            return written_day(value, argument)
        case Predicate.LUHN:
            return right_card(value)
        case Predicate.IBAN:
            return right_iban(value)


def like(text: str, pattern: str) -> bool:
    made, plain = "", False
    for char in pattern:
        if plain or char not in "%_!":
            made, plain = made + re.escape(char), False
        elif char == "!":
            plain = True
        else:
            made += ".*" if char == "%" else "."
    return re.fullmatch(made, text, re.DOTALL) is not None


def _compare(op: Comparison, one: Any, other: Any) -> bool | None:
    if one is None or other is None:
        return None
    one, other = order(one), order(other)
    return {
        Comparison.EQ: one == other,
        Comparison.NE: one != other,
        Comparison.LT: one < other,
        Comparison.LE: one <= other,
        Comparison.GT: one > other,
        Comparison.GE: one >= other,
    }[op]


def order(value: Any) -> Any:
    """A key in which the engines' order is Python's: NaN is one value above all, text is bytes."""
    if isinstance(value, float):
        return (1, 0) if math.isnan(value) else (0, value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return (0, value)
    return value.encode() if isinstance(value, str) else value


def _comparable(node: Scalar, row: Row) -> Any:
    value = scalar(node, row)
    return value * MICROS_PER_DAY if type_of(node) == "date" and value is not None else value


def scalar(node: Scalar, row: Row) -> Any:
    match node:
        case ColumnRef(name=name):
            return row[name]
        case FieldRef(name=name, path=path):
            value = row[name]
            for part in path:
                value = None if value is None else value[part]
            return value
        case Element():
            return row[ELEMENT]
        case Value():
            return from_text(node)
        case Length(of=of):
            text = scalar(of, row)
            return None if text is None else len(text)
        case Calculation():
            return _calculation(node, row)
        case Call(function=Function.COALESCE, arguments=arguments):
            found = [_in(scalar(item, row), node.type) for item in arguments]
            return next((value for value in found if value is not None), None)
        case Call():
            values = [scalar(item, row) for item in node.arguments]
            return None if None in values[:1] else _call(node, values)
        case Choice(condition=condition, then=then, otherwise=otherwise):
            chosen = then if truth(condition, row) is True else otherwise
            return _in(scalar(chosen, row), node.type)
        case ElementCount(of=of, condition=condition):
            items = scalar(of, row)
            if items is None:
                return None
            return sum(truth(condition, {ELEMENT: item}) is True for item in items)


def _in(value: Any, data_type: str) -> Any:
    """A number in a type that may be wider; too many digits raise."""
    if value is None:
        return None
    if data_type in FLOATS:
        return float(value)
    size = decimal_size(data_type)
    if size and abs(Fraction(value)) >= 10 ** (size[0] - size[1]):
        raise TooManyDigits(f"{value} as {data_type}")
    return value


def _calculation(node: Calculation, row: Row) -> Any:
    types = arithmetic_types(node.op, type_of(node.left), type_of(node.right))
    left = _in(scalar(node.left, row), types.left)
    right = _in(scalar(node.right, row), types.right)
    if left is None or right is None:
        return None
    if node.op in (Arithmetic.DIVIDE, Arithmetic.REMAINDER) and right == 0:
        return None
    if types.result == "double":
        return _double(node.op, left, right)
    with localcontext(prec=90):
        one, other = Decimal(left), Decimal(right)
        exact = {
            Arithmetic.ADD: lambda: one + other,
            Arithmetic.SUBTRACT: lambda: one - other,
            Arithmetic.MULTIPLY: lambda: one * other,
            Arithmetic.REMAINDER: lambda: one % other,
        }[node.op]()
    return _in(exact, types.result)


def _double(op: Arithmetic, one: float, other: float) -> float:
    match op:
        case Arithmetic.ADD:
            return one + other
        case Arithmetic.SUBTRACT:
            return one - other
        case Arithmetic.MULTIPLY:
            return one * other
        case Arithmetic.DIVIDE:
            return one / other
        case Arithmetic.REMAINDER:
            return math.nan if math.isinf(one) else math.fmod(one, other)


def _call(node: Call, values: list[Any]) -> Any:
    first, rest = values[0], values[1:]
    match node.function:
        case Function.ABS:
            value = _in(first, node.type)
            return value.copy_abs() if isinstance(value, Decimal) else abs(value)
        case Function.ROUND:
            with localcontext(prec=90):
                return Decimal(first).quantize(Decimal(1).scaleb(-rest[0]), ROUND_HALF_UP)
        case Function.DOUBLE:
            return float(first)
        case Function.NULLIF:
            same = rest[0] is not None and order(first) == order(rest[0])
            return None if same else _in(first, node.type)
        case Function.SIZE:
            return len(first)
        case Function.KEYS:
            return [key for key, _ in first]
        case Function.DAYS_BETWEEN:
            days = [_day(value, arg) for value, arg in zip(values, node.arguments, strict=True)]
            return None if None in days else days[1] - days[0]
    if type_of(node.arguments[0]) == "string":
        return _text(node.function, values)
    return _moment(node.function, first, type_of(node.arguments[0]))


def _text(function: Function, values: list[Any]) -> str | None:
    text = values[0]
    match function:
        case Function.TRIM:
            return str(text.strip(_WHITE))
        case Function.LOWER:
            return str(text.translate(str.maketrans(_LETTERS, _LETTERS.lower())))
        case Function.NFKC:
            return text_as_read(values[0])
        case Function.UPPER:
            return str(text.translate(str.maketrans(_LETTERS.lower(), _LETTERS)))
        case Function.SUBSTR:
            start = values[1] - 1
            return str(text[start:] if len(values) == 2 else text[start : start + values[2]])
        case Function.CONCAT:
            return None if None in values else "".join(values)
    raise AssertionError(function)


def _day(value: Any, node: Scalar) -> int | None:
    if value is None:
        return None
    return int(value if type_of(node) == "date" else value // MICROS_PER_DAY)


def text_as_read(text: str) -> str:
    """NFKC by character, without control, format, ignorable and blank characters."""
    return "".join(unicodedata.normalize("NFKC", c) for c in text if not _is_invisible(c))


def _is_invisible(character: str) -> bool:
    ignorable = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2065\u3164\uffa0"
    blank = "\u2800\U00013441\U00013442\U0001d159"
    ranges = ("\ufe00", "\ufe0f"), ("\ufff0", "\ufff8"), ("\U000e0000", "\U000e0fff")
    if unicodedata.category(character) in ("Cc", "Cf"):
        return character not in "\t\n\r"
    within = any(first <= character <= last for first, last in ranges)
    return within or character in ignorable or character in blank


def _moment(function: Function, value: int, data_type: str) -> int:
    day = value if data_type == "date" else value // MICROS_PER_DAY
    if function is Function.HOUR:
        return value % MICROS_PER_DAY // 3_600_000_000
    found = _EPOCH + timedelta(days=day)
    return found.weekday() if function is Function.WEEKDAY else int(getattr(found, function))
