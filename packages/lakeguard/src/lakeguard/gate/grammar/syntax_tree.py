"""Syntax tree of a condition: columns by name, untyped literals.

Trees are in normal form: literals are on the right, ``and`` contains no ``and``, and ``or`` no
``or``. The text of a tree parses to the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from lakeguard.gate.grammar.literals import AnyLiteral
from lakeguard_sdk.core.frozen_model import FrozenModel, complete
from lakeguard_sdk.expressions.conditions import Arithmetic, Comparison

OPPOSITES = {
    Comparison.EQ: Comparison.NE,
    Comparison.NE: Comparison.EQ,
    Comparison.LT: Comparison.GE,
    Comparison.GE: Comparison.LT,
    Comparison.GT: Comparison.LE,
    Comparison.LE: Comparison.GT,
}


AggregateWord = Literal["sum", "min", "max", "avg", "count"]


class Named(FrozenModel):
    """A column by name, or a struct field by its path."""

    node: Literal["named"] = "named"
    name: str
    path: tuple[str, ...] = ()


class Calculated(FrozenModel):
    node: Literal["calculated"] = "calculated"
    op: Arithmetic
    left: Written
    right: Written


class Called(FrozenModel):
    """A function call; a condition if the function is a predicate."""

    node: Literal["called"] = "called"
    function: str
    arguments: tuple[Written, ...]


class Chosen(FrozenModel):
    """``if(condition, then, otherwise)``"""

    node: Literal["chosen"] = "chosen"
    condition: Where
    then: Written
    otherwise: Written


class Aggregated(FrozenModel):
    """An aggregate of a value, or of rows as in ``count(*)``."""

    node: Literal["aggregated"] = "aggregated"
    function: AggregateWord
    of: Written | None = None
    distinct: bool = False


class Compared(FrozenModel):
    """A comparison with a literal or another value."""

    node: Literal["compared"] = "compared"
    op: Comparison
    left: Written
    right: Written


class NullTest(FrozenModel):
    node: Literal["null_test"] = "null_test"
    of: Written
    negated: bool = False


class Membership(FrozenModel):
    node: Literal["membership"] = "membership"
    of: Written
    values: tuple[AnyLiteral, ...]
    negated: bool = False


class Between(FrozenModel):
    """Both bounds are inclusive."""

    node: Literal["between"] = "between"
    of: Written
    low: Written
    high: Written
    negated: bool = False


class LikeTest(FrozenModel):
    node: Literal["likened"] = "likened"
    of: Written
    pattern: str
    negated: bool = False


class Negation(FrozenModel):
    node: Literal["negation"] = "negation"
    item: Where


class AllOf(FrozenModel):
    node: Literal["all_of"] = "all_of"
    items: tuple[Where, ...]


class AnyOf(FrozenModel):
    node: Literal["any_of"] = "any_of"
    items: tuple[Where, ...]


Computed = Calculated | Called | Chosen | Aggregated
WrittenNode = Named | Computed | AnyLiteral
Written = Annotated[Named | Computed, Field(discriminator="node")] | AnyLiteral
WhereNode = (
    Compared | NullTest | Membership | Between | LikeTest | Called | Negation | AllOf | AnyOf
)
Where = Annotated[WhereNode, Field(discriminator="node")]

complete(
    Aggregated, Calculated, Called, Chosen, Compared, NullTest, Membership, Between, LikeTest,
    Negation, AllOf, AnyOf,
)  # fmt: skip


def opposite(tree: WhereNode) -> WhereNode:
    """The logical negation."""
    match tree:
        case Compared(op=op):
            return tree.model_copy(update={"op": OPPOSITES[op]})
        case NullTest() | Membership() | Between() | LikeTest():
            return tree.model_copy(update={"negated": not tree.negated})
        case Negation(item=item):
            return item
        case AllOf() | AnyOf() | Called():
            return Negation(item=tree)


def columns_in(tree: WhereNode | WrittenNode) -> Iterator[str]:
    """The columns of a tree, in source order."""
    match tree:
        case Named(name=name):
            yield name
        case Calculated(left=left, right=right) | Compared(left=left, right=right):
            yield from _columns_of(left, right)
        case Called(arguments=arguments):
            yield from _columns_of(*arguments)
        case Aggregated(of=of) if of is not None:
            yield from columns_in(of)
        case Chosen(condition=condition, then=then, otherwise=otherwise):
            yield from _columns_of(condition, then, otherwise)
        case NullTest(of=of) | Membership(of=of) | LikeTest(of=of):
            yield from columns_in(of)
        case Between(of=of, low=low, high=high):
            yield from _columns_of(of, low, high)
        case Negation(item=item):
            yield from columns_in(item)
        case AllOf(items=items) | AnyOf(items=items):
            yield from _columns_of(*items)


def _columns_of(*trees: WhereNode | WrittenNode) -> Iterator[str]:
    for tree in trees:
        yield from columns_in(tree)
