"""The possible values of a scalar, whatever the data."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from lakeguard.gate.grammar.literals import EXACT
from lakeguard.gate.typecheck.intervals import (
    ANYWHERE,
    NEVER_NEGATIVE,
    ZERO,
    Interval,
    absolute,
    arithmetic_interval,
    either,
    is_never_negative,
    narrower,
    only,
    remainder,
    widened,
)
from lakeguard.gate.typecheck.linear_forms import LinearForm, combined
from lakeguard.gate.typecheck.simple_scalars import plain
from lakeguard.gate.typecheck.typed_values import type_limits
from lakeguard_sdk.expressions.arithmetic_types import exact_size
from lakeguard_sdk.expressions.conditions import (
    Arithmetic,
    Calculation,
    Call,
    Choice,
    ElementCount,
    Function,
    Length,
    Scalar,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import FLOATS, is_numeric

_ONE = Decimal(1)
_LENGTHS = Interval(Decimal(0), Decimal(2**31 - 1))
"""No engine holds a longer text or array."""
_ROUNDED = Decimal("0.000001")
"""More than the share by which a double differs from the exact result that it stands for."""
_LARGEST = Decimal("1e300")
"""Doubles of this size may become infinite."""
_YEARS = Interval(Decimal(-6_000_000), Decimal(6_000_000))
"""A date is a 32-bit number of days: builds and Parquet files have years beyond 1 to 9999."""
_FIXED = {
    Function.YEAR: _YEARS,
    Function.MONTH: Interval(_ONE, Decimal(12)),
    Function.DAY: Interval(_ONE, Decimal(31)),
    Function.HOUR: Interval(Decimal(0), Decimal(23)),
    Function.WEEKDAY: Interval(Decimal(0), Decimal(6)),
    Function.SIZE: _LENGTHS,
}


def interval_of(node: Scalar) -> Interval:
    """Never too narrow; wider if the exact interval is unknown."""
    match node:
        case Value(type=kind, text=text) if is_numeric(kind):
            return only(Decimal(text))
        case Length(of=of):
            return _length(of)
        case ElementCount():
            return _LENGTHS
        case Choice(then=then, otherwise=otherwise):
            return either(interval_of(then), interval_of(otherwise))
        case Calculation():
            return _calculated(node)
        case Call():
            return _called(node)
    kind = type_of(node)
    exact = is_numeric(kind) and kind not in FLOATS
    return Interval(*type_limits(kind)) if exact else ANYWHERE


def step_of(node: Scalar) -> Decimal | None:
    """The number that every value is a multiple of; None unless it is an exact number."""
    size = exact_size(type_of(node))
    return None if size is None else _ONE.scaleb(-size[1])


def _length(of: Scalar) -> Interval:
    """The possible lengths of a text."""
    match of:
        case Value(text=text):
            return only(Decimal(len(text)))
        case Choice(then=then, otherwise=otherwise):
            return either(_length(then), _length(otherwise))
        case Call(function=Function.CONCAT, arguments=arguments):
            total = ZERO
            for argument in arguments:
                total = arithmetic_interval(Arithmetic.ADD, total, _length(argument))
            return narrower(total, _LENGTHS)
        case Call(function=Function.COALESCE, arguments=(first, *others)):
            found = _length(first)
            for other in others:
                found = either(found, _length(other))
            return found
        case Call(function=Function.LOWER | Function.UPPER | Function.NULLIF, arguments=(text, *_)):
            return _length(text)
        case Call(function=Function.TRIM, arguments=(text,)):
            return Interval(Decimal(0), _length(text).high)
        case Call(function=Function.SUBSTR, arguments=(text, Value(text=start), *most)):
            return _length_of_part(_length(text), Decimal(start), most)
    return _LENGTHS


def _length_of_part(whole: Interval, start: Decimal, most: list[Scalar]) -> Interval:
    """The possible lengths of ``substr(text, start, most)``."""
    left = arithmetic_interval(Arithmetic.SUBTRACT, whole, only(start - 1))
    ends = [max(end, Decimal(0)) for end in left if end is not None]
    limits = [Decimal(item.text) for item in most if isinstance(item, Value)]
    return Interval(*(min([end, *limits]) for end in ends))


def _called(node: Call) -> Interval:
    if node.function in _FIXED:
        return _FIXED[node.function]
    inner = interval_of(node.arguments[0])
    match node.function:
        case Function.DAYS_BETWEEN if node.arguments[0] == node.arguments[1]:
            return ZERO
        case Function.ABS:
            return absolute(inner)
        case Function.NULLIF:
            return inner
        case Function.COALESCE:
            for other in node.arguments[1:]:
                inner = either(inner, interval_of(other))
            return inner
        case Function.ROUND:
            return _rounded(inner, type_of(node))
        case Function.DOUBLE:
            return widened(inner, _ROUNDED)
    return ANYWHERE


def _rounded(inner: Interval, kind: str) -> Interval:
    """Rounding keeps the order."""
    _, scale = exact_size(kind) or (0, 0)
    step = _ONE.scaleb(-scale)
    ends = (None if end is None else end.quantize(step, ROUND_HALF_UP, EXACT) for end in inner)
    return Interval(*ends)


def _calculated(node: Calculation) -> Interval:
    one, other = interval_of(node.left), interval_of(node.right)
    if node.left == node.right and _is_exact(node.left):
        match node.op:
            case Arithmetic.SUBTRACT | Arithmetic.REMAINDER:
                return ZERO
            case Arithmetic.DIVIDE:
                return only(_ONE)
    if node.type in FLOATS:
        return _calculated_double(node.op, one, other)
    if node.op is Arithmetic.REMAINDER:
        return remainder(one, other, step_of(node) or Decimal(0))
    return arithmetic_interval(node.op, one, other)


def _is_exact(node: Scalar) -> bool:
    return exact_size(type_of(node)) is not None


def _calculated_double(op: Arithmetic, one: Interval, other: Interval) -> Interval:
    """Both sides and the result are rounded, which keeps the order; without bounds on both sides
    the result may be infinite or NaN, which is above every number."""
    if op is not Arithmetic.REMAINDER and None not in (*one, *other):
        sides = (widened(side, _ROUNDED) for side in (one, other))
        found = widened(arithmetic_interval(op, *sides), _ROUNDED)
        if all(end is not None and end.copy_abs() < _LARGEST for end in found):
            return found
    positive = is_never_negative(one) and is_never_negative(other)
    keeps_sign = op in (Arithmetic.ADD, Arithmetic.MULTIPLY, Arithmetic.DIVIDE)
    return NEVER_NEGATIVE if positive and keeps_sign else ANYWHERE


# Differences of exact scalars.


def difference(one: Scalar, other: Scalar) -> LinearForm[Scalar] | None:
    """One scalar less another one as a sum of parts; None unless both are exact numbers."""
    return combined(Arithmetic.SUBTRACT, linear_form(one), linear_form(other))


def difference_interval(one: Scalar, other: Scalar) -> Interval:
    """The possible values of one exact scalar less another one."""
    form = difference(one, other)
    return ANYWHERE if form is None else form.interval(interval_of, _never_above)


def linear_form(node: Scalar) -> LinearForm[Scalar] | None:
    """The scalar as a sum of parts; None for anything but exact numbers."""
    if not _is_exact(node):
        return None
    match node:
        case Value(text=text):
            return LinearForm({}, Decimal(text))
        case Calculation(op=op, left=left, right=right):
            found = combined(op, linear_form(left), linear_form(right))
            if found is not None:
                return found
        case Length(of=of):
            return _length_form(of)
    return LinearForm({plain(node): _ONE})


def _length_form(of: Scalar) -> LinearForm[Scalar]:
    match of:
        case Value(text=text):
            return LinearForm({}, Decimal(len(text)))
        case Call(function=Function.CONCAT, arguments=arguments):
            total: LinearForm[Scalar] = LinearForm({})
            for argument in arguments:
                total = total.plus(_length_form(argument))
            return total
        case Call(function=Function.LOWER | Function.UPPER, arguments=(text,)):
            return _length_form(text)
    return LinearForm({Length(of=plain(of)): _ONE})


def _never_above(one: Scalar, other: Scalar) -> bool:
    """Whether the first is at most the second wherever both have a value; False if unknown."""
    match other:
        case Call(function=Function.ABS, arguments=(of,)):
            return plain(of) == one
    return isinstance(one, Length) and isinstance(other, Length) and _is_part_of(one.of, other.of)


def _is_part_of(text: Scalar, of: Scalar) -> bool:
    """Whether a text is cut from another one."""
    text = plain(text)
    match text:
        case Call(function=Function.TRIM | Function.SUBSTR, arguments=(inner, *_)):
            return plain(inner) == of or _is_part_of(inner, of)
        case Call(function=Function.LOWER | Function.UPPER, arguments=(inner,)):
            return _is_part_of(inner, of)
    return False
