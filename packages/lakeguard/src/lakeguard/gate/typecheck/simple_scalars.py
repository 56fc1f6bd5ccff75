"""Scalars without operations that change nothing, to compare what they stand for."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard_sdk.expressions.conditions import (
    Arithmetic,
    Calculation,
    Call,
    Choice,
    Function,
    Length,
    Scalar,
    Value,
    type_of,
)
from lakeguard_sdk.types.schema import FLOATS

_IDEMPOTENT = (Function.TRIM, Function.LOWER, Function.UPPER, Function.NFKC, Function.ABS)
_NEUTRAL_RIGHT = {Arithmetic.ADD: "0", Arithmetic.SUBTRACT: "0", Arithmetic.MULTIPLY: "1"}
_NEUTRAL_LEFT = {Arithmetic.ADD: "0", Arithmetic.MULTIPLY: "1"}


def plain(node: Scalar) -> Scalar:
    """A simpler scalar that has the same value wherever this one has a value."""
    match node:
        case Call():
            return _plain_call(node)
        case Calculation(type=kind) if kind not in FLOATS:
            return _plain_calculation(node)
        case Choice(then=then, otherwise=otherwise) if plain(then) == plain(otherwise):
            return plain(then)
    return node


def same_value(one: Scalar, other: Scalar) -> bool:
    """Whether both have the same value wherever both have one."""
    return plain(one) == plain(other)


def strict_parts(node: Scalar) -> Iterator[Scalar]:
    """Scalars without which this one is NULL; itself included."""
    yield node
    match node:
        case Calculation(left=left, right=right):
            yield from strict_parts(left)
            yield from strict_parts(right)
        case Length(of=of):
            yield from strict_parts(of)
        case Call(function=Function.NULLIF, arguments=arguments):
            yield from strict_parts(arguments[0])
        case Call(function=function, arguments=arguments) if function is not Function.COALESCE:
            for argument in arguments:
                yield from strict_parts(argument)


def _plain_call(node: Call) -> Scalar:
    first, *others = node.arguments
    match node.function:
        case Function.CONCAT:
            return _joined(node)
        case Function.NULLIF:
            return plain(first)
        case Function.COALESCE if all(plain(other) == plain(first) for other in others):
            return plain(first)
        case Function.SUBSTR if others == [Value(type="integer", text="1")]:
            return plain(first)
        case Function.DOUBLE if type_of(first) == "double":
            return plain(first)
        case function if function in _IDEMPOTENT:
            inner = plain(first)
            twice = isinstance(inner, Call) and inner.function is function
            return inner if twice else node.model_copy(update={"arguments": (inner,)})
    return node


def _joined(node: Call) -> Scalar:
    parts = tuple(plain(part) for part in node.arguments if part != Value(type="string", text=""))
    return (
        parts[0]
        if len(parts) == 1
        else node.model_copy(update={"arguments": parts or node.arguments})
    )


def _plain_calculation(node: Calculation) -> Scalar:
    if _is_number(node.right, _NEUTRAL_RIGHT.get(node.op)):
        return plain(node.left)
    if _is_number(node.left, _NEUTRAL_LEFT.get(node.op)):
        return plain(node.right)
    return node


def _is_number(node: Scalar, text: str | None) -> bool:
    return isinstance(node, Value) and text is not None and node.text == text
