"""Reads the condition of a ``where`` clause into its tree, with the place of every operand."""

from __future__ import annotations

from typing import TypeVar

from lakeguard.gate.cursor import Cursor
from lakeguard.gate.grammar_error import GrammarError, Span
from lakeguard.gate.literals import Literal_, Text
from lakeguard.gate.where_tree import (
    AllOf,
    AnyOf,
    Between,
    Compared,
    Membership,
    Named,
    Negation,
    NullTest,
    WhereNode,
    opposite,
)
from lakeguard_sdk.expression import Comparison

DEEPEST = 20

FLIPPED = {
    Comparison.LT: Comparison.GT,
    Comparison.LE: Comparison.GE,
    Comparison.GT: Comparison.LT,
    Comparison.GE: Comparison.LE,
    Comparison.EQ: Comparison.EQ,
    Comparison.NE: Comparison.NE,
}

_Group = TypeVar("_Group", AllOf, AnyOf)


class ConditionParser:
    """``places`` holds the operands' spans in the order in which the tree names them."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._depth = 0
        self.places: list[Span] = []

    def parse(self) -> WhereNode:
        start = self._cursor.token.span
        items = [self._conjunction()]
        while self._cursor.take_word("or"):
            items.append(self._conjunction())
        return self._grouped(AnyOf, items, start)

    def _conjunction(self) -> WhereNode:
        start = self._cursor.token.span
        items = [self._negation()]
        while self._cursor.take_word("and"):
            items.append(self._negation())
        return self._grouped(AllOf, items, start)

    def _grouped(self, group: type[_Group], items: list[WhereNode], start: Span) -> WhereNode:
        """A bracket inside a bracket of the same kind falls away; opposites are refused."""
        if len(items) == 1:
            return items[0]
        flat: list[WhereNode] = []
        for item in items:
            flat.extend(item.items if isinstance(item, group) else [item])
        if not {opposite(item) for item in flat}.isdisjoint(flat):
            message = "a condition stands beside its opposite: together they say nothing"
            raise GrammarError(message, self._cursor.since(start), kind="meaning")
        return group(items=tuple(flat))

    def _negation(self) -> WhereNode:
        if not self._cursor.at_word("not"):
            return self._primary()
        self._enter()
        self._cursor.advance()
        item = self._negation()
        self._depth -= 1
        return Negation(item=item)

    def _primary(self) -> WhereNode:
        if not self._cursor.at_mark("("):
            return self._test()
        self._enter()
        self._cursor.advance()
        inner = self.parse()
        self._cursor.expect_mark(")")
        self._depth -= 1
        return inner

    def _enter(self) -> None:
        if self._depth >= DEEPEST:
            raise GrammarError(
                f"nested too deeply: at most {DEEPEST} levels",
                self._cursor.token.span,
                kind="syntax",
            )
        self._depth += 1

    def _test(self) -> WhereNode:
        cursor = self._cursor
        if cursor.at_literal:
            return self._literal_first()
        token = cursor.expect_column()
        column = Named(name=token.value)
        self.places.append(token.span)
        if cursor.take_word("is"):
            negated = cursor.take_word("not") is not None
            cursor.expect_word("null")
            return NullTest(column=column, negated=negated)
        negated = cursor.take_word("not") is not None
        if negated and not cursor.at_word("in", "between"):
            raise cursor.error("in or between expected after not")
        if cursor.take_word("in"):
            return Membership(column=column, values=self._values(), negated=negated)
        if cursor.take_word("between"):
            low = self._literal()
            cursor.expect_word("and")
            return Between(column=column, low=low, high=self._literal(), negated=negated)
        if cursor.token.kind == "mark" and cursor.token.value in FLIPPED:
            return self._comparison(column)
        raise cursor.error("a comparison, is null, in or between expected after a column")

    def _comparison(self, column: Named) -> WhereNode:
        op = self._cursor.expect_comparison()
        if not self._cursor.at_column:
            return Compared(op=op, left=column, right=self._literal())
        token = self._cursor.advance()
        self.places.append(token.span)
        if token.value == column.name:
            raise GrammarError(
                f"{column.name} is compared with itself, which says nothing",
                token.span,
                kind="meaning",
            )
        return Compared(op=op, left=column, right=Named(name=token.value))

    def _literal_first(self) -> WhereNode:
        """``0 < amount`` is ``amount > 0``."""
        literal, span = self._cursor.expect_literal()
        if self._cursor.at_word("is", "in", "not", "between"):
            raise self._constant(span)
        op = self._cursor.expect_comparison()
        if self._cursor.at_literal:
            raise self._constant(span)
        token = self._cursor.expect_column()
        self.places += [token.span, span]
        return Compared(op=FLIPPED[op], left=Named(name=token.value), right=literal)

    def _constant(self, start: Span) -> GrammarError:
        end = self._cursor.token.span
        span = Span(start.offset, end.offset + end.length - start.offset)
        message = "a condition names a column; this one is the same for every row"
        return GrammarError(message, span, kind="meaning")

    def _literal(self) -> Literal_:
        literal, span = self._cursor.expect_literal()
        self.places.append(span)
        return literal

    def _values(self) -> tuple[Literal_, ...]:
        self._cursor.expect_mark("(")
        values = [self._literal()]
        while self._cursor.take_mark(","):
            values.append(self._literal())
        self._cursor.expect_mark(")")
        refuse_repeats(values, self.places[-len(values) :])
        return tuple(values)


def refuse_repeats(values: list[Literal_], spans: list[Span]) -> None:
    seen = set()
    for value, span in zip(values, spans, strict=True):
        if value in seen:
            word = value.value if isinstance(value, Text) else ""
            raise GrammarError("this value stands twice", span, kind="meaning", word=word)
        seen.add(value)
