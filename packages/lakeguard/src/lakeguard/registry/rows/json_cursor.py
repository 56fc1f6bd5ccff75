"""A JSON parser that returns each value with its position.

A strict subset of RFC 8259: unique keys, finite numbers and bounded nesting. The json module has
no offsets, and YAML accepts more than JSON; json only decodes the escapes of strings.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal

from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.texts import exact_number, shown
from lakeguard.registry.text.characters import forbidden_character
from lakeguard_sdk.errors import DefinitionError, DuplicateKey, TooLarge, UnreadableRows

MAX_DEPTH = 16
"""Maximum nesting of one value."""
# Character sets are possessive, groups are not: Python 3.11 handles `(…)?+` incorrectly and would
# sometimes accept "1." as a number.
_SPACE = re.compile(r"[ \t\r\n]*+")
_INSIDE = r'[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*'
_STRING = re.compile(rf'"{_INSIDE}"')
_STRING_PART = re.compile(rf'"{_INSIDE}')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+-])")
_WORD = re.compile(r"[\w.+-]++")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})

JsonScalar = str | int | Decimal | bool | None


class JsonCursor:
    """A position in the text that each read advances. Recoverable errors are collected, others
    are raised."""

    def __init__(self, source: SourceText, at: int = 0, end: int | None = None) -> None:
        self.source = source
        self.text = source.text
        self.at = at
        self.end = len(source.text) if end is None else end
        self.mistakes: list[DefinitionError] = []

    def peek(self) -> str:
        """The next significant character, or an empty string at the end."""
        found = _SPACE.match(self.text, self.at, self.end)
        self.at = found.end() if found else self.at
        return self.text[self.at : min(self.at + 1, self.end)]

    def take(self, character: str) -> bool:
        """Consume the character if it is next."""
        if self.peek() != character:
            return False
        self.at += 1
        return True

    def expect(self, character: str, after: str) -> None:
        if not self.take(character):
            raise self.unexpected(f"expected {character} after {after}")

    def unexpected(self, problem: str) -> UnreadableRows:
        if not self.peek():
            return self.source.unreadable(self.at, f"unexpected end: {problem}")
        return self.source.unreadable(self.at, problem)

    def finish(self) -> None:
        if self.peek():
            raise self.unexpected("unexpected text after the end")

    def key(self) -> tuple[str, Span]:
        if self.peek() != '"':
            raise self.unexpected("expected a key in double quotes")
        key, span = self._string()
        self.expect(":", "a key")
        return key, span

    def report_duplicate(self, key: str, span: Span) -> None:
        self.mistakes.append(DuplicateKey(self.source.place(span), key=shown(key)))

    def value(self) -> tuple[JsonScalar, Span]:
        """A scalar; a list or object is returned as its source text."""
        match self.peek():
            case '"':
                return self._string()
            case "[" | "{":
                span = self._nested()
                return self.text[span.start : span.end], span
            case _:
                return self._scalar()

    def _string(self) -> tuple[str, Span]:
        start = self.at
        found = _STRING.match(self.text, start, self.end)
        if found is None:
            raise self._broken_string(start)
        span = Span(start, found.end())
        self.source.refuse_long(span)
        self.at = span.end
        written = found[0]
        if "\\" not in written:
            return written[1:-1], span
        try:
            value: str = json.loads(written)
        except json.JSONDecodeError as error:
            raise self.source.unreadable(start + error.pos, "invalid escape") from None
        refused = forbidden_character(value)
        if refused:
            raise self.source.unreadable(start, f"{refused[1]} is not allowed", len(written))
        return value, span

    def _broken_string(self, start: int) -> UnreadableRows:
        part = _STRING_PART.match(self.text, start, self.end)
        stop = part.end() if part else start
        if self.text.startswith("\t", stop):
            return self.source.unreadable(stop, "a tab in a string; write \\t")
        return self.source.unreadable(start, "unterminated string")

    def _scalar(self) -> tuple[JsonScalar, Span]:
        start = self.at
        number = _NUMBER.match(self.text, start, self.end)
        if number:
            return self._number(Span(start, number.end()))
        found = _WORD.match(self.text, start, self.end)
        word = found[0] if found else ""
        self.at = start + len(word)
        if word in _WORDS:
            return _WORDS[word], Span(start, self.at)
        if word in _NOT_FINITE:
            raise self.source.unreadable(start, f"{word} is not a number", len(word))
        if word:
            problem = f"{shown(word)!r} is not a value; write strings in double quotes"
            raise self.source.unreadable(start, problem, len(word))
        raise self.unexpected("expected a value")

    def _number(self, span: Span) -> tuple[int | Decimal, Span]:
        value = exact_number(self.text[span.start : span.end])
        if value is None:
            raise TooLarge(self.source.place(span), thing="the number", limit="can be held exactly")
        self.at = span.end
        return value, span

    def _nested(self) -> Span:
        """Consume and validate a list or object without recursion."""
        start = self.at
        levels: list[set[str] | None] = []
        self._enter(levels)
        entered = True
        while levels:
            if self.take("]" if levels[-1] is None else "}"):
                levels.pop()
                entered = False
            else:
                if not entered:
                    self.expect(",", "a value")
                entered = self._item(levels)
            self.source.refuse_long(Span(start, self.at))
        return Span(start, self.at)

    def _item(self, levels: list[set[str] | None]) -> bool:
        """Consume an item; for a list or object consume only its start and return True."""
        keys = levels[-1]
        if keys is not None:
            key, span = self.key()
            if key in keys:
                self.report_duplicate(key, span)
            keys.add(key)
        match self.peek():
            case "[" | "{":
                self._enter(levels)
                return True
            case '"':
                self._string()
            case _:
                self._scalar()
        return False

    def _enter(self, levels: list[set[str] | None]) -> None:
        if len(levels) >= MAX_DEPTH:
            place = self.source.place(Span(self.at, self.at + 1))
            raise TooLarge(place, thing="the nesting", limit=f"{MAX_DEPTH} levels")
        levels.append(None if self.text[self.at] == "[" else set())
        self.at += 1
