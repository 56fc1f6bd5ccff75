"""The condition of a rule as it is written: columns by name, literals without a type.

Nodes are in normal form: a column stands on the left, ``and`` holds no ``and``, ``or`` no
``or``. The text of a tree reads back as the same tree.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field

from lakeguard.gate.literals import AnyLiteral, literal_text
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.noun import Noun

RESERVED = frozenset(
    {
        "and",
        "or",
        "not",
        "in",
        "is",
        "between",
        "null",
        "true",
        "false",
        "where",
        "warn_if",
        "fail_if",
        "on_fail",
        "scope",
    }
)
OPPOSITES = {
    Comparison.EQ: Comparison.NE,
    Comparison.NE: Comparison.EQ,
    Comparison.LT: Comparison.GE,
    Comparison.GE: Comparison.LT,
    Comparison.GT: Comparison.LE,
    Comparison.LE: Comparison.GT,
}
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Named(Noun):
    """A column, by name."""

    node: Literal["named"] = "named"
    name: str


class Compared(Noun):
    """A column against a literal or another column."""

    node: Literal["compared"] = "compared"
    op: Comparison
    left: Named
    right: Named | AnyLiteral


class NullTest(Noun):
    node: Literal["null_test"] = "null_test"
    column: Named
    negated: bool = False


class Membership(Noun):
    node: Literal["membership"] = "membership"
    column: Named
    values: tuple[AnyLiteral, ...]
    negated: bool = False


class Between(Noun):
    """Both ends belong to it."""

    node: Literal["between"] = "between"
    column: Named
    low: AnyLiteral
    high: AnyLiteral
    negated: bool = False


class Negation(Noun):
    node: Literal["negation"] = "negation"
    item: Where


class AllOf(Noun):
    node: Literal["all_of"] = "all_of"
    items: tuple[Where, ...]


class AnyOf(Noun):
    node: Literal["any_of"] = "any_of"
    items: tuple[Where, ...]


WhereNode = Compared | NullTest | Membership | Between | Negation | AllOf | AnyOf
Where = Annotated[WhereNode, Field(discriminator="node")]


def opposite(tree: WhereNode) -> WhereNode:
    """The condition that is FALSE where this one is TRUE, and the other way round."""
    match tree:
        case Compared(op=op):
            return tree.model_copy(update={"op": OPPOSITES[op]})
        case NullTest() | Membership() | Between():
            return tree.model_copy(update={"negated": not tree.negated})
        case Negation(item=item):
            return item
        case AllOf() | AnyOf():
            return Negation(item=tree)


def column_text(name: str) -> str:
    """A column's name as the grammar writes it: in backticks where it is not a plain word."""
    if _BARE.match(name) and name.lower() not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def where_text(tree: WhereNode) -> str:
    """The one spelling of a condition, with no bracket that could be left out."""
    match tree:
        case AnyOf(items=items):
            return " or ".join(where_text(item) for item in items)
        case AllOf(items=items):
            return " and ".join(_bracketed(item, AnyOf) for item in items)
        case Negation(item=item):
            return "not " + _bracketed(item, AnyOf, AllOf)
        case Compared(op=op, left=left, right=right):
            return f"{column_text(left.name)} {op} {_operand_text(right)}"
        case NullTest(column=column, negated=negated):
            return f"{column_text(column.name)} is {'not ' if negated else ''}null"
        case Membership(column=column, values=values, negated=negated):
            listed = ", ".join(literal_text(value) for value in values)
            return f"{column_text(column.name)} {'not ' if negated else ''}in ({listed})"
        case Between(column=column, low=low, high=high, negated=negated):
            word = "not between" if negated else "between"
            return f"{column_text(column.name)} {word} {literal_text(low)} and {literal_text(high)}"


def _bracketed(tree: WhereNode, *looser: type[Noun]) -> str:
    text = where_text(tree)
    return f"({text})" if isinstance(tree, looser) else text


def _operand_text(operand: Named | AnyLiteral) -> str:
    return column_text(operand.name) if isinstance(operand, Named) else literal_text(operand)


for _node in (Negation, AllOf, AnyOf):
    _node.model_rebuild()
