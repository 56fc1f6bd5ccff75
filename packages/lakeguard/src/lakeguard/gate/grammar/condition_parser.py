"""Parses conditions into syntax trees, with the source span of every part."""

from __future__ import annotations

from typing import TypeVar, get_args

from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import GrammarError, Span
from lakeguard.gate.grammar.literals import (
    Flag,
    Literal_,
    Number,
    Text,
)
from lakeguard.gate.grammar.scalar_parser import (
    CONSTANT,
    Node,
    ScalarParser,
    is_condition,
    is_value,
)
from lakeguard.gate.grammar.syntax_tree import (
    Aggregated,
    AggregateWord,
    AllOf,
    AnyOf,
    Between,
    Calculated,
    Compared,
    LikeTest,
    Membership,
    Negation,
    NullTest,
    WhereNode,
    WrittenNode,
    opposite,
)
from lakeguard.gate.grammar.unparse import written_text
from lakeguard_sdk.expressions.conditions import Comparison

FLIPPED = {
    Comparison.LT: Comparison.GT,
    Comparison.LE: Comparison.GE,
    Comparison.GT: Comparison.LT,
    Comparison.GE: Comparison.LE,
    Comparison.EQ: Comparison.EQ,
    Comparison.NE: Comparison.NE,
}
_LITERALS = (Number, Text, Flag)

_Group = TypeVar("_Group", AllOf, AnyOf)


class ConditionParser(ScalarParser):
    """A literal on the left of a comparison is moved to the right, together with its span."""

    def parse(self) -> WhereNode:
        return self._condition()

    def _condition(self) -> WhereNode:
        return self._as_condition(self._anything())

    def _anything(self) -> Node:
        start = self._cursor.token.span
        node = self._conjunction()
        if not self._cursor.at_word("or"):
            return node
        items = [self._as_condition(node)]
        while self._cursor.take_word("or"):
            items.append(self._as_condition(self._conjunction()))
        return self._grouped(AnyOf, items, start)

    def _conjunction(self) -> Node:
        start = self._cursor.token.span
        node = self._negation()
        if not self._cursor.at_word("and"):
            return node
        items = [self._as_condition(node)]
        while self._cursor.take_word("and"):
            items.append(self._as_condition(self._negation()))
        return self._grouped(AllOf, items, start)

    def _grouped(self, group: type[_Group], items: list[WhereNode], start: Span) -> WhereNode:
        """Flattens nested groups of the same kind; refuses a condition beside its negation."""
        flat: list[WhereNode] = []
        for item in items:
            flat.extend(item.items if isinstance(item, group) else [item])
        if not {opposite(item) for item in flat}.isdisjoint(flat):
            message = "a condition and its negation: the result is constant"
            raise GrammarError(message, self._cursor.since(start), kind="meaning")
        return group(items=tuple(flat))

    def _negation(self) -> Node:
        if not self._cursor.at_word("not"):
            return self._test()
        self._enter()
        self._cursor.advance()
        item = self._as_condition(self._negation())
        self._depth -= 1
        return Negation(item=item)

    def _test(self) -> Node:
        """A value with its test; a bare value inside brackets or a function call."""
        cursor = self._cursor
        start, first = cursor.token.span, len(self.places)
        node = self._sum()
        if not is_value(node):
            return node
        of = self._as_value(node, start)
        if cursor.token.kind == "mark" and cursor.token.value in FLIPPED:
            return self._comparison(of, start, first)
        if not cursor.at_word("is", "not", "in", "between", "like"):
            return of
        if isinstance(of, _LITERALS):
            raise self._constant(start)
        if cursor.take_word("is"):
            negated = cursor.take_word("not") is not None
            cursor.expect_word("null")
            return NullTest(of=of, negated=negated)
        return self._predicate(of)

    def _predicate(self, of: WrittenNode) -> WhereNode:
        cursor = self._cursor
        negated = cursor.take_word("not") is not None
        if cursor.take_word("in"):
            return Membership(of=of, values=self._values(), negated=negated)
        if cursor.take_word("between"):
            low = self.value()
            cursor.expect_word("and")
            return Between(of=of, low=low, high=self.value(), negated=negated)
        if cursor.take_word("like"):
            pattern = self._literal()
            if not isinstance(pattern, Text):
                raise GrammarError("like needs a text in quotes", self.places[-1], kind="syntax")
            return LikeTest(of=of, pattern=pattern.value, negated=negated)
        raise cursor.error("in, between or like expected after not")

    def _comparison(self, left: WrittenNode, start: Span, first: int) -> WhereNode:
        """``0 < amount`` is ``amount > 0``."""
        op = self._cursor.expect_comparison()
        second, middle = self._cursor.token.span, len(self.places)
        right = self.value()
        if left == right and not isinstance(left, _LITERALS):
            raise GrammarError(
                f"{written_text(right)} is compared with itself: the result is constant",
                self._cursor.since(second),
                kind="meaning",
            )
        if not isinstance(left, _LITERALS):
            return Compared(op=op, left=left, right=right)
        if isinstance(right, _LITERALS):
            raise GrammarError(CONSTANT, self._cursor.since(start), kind="meaning")
        self.places[first:] = [*self.places[middle:], *self.places[first:middle]]
        return Compared(op=FLIPPED[op], left=right, right=left)

    def _as_condition(self, node: Node) -> WhereNode:
        if is_condition(node):
            return node
        if isinstance(node, Text) and not self._cursor.at_word("and", "or"):
            message = "this is a text, not a condition: write the condition without quotes"
            raise GrammarError(message, self.places[-1], kind="syntax")
        if isinstance(node, _LITERALS):
            raise self._cursor.error("one of = <> < <= > >= expected")
        raise self._cursor.error(
            "a comparison, is null, in, between or like expected after a value"
        )

    def _constant(self, start: Span) -> GrammarError:
        end = self._cursor.token.span
        span = Span(start.offset, end.offset + end.length - start.offset)
        return GrammarError(CONSTANT, span, kind="meaning")

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
            raise GrammarError("duplicate value", span, kind="meaning", word=word)
        seen.add(value)


