"""Row conditions as SQL; every literal is a bound parameter with a declared type.

Only forms with the same result in every engine are used: literals in the column's type, floats
compared as doubles, patterns anchored at both ends, length in code points. The dialects hold the
differences in syntax.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from lakeguard_sdk.expressions.conditions import (
    And,
    Compare,
    Condition,
    InSet,
    IsNan,
    IsNull,
    Matches,
    Not,
    Or,
    Predicate,
    Scalar,
    Test,
    Value,
)
from lakeguard_sdk.types.plain_types import date_format
from lakeguard_sdk.types.schema import INTEGERS, decimal_size
from openlaketx.measure.sql.comparison_types import WIDEST, common_type, operand_type
from openlaketx.measure.sql.dialect import Dialect
from openlaketx.measure.sql.duckdb_dialect import DUCKDB, quoted, sql_type
from openlaketx.measure.sql.scalar_sql import ScalarSql

# Check digits in portable SQL that raises for no text.

READY = "lg_t"
"""The normalized text."""

_LONGEST_CARD = 20
_DIGITS = "0123456789"
_DOUBLED = "0516273849"
"""At each digit's index: the digit sum of twice its value."""
_PIECE, _PIECES = 15, 5
"""Chunks of this many digits, with the remainder so far, fit into a long; this many chunks hold the
34 characters of an IBAN with two digits per letter."""

CARD = rf"[0-9]{{2,{_LONGEST_CARD}}}"
IBAN = r"[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])[A-Z0-9]{11,30}"
"""Check digits are 02 to 98: 99 would give the same remainder as 02."""


def _ready_card(text: str) -> str:
    """Leading zeros do not change the checksum."""
    return f"lpad({text}, {_LONGEST_CARD}, '0')"


def _right_card() -> str:
    """Luhn: every second digit from the right is doubled, and the sum is a multiple of 10.
    Positions start at 1, so each of the twenty digits adds one too many; 20 is a multiple of 10."""
    places = (
        f"instr('{_DOUBLED if at % 2 else _DIGITS}', substr({READY}, {at}, 1))"
        for at in range(1, _LONGEST_CARD + 1)
    )
    return f"(({' + '.join(places)}) % 10 = 0)"


def _ready_iban(text: str) -> str:
    """Moves the first four characters to the end and replaces each letter by two digits."""
    turned = f"concat(substr({text}, 5), substr({text}, 1, 4))"
    for number, letter in enumerate(ascii_uppercase, 10):
        turned = f"replace({turned}, '{letter}', '{number}')"
    return f"lpad({turned}, {_PIECE * _PIECES}, '0')"


def _right_iban() -> str:
    """The number modulo 97 is 1, computed chunk by chunk."""
    left = "0"
    for piece in range(_PIECES):
        digits = f"TRY_CAST(substr({READY}, {piece * _PIECE + 1}, {_PIECE}) AS BIGINT)"
        left = f"(({left} * {10**_PIECE} + {digits}) % 97)"
    return f"({left} = 1)"


__all__ = ["WIDEST", "ConditionSql", "common_type", "quoted", "sql_type"]


class ConditionSql(ScalarSql):
    """Renders conditions for one engine and collects their bound parameters."""

    def __init__(self, dialect: Dialect = DUCKDB) -> None:
        super().__init__(dialect)

    def condition(self, node: Condition) -> str:
        match node:
            case And(items=items):
                return self._joined(items, "AND", "TRUE")
            case Or(items=items):
                return self._joined(items, "OR", "FALSE")
            case Not(item=item):
                return f"(NOT {self.condition(item)})"
            case IsNull(of=of):
                return f"({self.scalar(of)} IS NULL)"
            case IsNan(of=of):
                return self.dialect.is_nan(self.scalar(of))
            case Matches(of=of, pattern=pattern):
                return self._matches(self.scalar(of), pattern)
            case Compare(op=op, left=left, right=right):
                common = common_type(operand_type(left), operand_type(right))
                return f"({self._as(left, common)} {op} {self._as(right, common)})"
            case InSet(of=of, values=values):
                return self._in_set(of, values)
            case Test(predicate=predicate, of=of, argument=argument):
                return self._test(predicate, of, argument)

    def _joined(self, items: Sequence[Condition], word: str, empty: str) -> str:
        written = f" {word} ".join(self.condition(item) for item in items)
        return f"({written})" if items else empty

    def _matches(self, text: str, pattern: str) -> str:
        return self.dialect.matches(text, self._bound(rf"\A(?:{pattern})\z"))

    def _in_set(self, of: Scalar, values: Sequence[Value]) -> str:
        if not values:
            return "FALSE"
        common = operand_type(of)
        for value in values:
            common = common_type(common, operand_type(value))
        listed = ", ".join(self._as(value, common) for value in values)
        return f"({self._as(of, common)} IN ({listed}))"

    def _test(self, predicate: Predicate, of: Scalar, argument: str) -> str:
        match predicate:
            case Predicate.IS_FINITE:
                return self.dialect.test(predicate, self._as(of, "double"), "")
            case Predicate.CASTABLE:
                text = self.scalar(of)
                return self._readable(text, _spelling_of(argument), text, argument)
            case Predicate.DATE_FORMAT:
                text, form = self.scalar(of), date_format(argument)
                parts = ((form.year, 4), (form.month, 2), (form.day, 2))
                iso = " || '-' || ".join(f"substr({text}, {at}, {size})" for at, size in parts)
                return self._readable(text, form.pattern, iso, "date")
            case Predicate.LUHN:
                text = self.scalar(of)
                asked = self.dialect.once(_ready_card(text), READY, _right_card())
                return self._shaped(text, CARD, asked)
            case Predicate.IBAN:
                text = self.scalar(of)
                asked = self.dialect.once(_ready_iban(text), READY, _right_iban())
                return self._shaped(text, IBAN, asked)
        return self.dialect.test(predicate, self.scalar(of), self._bound(argument))

    def _readable(self, text: str, pattern: str, inner: str, data_type: str) -> str:
        """Whether a well-formed text is a valid value; other texts are never cast."""
        value = f"TRY_CAST({inner} AS {self.dialect.type_name(data_type)})"
        return self._shaped(text, pattern, f"({value} IS NOT NULL)")

    def _shaped(self, text: str, pattern: str, asked: str) -> str:
        """The condition for a well-formed text; FALSE for other texts, NULL for NULL."""
        shape = self._matches(text, pattern)
        return f"(CASE {shape} WHEN TRUE THEN {asked} WHEN FALSE THEN FALSE END)"


# Text formats per type that every engine casts to the same value.

_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
_ZONE = r"(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"
_SPELLINGS = {
    "double": rf"{_NUMBER}(?:[eE][+-]?[0-9]+)?",
    "boolean": r"[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]",
    "date": _DAY,
    "timestamp": rf"{_DAY}[ T]{_TIME}{_ZONE}",
    "timestamp_ntz": rf"{_DAY}[ T]{_TIME}",
}


def _spelling_of(data_type: str) -> str:
    """The pattern of valid texts; ValueError for a type that texts are not cast to."""
    if data_type in INTEGERS:
        return r"[+-]?[0-9]+"
    if decimal_size(data_type):
        return _NUMBER
    found = _SPELLINGS.get(data_type)
    if found is None:
        raise ValueError(f"texts cannot be cast to {data_type}")
    return found
