"""Types function calls."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeguard.gate.grammar.functions import KIND_WORDS, ArgumentKind, FunctionSpec
from lakeguard.gate.grammar.literals import Literal_, Number, Text
from lakeguard.gate.grammar.pattern import check_pattern
from lakeguard.gate.grammar.pattern_shape import PatternError
from lakeguard.gate.typecheck.comparability import shared_type
from lakeguard_sdk.expressions.arithmetic_types import (
    NotExact,
    absolute_type,
    exact_size,
    exact_type,
)
from lakeguard_sdk.expressions.conditions import (
    Call,
    Condition,
    Function,
    IsNan,
    Length,
    Matches,
    Predicate,
    Scalar,
    Test,
    Value,
    type_of,
)
from lakeguard_sdk.types.plain_types import date_format
from lakeguard_sdk.types.schema import (
    FLOATS,
    INTEGERS,
    TIMES,
    decimal_size,
    is_nested,
    is_numeric,
    normal_type,
)

Argument = Scalar | str | int
"""A typed value, or a constant text or number argument."""
_TEXTS = (
    Function.TRIM,
    Function.LOWER,
    Function.UPPER,
    Function.NFKC,
    Function.SUBSTR,
    Function.CONCAT,
)
_CASTS = ("double", "boolean", *TIMES, *INTEGERS)


class BadArgument(Exception):
    """An argument that the function does not accept; ``index`` says which."""

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        self.message = message
        super().__init__(message)


def fixed_argument(spec: FunctionSpec, index: int, literal: Literal_ | None) -> str | int:
    """A constant text or whole number argument."""
    kind = spec.kind(index)
    if kind == "word" and isinstance(literal, Text):
        return literal.value
    if kind == "whole" and isinstance(literal, Number):
        number = literal.value
        if number >= 0 and number == number.to_integral_value() and number < 10**9:
            return int(number)
    raise BadArgument(index, f"{spec.name} needs {KIND_WORDS[kind]} here, as in {spec.example}")


def typed_argument(spec: FunctionSpec, index: int, found: Scalar) -> Scalar:
    kind = spec.kind(index)
    if not _is_kind(type_of(found), kind):
        wanted = KIND_WORDS[kind]
        raise BadArgument(index, f"{spec.name} needs {wanted}, and this is {type_of(found)}")
    return found


def _is_kind(data_type: str, kind: ArgumentKind) -> bool:
    match kind:
        case "text":
            return data_type == "string"
        case "number":
            return is_numeric(data_type)
        case "exact":
            return exact_size(data_type) is not None
        case "float":
            return data_type in FLOATS
        case "time":
            return data_type in TIMES
        case "clock":
            return data_type in TIMES and data_type != "date"
        case "collection":
            return data_type.startswith(("array<", "map<"))
        case _:
            return not is_nested(data_type) and data_type != "binary"


def typed_call(spec: FunctionSpec, arguments: Sequence[Argument]) -> Scalar | Condition:
    """Raises BadArgument for arguments of the right types that are meaningless."""
    values = [item for item in arguments if not isinstance(item, str | int)]
    fixed = [item for item in arguments if isinstance(item, str | int)]
    if spec.predicate:
        return _condition(spec.name, values[0], str(fixed[0]) if fixed else "")
    if spec.name == "length":
        return Length(of=values[0])
    function = Function(spec.name)
    places = tuple(Value(type="integer", text=str(number)) for number in fixed)
    kind = _result(function, values, [int(number) for number in fixed])
    return Call(function=function, arguments=(*values, *places), type=kind)


def _result(function: Function, values: Sequence[Scalar], places: Sequence[int]) -> str:
    own = type_of(values[0])
    match function:
        case Function.ABS:
            try:
                return absolute_type(own)
            except NotExact as reason:
                raise BadArgument(0, str(reason)) from None
        case Function.ROUND:
            whole, scale = exact_size(own) or (0, 0)
            if places[0] >= scale:
                raise BadArgument(1, f"{own} has no more than {scale} decimal places")
            return exact_type(whole + 1, places[0])
        case Function.DOUBLE:
            return "double"
        case Function.COALESCE | Function.NULLIF:
            return _widest(values)
        case Function.SUBSTR if places[0] < 1:
            raise BadArgument(1, "positions in a text start at 1")
    return "string" if function in _TEXTS else "integer"


def _widest(values: Sequence[Scalar]) -> str:
    """Arguments share a type at this point; literals take it too."""
    kind = type_of(values[0])
    for value in values:
        kind = shared_type(kind, type_of(value)) or kind
    return kind


def _condition(name: str, of: Scalar, argument: str) -> Condition:
    if name == "is_nan":
        return IsNan(of=of)
    if name == "matches":
        try:
            check_pattern(argument)
        except PatternError as reason:
            raise BadArgument(1, str(reason)) from None
        return Matches(of=of, pattern=argument)
    predicate = Predicate(name)
    if predicate in (Predicate.IS_FINITE, Predicate.LUHN, Predicate.IBAN):
        return Test(predicate=predicate, of=of)
    return Test(predicate=predicate, of=of, argument=checked(predicate, argument))


def checked(predicate: Predicate, argument: str) -> str:
    """The argument in canonical form; BadArgument if the predicate would be constant."""
    try:
        match predicate:
            case Predicate.CASTABLE:
                return _cast_type(argument)
            case Predicate.DATE_FORMAT:
                date_format(argument)
            case Predicate.LIKE:
                _check_like(argument)
            case _ if not argument:
                raise ValueError("every text contains the empty text")
    except ValueError as reason:
        raise BadArgument(1, str(reason)) from None
    return argument


def _cast_type(text: str) -> str:
    data_type = normal_type(text)
    if data_type in _CASTS or decimal_size(data_type):
        return data_type
    raise ValueError(f"texts cannot be cast to {data_type}")


# Patterns of ``like``: ``%`` matches any text, ``_`` one character, ``!`` escapes them.

LONGEST_LIKE = 1000
_PLAIN = re.compile(r"(?:[^!]|![%_!])*\Z", re.DOTALL)


def _check_like(pattern: str) -> None:
    """Raises ValueError, with advice, for patterns that engines match differently or that are
    constant."""
    if len(pattern) > LONGEST_LIKE:
        raise ValueError(f"a pattern has at most {LONGEST_LIKE:,} characters")
    if not _PLAIN.match(pattern):
        raise ValueError("! must be followed by %, _ or !: write a ! as !!")
    if pattern and not pattern.strip("%"):
        raise ValueError("every text matches this pattern")
