"""Reads a value of all rows: aggregates of what rows hold, with arithmetic between them."""

from __future__ import annotations

from typing import get_args

from lakeguard.gate.condition_parser import ConditionParser
from lakeguard.gate.cursor import Cursor
from lakeguard.gate.grammar_error import GrammarError, Span
from lakeguard.gate.scalar_parser import Node
from lakeguard.gate.written import Aggregated, AggregateWord, Calculated, WrittenNode

WORDS: tuple[AggregateWord, ...] = get_args(AggregateWord)
_AFTER_A_COLUMN = (")", "+", "-", "*", "/", "%", ".")


class AggregateParser(ConditionParser):
    """A column stands inside an aggregate, and no aggregate inside another."""

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
        """What may stand in brackets outside of an aggregate."""
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
        """Whether the word stands here as a word; it may be a column's name."""
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
        message = "this is the same whatever the rows hold: write an aggregate, as sum(amount)"
        return GrammarError(message, self._cursor.since(start), kind="meaning")


class GroupParser(AggregateParser):
    """A condition over aggregates."""

    def _bracketed(self) -> Node:
        return self._anything()


def _has_aggregate(node: Node) -> bool:
    if isinstance(node, Calculated):
        return _has_aggregate(node.left) or _has_aggregate(node.right)
    return isinstance(node, Aggregated)
