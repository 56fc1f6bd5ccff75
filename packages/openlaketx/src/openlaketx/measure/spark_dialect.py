"""Spark's spelling: text for ``spark.sql`` in an ANSI session in UTC."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lakeguard_sdk.expression import Function, Predicate
from openlaketx.measure.comparison_types import HUGE, WIDEST
from openlaketx.measure.dialect import WHITE, Dialect

_PLAIN = re.compile(r"[A-Za-z0-9 .:+_-]*")
_TYPES = {
    "string": "STRING",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    HUGE: f"DECIMAL({WIDEST},0)",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "binary": "BINARY",
}


class SparkDialect(Dialect):
    """Over a session with ``spark.sql.ansi.enabled`` and the time zone UTC."""

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def bound(self, text: str, parameters: dict[str, str]) -> str:
        """Written out, as hexadecimal bytes unless it is plain: no character of it is read as SQL.

        Named parameters are not bound in a session with Delta's extensions.
        """
        if _PLAIN.fullmatch(text):
            return f"'{text}'"
        return f"CAST(X'{text.encode().hex()}' AS STRING)"

    def type_name(self, data_type: str) -> str:
        return _TYPES.get(data_type) or data_type.upper()

    def is_nan(self, value: str) -> str:
        """``isnan`` is FALSE for NULL; a comparison is NULL, and here NaN equals NaN."""
        return f"({value} = CAST('NaN' AS DOUBLE))"

    def matches(self, text: str, pattern: str) -> str:
        return f"({text} RLIKE {pattern})"

    def elements(self, array: str, variable: str, condition: str) -> str:
        return f"filter({array}, {variable} -> {condition})"

    def once(self, value: str, variable: str, condition: str) -> str:
        return f"exists(array({value}), {variable} -> {condition})"

    def test(self, predicate: Predicate, value: str, argument: str) -> str:
        if predicate is Predicate.IS_FINITE:
            return f"(abs({value}) < CAST('Infinity' AS DOUBLE))"
        return super().test(predicate, value, argument)

    def call(self, function: Function, arguments: Sequence[str]) -> str:
        match function:
            case Function.TRIM:
                return f"trim(BOTH {WHITE} FROM {arguments[0]})"
            case Function.DAYS_BETWEEN:
                return f"datediff({arguments[1]}, {arguments[0]})"
        return super().call(function, arguments)


SPARK = SparkDialect()
