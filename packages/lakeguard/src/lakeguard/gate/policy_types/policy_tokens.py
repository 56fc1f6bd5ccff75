"""Tokens of policies, in addition to those of rules."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Literal

from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.grammar.literals import MOST_ROWS, number_text
from lakeguard.gate.grammar.pattern import check_pattern, matches_nothing
from lakeguard.gate.grammar.pattern_shape import Anchored, EmptyPattern, PatternError
from lakeguard.gate.grammar.tokens import (
    BACKTICKED,
    QUOTED,
    WORD,
    Lexicon,
)
from lakeguard_sdk.core.frozen_model import FrozenModel

POLICY_TOKENS: Lexicon = (
    ("label", re.compile(r"[A-Za-z_][A-Za-z0-9_]*:[^\s,()\[\]']*")),
    ("word", WORD),
    (
        "text",
        re.compile(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?"
            r"(?:Z|[+-][0-9]{2}:[0-9]{2})?)?(?![\w:-]|\.(?!\.))"
        ),
    ),
    ("clock", re.compile(r"[0-9]{2}:[0-9]{2}(?![\w.:-])")),
    ("quantity", re.compile(r"[0-9]+[A-Za-z]+(?![\w.:+-])")),
    ("number", re.compile(r"[0-9]+(?:\.[0-9]+)?(?![\w.:+-])")),
    ("text", QUOTED),
    ("name", BACKTICKED),
    ("mark", re.compile(r"\.\.|<=|>=|[=<>()\[\],%]")),
)
MOST_ITEMS = 200
MOST_BYTES = 10**18
"""No run writes as much: a limit at or above it could never be exceeded."""
_TIMES = {"m": "minutes", "h": "hours", "d": "days"}
_SIZES = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_QUANTITY = re.compile(r"([0-9]{1,15})([A-Za-z]+)")


class Span(FrozenModel):
    """A duration in minutes, hours or days."""

    amount: int
    unit: Literal["m", "h", "d"]

    @property
    def delta(self) -> timedelta:
        return timedelta(**{_TIMES[self.unit]: self.amount})

    def __str__(self) -> str:
        return f"{self.amount}{self.unit}"


class Size(FrozenModel):
    """A size in bytes; units are powers of 1,000."""

    amount: int
    unit: Literal["", "KB", "MB", "GB", "TB"] = ""

    @property
    def bytes(self) -> int:
        return self.amount * _SIZES.get(self.unit, 1)

    def __str__(self) -> str:
        return f"{self.amount}{self.unit}"


def expect_one_of(cursor: Cursor, wanted: str, *words: str) -> str:
    """The keyword here, in lower case; ``wanted`` describes what is expected."""
    found = cursor.take_word(*words)
    if found is not None:
        return found.value.lower()
    hint = nearest(cursor.token.value, words) if cursor.token.kind == "word" else ""
    raise cursor.error(f"{wanted} expected", hint=hint)


def expect_text(cursor: Cursor, wanted: str) -> str:
    if cursor.token.kind != "text":
        raise cursor.error(f"{wanted} expected, in single quotes")
    return cursor.advance().value


def expect_list(cursor: Cursor, wanted: str) -> tuple[str, ...]:
    """Words or quoted texts in brackets, without duplicates; order is irrelevant."""
    cursor.expect_mark("[")
    items: dict[str, None] = {}
    while True:
        if cursor.token.kind not in ("word", "text"):
            raise cursor.error(f"{wanted} expected")
        if not cursor.token.value.strip() or cursor.token.value in items:
            raise cursor.error("duplicate or empty item")
        if len(items) == MOST_ITEMS:
            raise cursor.error(f"at most {MOST_ITEMS} in a list")
        items[cursor.advance().value] = None
        if cursor.take_mark("]"):
            return tuple(sorted(items))
        cursor.expect_mark(",")


def list_text(items: tuple[str, ...]) -> str:
    """Plain words as they are, everything else quoted."""
    return "[" + ", ".join(map(_item_text, items)) + "]"


def _item_text(item: str) -> str:
    return item if re.fullmatch(WORD, item) else quoted(item)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def expect_pattern(cursor: Cursor, matched: str) -> str:
    """A portable pattern; ``matched`` describes what it is matched against."""
    if cursor.token.kind != "text":
        raise cursor.error("a pattern in single quotes expected")
    try:
        check_pattern(cursor.token.value)
    except EmptyPattern:
        raise cursor.error("the pattern is empty", kind="meaning") from None
    except Anchored as error:
        raise cursor.error(f"{matched}: {error.what}", kind="meaning") from None
    except PatternError as error:
        raise cursor.error(str(error), kind="meaning") from None
    if matches_nothing(cursor.token.value):
        raise cursor.error("no text matches this pattern", kind="meaning")
    return cursor.advance().value


def expect_count(cursor: Cursor) -> int:
    if cursor.token.kind == "number" and cursor.token.value.isdecimal():
        if len(cursor.token.value) > 18:
            raise cursor.error("a number of at most 18 digits expected")
        return int(cursor.advance().value)
    raise cursor.error("a whole number expected")


def expect_rows(cursor: Cursor) -> int:
    """A maximum number of rows that some table could exceed."""
    start = cursor.token
    rows = expect_count(cursor)
    if rows >= MOST_ROWS:
        raise cursor.refuse(start, f"this always holds: write fewer than {MOST_ROWS:,} rows")
    return rows


def expect_most_percent(cursor: Cursor, below: int) -> Decimal:
    """A maximum share; from ``below`` on it could never be exceeded."""
    start = cursor.token
    number = cursor.expect_number()
    if number >= below:
        raise cursor.refuse(start, f"this always holds: write less than {below:,}%")
    cursor.expect_mark("%")
    return number


def expect_least_percent(cursor: Cursor) -> Decimal:
    """A minimum share of a whole."""
    start = cursor.token
    number = cursor.expect_number()
    if not 0 < number <= 100:
        raise cursor.refuse(start, f"more than 0% and at most 100%, not {start.value}%")
    cursor.expect_mark("%")
    return number


def percent_text(number: Decimal) -> str:
    return f"{number_text(number)}%"


def expect_span(cursor: Cursor) -> Span:
    found = _QUANTITY.fullmatch(cursor.token.value)
    if cursor.token.kind != "quantity" or not found or found[2].lower() not in _TIMES:
        raise cursor.error("a duration expected, such as 90m, 24h or 7d")
    amount = int(found[1])
    if not 0 < amount <= 100_000:
        raise cursor.error("from 1 to 100,000 expected")
    cursor.advance()
    return Span.model_validate({"amount": amount, "unit": found[2].lower()})


def expect_any_span(cursor: Cursor) -> Span:
    """``7d``, or ``7 days`` with the unit in full."""
    if cursor.token.kind != "number":
        return expect_span(cursor)
    start = cursor.token
    amount = expect_count(cursor)
    words = {word: unit for unit, many in _TIMES.items() for word in (many, many[:-1])}
    unit = expect_one_of(cursor, "minutes, hours or days", *words)
    if not 0 < amount <= 100_000:
        raise cursor.refuse(start, "from 1 to 100,000 expected")
    return Span.model_validate({"amount": amount, "unit": words[unit]})


def expect_size(cursor: Cursor) -> Size:
    start = cursor.token
    size = _size(cursor)
    if size.bytes >= MOST_BYTES:
        raise cursor.refuse(start, "this always holds: write less than 1000000TB")
    return size


def _size(cursor: Cursor) -> Size:
    if cursor.token.kind == "number":
        return Size(amount=expect_count(cursor))
    found = _QUANTITY.fullmatch(cursor.token.value)
    if cursor.token.kind != "quantity" or not found or found[2].upper() not in _SIZES:
        raise cursor.error("a size expected, such as 500MB or 5GB")
    cursor.advance()
    return Size.model_validate({"amount": int(found[1]), "unit": found[2].upper()})
