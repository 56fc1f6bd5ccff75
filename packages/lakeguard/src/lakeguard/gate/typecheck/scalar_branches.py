"""Conditions without ``if``, ``coalesce`` and ``nullif``: one for each value that these take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

from lakeguard_sdk.expressions.conditions import (
    And,
    Arithmetic,
    Calculation,
    Call,
    Choice,
    Compare,
    Comparison,
    Condition,
    Function,
    InSet,
    IsNan,
    IsNull,
    Length,
    Matches,
    Not,
    Or,
    Scalar,
    Test,
    Value,
    type_of,
)

_MOST_BRANCHES = 32


class Branch(NamedTuple):
    """A scalar, and the conditions under which another one has its value."""

    scalar: Scalar
    conditions: tuple[Condition, ...] = ()


def branches(node: Scalar) -> list[Branch]:
    """Wherever the scalar has a value, it is that of a branch whose conditions are all TRUE. The
    scalar alone, if there would be too many."""
    found = list(islice(_branches(node), _MOST_BRANCHES + 1))
    return found if 0 < len(found) <= _MOST_BRANCHES else [Branch(node)]


def _branches(node: Scalar) -> Iterator[Branch]:
    match node:
        case Choice(condition=condition, then=then, otherwise=otherwise):
            yield from _when(then, (condition,))
            yield from _when(otherwise, (not_true(condition),))
        case Call(function=Function.COALESCE, arguments=arguments):
            for index, argument in enumerate(arguments):
                yield from _when(argument, tuple(IsNull(of=before) for before in arguments[:index]))
        case Call(function=Function.NULLIF, arguments=(of, other)):
            yield from _when(of, (_differs(of, other),))
        case Length(of=of):
            for text in branches(of):
                yield Branch(Length(of=text.scalar), text.conditions)
        case Calculation(left=left, right=right):
            for one, two in product(branches(left), branches(right)):
                sides = {"left": one.scalar, "right": two.scalar}
                yield Branch(node.model_copy(update=sides), one.conditions + two.conditions)
        case Call(arguments=arguments):
            for parts in product(*map(branches, arguments)):
                scalars = tuple(part.scalar for part in parts)
                under = tuple(condition for part in parts for condition in part.conditions)
                yield Branch(node.model_copy(update={"arguments": scalars}), under)
        case _:
            yield Branch(node)


def _when(node: Scalar, conditions: tuple[Condition, ...]) -> Iterator[Branch]:
    for inner in branches(node):
        yield Branch(inner.scalar, conditions + inner.conditions)


def _differs(of: Scalar, other: Scalar) -> Condition:
    differs = Compare(op=Comparison.NE, left=of, right=other)
    return differs if isinstance(other, Value) else Or(items=(differs, IsNull(of=other)))


def not_true(condition: Condition) -> Condition:
    """TRUE where the condition is FALSE or NULL, and perhaps elsewhere."""
    unknown = tuple(IsNull(of=of) for of in _operands(condition) if not isinstance(of, Value))
    return Or(items=(Not(item=condition), *unknown))


def _operands(condition: Condition) -> Iterator[Scalar]:
    """Scalars of which one is NULL wherever the condition is."""
    match condition:
        case Compare(left=left, right=right):
            yield from (left, right)
        case InSet(of=of) | IsNan(of=of) | Matches(of=of) | Test(of=of):
            yield of
        case Not(item=item):
            yield from _operands(item)
        case And(items=items) | Or(items=items):
            for item in items:
                yield from _operands(item)


def branched(condition: Condition) -> list[tuple[Condition, ...]]:
    """Wherever the condition is TRUE, so are all those of one of the branches; only itself, if it
    has no branches."""
    found: list[tuple[Condition, ...]] = []
    match condition:
        case Compare(left=left, right=right):
            pairs = product(branches(left), branches(right))
            found = [
                (
                    condition.model_copy(update={"left": one.scalar, "right": other.scalar}),
                    *one.conditions,
                    *other.conditions,
                )
                for one, other in pairs
            ]
        case InSet(of=of) | IsNan(of=of) | Matches(of=of) | Test(of=of):
            found = [
                (condition.model_copy(update={"of": branch.scalar}), *branch.conditions)
                for branch in branches(of)
            ]
        case Not(item=IsNull(of=of)):
            found = [
                (Not(item=IsNull(of=branch.scalar)), *branch.conditions) for branch in branches(of)
            ]
        case Not(item=InSet() | IsNan() | Matches() | Test() as item):
            found = [(Not(item=first), *others) for first, *others in branched(item)]
        case IsNull(of=of):
            found = [(missing,) for missing in _missing(of)]
    return found or [(condition,)]


def _missing(node: Scalar) -> Iterator[Condition]:
    """One is TRUE wherever the scalar is NULL."""
    match node:
        case Choice(condition=condition, then=then, otherwise=otherwise):
            yield And(items=(condition, IsNull(of=then)))
            yield And(items=(not_true(condition), IsNull(of=otherwise)))
        case Call(function=Function.COALESCE, arguments=arguments):
            yield And(items=tuple(IsNull(of=argument) for argument in arguments))
        case Call(function=Function.NULLIF, arguments=(of, other)):
            yield IsNull(of=of)
            yield Compare(op=Comparison.EQ, left=of, right=other)
        case Length(of=of):
            yield IsNull(of=of)
        case Calculation(op=op, left=left, right=right):
            yield from (IsNull(of=left), IsNull(of=right))
            if op in (Arithmetic.DIVIDE, Arithmetic.REMAINDER):
                zero = Value(type=type_of(right), text="0")
                yield Compare(op=Comparison.EQ, left=right, right=zero)
        case _:
            yield IsNull(of=node)
