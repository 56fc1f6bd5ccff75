"""Parses the values of conditions: columns, literals, arithmetic, functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeGuard

from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.functions import (
    EVERY_NAME,
    FUNCTIONS,
    IF,
    FunctionSpec,
)
from lakeguard.gate.grammar.grammar_error import GrammarError, Span, nearest
from lakeguard.gate.grammar.literals import Flag, Number, Text
from lakeguard.gate.grammar.syntax_tree import (
    Aggregated,
    Calculated,
    Called,
    Chosen,
    Named,
    WhereNode,
    WrittenNode,
    columns_in,
)
from lakeguard.gate.grammar.unparse import SUMS
from lakeguard_sdk.expressions.conditions import Arithmetic

DEEPEST = 20
MOST_OPERATIONS = 60
CONSTANT = "a condition must name a column; this one is constant"
_PRODUCTS = tuple(op for op in Arithmetic if op not in SUMS)
_VALUES = (Named, Calculated, Chosen, Aggregated, Number, Text, Flag)

Node = WhereNode | WrittenNode


def is_value(node: Node) -> TypeGuard[WrittenNode]:
    """Whether the node is a value rather than a condition."""
    if isinstance(node, Called):
        return not FUNCTIONS[node.function].predicate
    return isinstance(node, _VALUES)


def is_condition(node: Node) -> TypeGuard[WhereNode]:
    return not is_value(node)


class ScalarParser(ABC):
    """``places`` collects the spans of operands, operators and functions in source order."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._depth = 0
        self._operations = 0
        self.places: list[Span] = []

    @abstractmethod
    def _anything(self) -> Node:
        """A condition or a value."""

    @abstractmethod
    def _condition(self) -> WhereNode:
        """A condition; GrammarError for a bare value."""

    def value(self) -> WrittenNode:
        """A value; GrammarError for a condition."""
        start = self._cursor.token.span
        node = self._sum()
        return self._as_value(node, self._cursor.since(start))

    def _sum(self) -> Node:
        return self._chain(self._product, SUMS)

    def _product(self) -> Node:
        return self._chain(self._primary, _PRODUCTS)

    def _chain(self, operand: Callable[[], Node], ops: tuple[Arithmetic, ...]) -> Node:
        """Left-associative operands and operators."""
        start = self._cursor.token.span
        node = operand()
        so_far = self._cursor.since(start)
        while op := self._operator(ops):
            left = self._as_value(node, so_far)
            second = self._cursor.token.span
            right = operand()
            node = Calculated(
                op=op, left=left, right=self._as_value(right, self._cursor.since(second))
            )
            self._refuse_constant(node, start)
        return node

    def _operator(self, ops: tuple[Arithmetic, ...]) -> Arithmetic | None:
        """The operator here; in ``a -1`` the sign of the number counts as one."""
        token = self._cursor.token
        if token.kind == "number" and ops is SUMS:
            token = self._cursor.take_sign()
        elif token.kind == "mark" and token.value in ops:
            self._cursor.advance()
        else:
            return None
        if token.kind != "mark":
            return None
        self._operation(token.span)
        return Arithmetic(token.value)

    def _primary(self) -> Node:
        cursor = self._cursor
        if cursor.at_mark("("):
            self._enter()
            cursor.advance()
            inner = self._anything()
            cursor.expect_mark(")")
            self._depth -= 1
            return inner
        if cursor.at_literal:
            literal, span = cursor.expect_literal()
            self.places.append(span)
            return literal
        if cursor.token.kind == "word" and cursor.next_is("("):
            return self._function()
        if cursor.at_mark("-"):
            raise cursor.error("unary minus is not supported; write 0 - x for -x")
        if cursor.at_word("null"):
            raise cursor.error("NULL is not a value; use `is null`")
        return self._named()

    def _named(self) -> Named:
        token = self._cursor.expect_column()
        path: list[str] = []
        while self._cursor.take_mark("."):
            path.append(self._cursor.expect_column().value)
        self.places.append(self._cursor.since(token.span))
        return Named(name=token.value, path=tuple(path))

    def _function(self) -> Node:
        cursor = self._cursor
        token = cursor.token
        name = token.value.lower()
        if name not in EVERY_NAME:
            if not cursor.at_column:
                raise cursor.error("a column expected")
            message = f"unknown function {token.value[:64]!r}"
            hint = nearest(name, EVERY_NAME)
            raise GrammarError(message, token.span, kind="syntax", hint=hint, word=token.value)
        self._enter()
        self._operation(token.span)
        cursor.advance()
        cursor.expect_mark("(")
        node = self._choice() if name == IF else self._arguments(FUNCTIONS[name])
        if not cursor.take_mark(")"):
            raise cursor.error("',' or ')' expected")
        self._depth -= 1
        self._refuse_constant(node, token.span)
        return node

    def _choice(self) -> Chosen:
        condition = self._condition()
        self._cursor.expect_mark(",")
        then = self.value()
        self._cursor.expect_mark(",")
        return Chosen(condition=condition, then=then, otherwise=self.value())

    def _arguments(self, spec: FunctionSpec) -> Called:
        fewest, most = spec.counts
        found = [] if self._cursor.at_mark(")") else [self.value()]
        while len(found) < most and self._cursor.take_mark(","):
            found.append(self.value())
        if len(found) < fewest or self._cursor.at_mark(","):
            wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            values = "value" if wanted == "1" else "values"
            raise self._cursor.error(f"{spec.name} takes {wanted} {values}, as in {spec.example}")
        return Called(function=spec.name, arguments=tuple(found))

    def _as_value(self, node: Node, place: Span) -> WrittenNode:
        if is_value(node):
            return node
        message = "a value expected, but this is a condition"
        raise GrammarError(message, place, kind="syntax")

    def _refuse_constant(self, node: Node, start: Span) -> None:
        if next(columns_in(node), None) is None:
            message = "this names no column: write its value instead"
            raise GrammarError(message, self._cursor.since(start), kind="meaning")

    def _enter(self) -> None:
        if self._depth >= DEEPEST:
            raise GrammarError(
                f"nested too deeply: at most {DEEPEST} levels",
                self._cursor.token.span,
                kind="syntax",
            )
        self._depth += 1

    def _operation(self, span: Span) -> None:
        self._operations += 1
        if self._operations > MOST_OPERATIONS:
            message = f"too long: at most {MOST_OPERATIONS} operators and functions"
            raise GrammarError(message, span, kind="syntax")
        self.places.append(span)