# Aggregates over all rows, with arithmetic between them.

WORDS: tuple[AggregateWord, ...] = get_args(AggregateWord)
_AFTER_A_COLUMN = (")", "+", "-", "*", "/", "%", ".")


class AggregateParser(ConditionParser):
    """Columns appear only inside aggregates; aggregates cannot be nested."""

    def __init__(self, cursor: Cursor) -> None:
        super().__init__(cursor)
        self._inside = False

    def total(self) -> WrittenNode:
        start = self._cursor.token.span
        node = self.value()
        if not _has_aggregate(node):
            raise self._no_aggregate(start)
        return node

    def _primary(self) -> Node:
        cursor = self._cursor
        if self._inside:
            return super()._primary()
        if cursor.at_mark("("):
            self._enter()
            cursor.advance()
            inner = self._bracketed()
            cursor.expect_mark(")")
            self._depth -= 1
            return inner
        if cursor.token.kind == "number":
            literal, span = cursor.expect_literal()
            self.places.append(span)
            return literal
        for word in WORDS:
            if cursor.at_word(word) and cursor.next_is("("):
                return self._aggregate(word)
        raise cursor.error(f"a number or one of {', '.join(WORDS)} expected")

    def _bracketed(self) -> Node:
        """What brackets may contain outside of an aggregate."""
        return self._sum()

    def _aggregate(self, word: AggregateWord) -> Aggregated:
        cursor = self._cursor
        start = cursor.token.span
        self._enter()
        self._operation(start)
        cursor.advance()
        cursor.expect_mark("(")
        if word == "count" and cursor.take_mark("*"):
            made = Aggregated(function=word)
        else:
            distinct = word == "count" and self._distinct()
            self._inside = True
            inner = self.value()
            super()._refuse_constant(inner, start)
            self._inside = False
            made = Aggregated(function=word, of=inner, distinct=distinct)
        cursor.expect_mark(")")
        self._depth -= 1
        return made

    def _distinct(self) -> bool:
        """Whether ``distinct`` is the keyword here; it may be a column name."""
        if not self._cursor.at_word("distinct") or any(map(self._cursor.next_is, _AFTER_A_COLUMN)):
            return False
        self._cursor.advance()
        return True

    def _refuse_constant(self, node: Node, start: Span) -> None:
        if self._inside:
            super()._refuse_constant(node, start)
        elif not _has_aggregate(node):
            raise self._no_aggregate(start)

    def _no_aggregate(self, start: Span) -> GrammarError:
        message = "this is constant: use an aggregate, such as sum(amount)"
        return GrammarError(message, self._cursor.since(start), kind="meaning")


class GroupParser(AggregateParser):
    """A condition over aggregates."""

    def _bracketed(self) -> Node:
        return self._anything()


def _has_aggregate(node: Node) -> bool:
    if isinstance(node, Calculated):
        return _has_aggregate(node.left) or _has_aggregate(node.right)
    return isinstance(node, Aggregated)
