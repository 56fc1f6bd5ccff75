"""Row conditions as SQL: every literal is a bound parameter of a stated type.

The forms are those that mean the same in every engine: literals of the column's own type,
floats compared as doubles, patterns anchored at both ends, length in code points. What engines
spell differently stands in their dialects.
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

# Check digits as SQL that every engine reads alike, and that no text makes raise.

READY = "lg_t"
"""The text that was made ready."""

_LONGEST_CARD = 20
_DIGITS = "0123456789"
_DOUBLED = "0516273849"
"""Each digit at the place that is the sum of the digits of twice its value."""
_PIECE, _PIECES = 15, 5
"""So many digits, and what is left of those before them, fit in a long integer; so many pieces
hold the 34 characters of an IBAN with two digits for each letter."""

CARD = rf"[0-9]{{2,{_LONGEST_CARD}}}"
IBAN = r"[A-Z]{2}(?:0[2-9]|[1-8][0-9]|9[0-8])[A-Z0-9]{11,30}"
"""Check digits are 02 to 98: 99 would leave the same as 02."""


def _ready_card(text: str) -> str:
    """Zeros before a number add nothing."""
    return f"lpad({text}, {_LONGEST_CARD}, '0')"


def _right_card() -> str:
    """Every second digit from the right but the last counts double, and the sum is a multiple of
    10. Places begin with 1, so that each of the twenty counts one too many, which is one too."""
    places = (
        f"instr('{_DOUBLED if at % 2 else _DIGITS}', substr({READY}, {at}, 1))"
        for at in range(1, _LONGEST_CARD + 1)
    )
    return f"(({' + '.join(places)}) % 10 = 0)"


def _ready_iban(text: str) -> str:
    """The first four characters last, and two digits for every letter."""
    turned = f"concat(substr({text}, 5), substr({text}, 1, 4))"
    for number, letter in enumerate(ascii_uppercase, 10):
        turned = f"replace({turned}, '{letter}', '{number}')"
    return f"lpad({turned}, {_PIECE * _PIECES}, '0')"


def _right_iban() -> str:
    """The number leaves 1 when it is divided by 97, piece by piece."""
    left = "0"
    for piece in range(_PIECES):
        digits = f"TRY_CAST(substr({READY}, {piece * _PIECE + 1}, {_PIECE}) AS BIGINT)"
        left = f"(({left} * {10**_PIECE} + {digits}) % 97)"
    return f"({left} = 1)"


__all__ = ["WIDEST", "ConditionSql", "common_type", "quoted", "sql_type"]


class ConditionSql(ScalarSql):
    """Writes conditions for one engine and keeps the parameters that they bind."""

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
        """Whether a text of the right shape is a value; no engine is asked to cast another."""
        value = f"TRY_CAST({inner} AS {self.dialect.type_name(data_type)})"
        return self._shaped(text, pattern, f"({value} IS NOT NULL)")

    def _shaped(self, text: str, pattern: str, asked: str) -> str:
        """What is asked of a text of the right shape; FALSE of any other, NULL of none."""
        shape = self._matches(text, pattern)
        return f"(CASE {shape} WHEN TRUE THEN {asked} WHEN FALSE THEN FALSE END)"


# How a text spells a value of a type, so that every engine reads it as the same value.

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
    """The pattern of such texts; ValueError for a type that no text is cast to."""
    if data_type in INTEGERS:
        return r"[+-]?[0-9]+"
    if decimal_size(data_type):
        return _NUMBER
    found = _SPELLINGS.get(data_type)
    if found is None:
        raise ValueError(f"no text is read as {data_type}")
    return found
