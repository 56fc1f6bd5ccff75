"""Row conditions as SQL: every literal is a bound parameter of a stated type.

The forms are those that mean the same in every engine: literals of the column's own type,
floats compared as doubles, patterns anchored at both ends, length in code points. What engines
spell differently stands in their dialects.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.date_formats import date_format
from lakeguard_sdk.expression import (
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
from openlaketx.measure.check_digits import (
    CARD,
    IBAN,
    READY,
    ready_card,
    ready_iban,
    right_card,
    right_iban,
)
from openlaketx.measure.comparison_types import WIDEST, common_type, operand_type
from openlaketx.measure.dialect import Dialect
from openlaketx.measure.duckdb_dialect import DUCKDB, quoted, sql_type
from openlaketx.measure.scalar_sql import ScalarSql
from openlaketx.measure.spellings import spelling_of

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
                return self._readable(text, spelling_of(argument), text, argument)
            case Predicate.DATE_FORMAT:
                text, form = self.scalar(of), date_format(argument)
                parts = ((form.year, 4), (form.month, 2), (form.day, 2))
                iso = " || '-' || ".join(f"substr({text}, {at}, {size})" for at, size in parts)
                return self._readable(text, form.pattern, iso, "date")
            case Predicate.LUHN:
                text = self.scalar(of)
                asked = self.dialect.once(ready_card(text), READY, right_card())
                return self._shaped(text, CARD, asked)
            case Predicate.IBAN:
                text = self.scalar(of)
                asked = self.dialect.once(ready_iban(text), READY, right_iban())
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
