"""Canonical text of conditions; parses back to the same tree."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeguard.gate.grammar.literals import (
    Flag,
    Number,
    Text,
    literal_text,
)
from lakeguard.gate.grammar.syntax_tree import (
    Aggregated,
    AllOf,
    AnyOf,
    Between,
    Calculated,
    Called,
    Chosen,
    Compared,
    LikeTest,
    Membership,
    Named,
    Negation,
    NullTest,
    Where,
    WhereNode,
    WrittenNode,
)
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.expressions.conditions import Arithmetic

__all__ = ["RESERVED", "Where", "column_text", "where_text", "written_text"]

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
"""Final: stored, hashed texts quote columns with these names."""
SUMS = (Arithmetic.ADD, Arithmetic.SUBTRACT)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def column_text(name: str) -> str:
    """A column name as the grammar writes it, in backticks unless it is a plain word."""
    if _BARE.match(name) and name.lower() not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def where_text(tree: WhereNode) -> str:
    """Canonical text of a condition, with only the brackets it needs."""
    match tree:
        case AnyOf(items=items):
            return " or ".join(where_text(item) for item in items)
        case AllOf(items=items):
            return " and ".join(_bracketed(item, AnyOf) for item in items)
        case Negation(item=item):
            return "not " + _bracketed(item, AnyOf, AllOf)
        case Compared(op=op, left=left, right=right):
            return f"{written_text(left)} {op} {written_text(right)}"
        case NullTest(of=of, negated=negated):
            return f"{written_text(of)} is {_not(negated)}null"
        case Membership(of=of, values=values, negated=negated):
            return f"{written_text(of)} {_not(negated)}in ({_listed(values)})"
        case Between(of=of, low=low, high=high, negated=negated):
            ends = f"{written_text(low)} and {written_text(high)}"
            return f"{written_text(of)} {_not(negated)}between {ends}"
        case LikeTest(of=of, pattern=pattern, negated=negated):
            quoted = literal_text(Text(value=pattern))
            return f"{written_text(of)} {_not(negated)}like {quoted}"
        case Called():
            return written_text(tree)


def written_text(node: WrittenNode) -> str:
    """Canonical text of a value."""
    match node:
        case Number() | Text() | Flag():
            return literal_text(node)
        case Named(name=name, path=path):
            return ".".join(column_text(part) for part in (name, *path))
        case Called(function=function, arguments=arguments):
            return f"{function}({_listed(arguments)})"
        case Aggregated(function=function, of=of, distinct=distinct):
            inner = "*" if of is None else written_text(of)
            return f"{function}({'distinct ' if distinct else ''}{inner})"
        case Chosen(condition=condition, then=then, otherwise=otherwise):
            return f"if({where_text(condition)}, {_listed((then, otherwise))})"
        case Calculated(op=op, left=left, right=right):
            looser = () if op in SUMS else SUMS
            return f"{_factor(left, looser)} {op} {_factor(right, (*looser, *_same(op)))}"


def _same(op: Arithmetic) -> tuple[Arithmetic, ...]:
    """Operators of the same precedence: as a right operand they need brackets."""
    return SUMS if op in SUMS else tuple(other for other in Arithmetic if other not in SUMS)


def _factor(node: WrittenNode, bracketed: Sequence[Arithmetic]) -> str:
    text = written_text(node)
    return f"({text})" if isinstance(node, Calculated) and node.op in bracketed else text


def _listed(nodes: Sequence[WrittenNode]) -> str:
    return ", ".join(written_text(node) for node in nodes)


def _not(negated: bool) -> str:
    return "not " if negated else ""


def _bracketed(tree: WhereNode, *looser: type[FrozenModel]) -> str:
    text = where_text(tree)
    return f"({text})" if isinstance(tree, looser) else text
