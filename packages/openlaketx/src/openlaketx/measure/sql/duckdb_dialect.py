"""DuckDB SQL."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.expressions.conditions import Function, Predicate
from lakeguard_sdk.types.schema import decimal_size, is_nested
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import (
    ArrayOf,
    ColumnType,
    MapOf,
    StructOf,
)
from openlaketx.engine.duckdb_reader import NFKC
from openlaketx.engine.nfkc_text import SPECIAL
from openlaketx.measure.sql.comparison_types import HUGE, WIDEST
from openlaketx.measure.sql.dialect import WHITE, Dialect

_DIGITS_OF_A_DOUBLE = 15
_SHORT = 200
"""Characters of an expression that may be repeated in another."""
_OF_TIMES = (
    Function.YEAR, Function.MONTH, Function.DAY, Function.HOUR, Function.WEEKDAY,
    Function.DAYS_BETWEEN,
)  # fmt: skip
_INFINITE = "a time is beyond the calendar"

_TYPES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    HUGE: "HUGEINT",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
    "binary": "BLOB",
}


class DuckdbDialect(Dialect):
    """Requires a connection in UTC."""

    def quoted(self, name: str) -> str:
        return quoted(name)

    def bound(self, text: str, parameters: dict[str, str]) -> str:
        name = f"p{len(parameters)}"
        parameters[name] = text
        return f"${name}"

    def type_name(self, data_type: str) -> str:
        return sql_type(data_type)

    def is_nan(self, value: str) -> str:
        return f"isnan({value})"

    def matches(self, text: str, pattern: str) -> str:
        return f"regexp_matches({text}, {pattern})"

    def elements(self, array: str, variable: str, condition: str) -> str:
        return f"list_filter({array}, lambda {variable}: {condition})"

    def once(self, value: str, variable: str, condition: str) -> str:
        return f"(len(list_filter([{value}], lambda {variable}: {condition})) = 1)"

    def nfkc(self, text: str) -> str:
        special = f"regexp_matches({text}, '{SPECIAL}')"
        return f"(CASE WHEN {special} THEN {NFKC}({text}) ELSE {text} END)"

    def size(self, value: str, data_type: str) -> str:
        return f"{'cardinality' if data_type.startswith('map<') else 'len'}({value})"

    def to_double(self, value: str, data_type: str) -> str:
        """Via text for decimals with more digits than a double: a direct cast rounds twice."""
        size = decimal_size(data_type)
        if size and size[0] > _DIGITS_OF_A_DOUBLE:
            value = self.cast(value, "string")
        return self.cast(value, "double")

    def day(self, value: str, data_type: str) -> str:
        """Without a cast of the timestamp, which looks up the time zone for every value."""
        if data_type == "timestamp":
            value = f"make_timestamp(epoch_us({value}))"
        return super().day(value, data_type)

    def widened(self, value: str, data_type: str) -> str:
        """The widest decimal: narrow ones overflow in their integer representation."""
        _, scale = decimal_size(data_type) or (0, 0)
        return self.cast(value, f"decimal({WIDEST},{scale})")

    def test(self, predicate: Predicate, value: str, argument: str) -> str:
        if predicate is Predicate.IS_FINITE:
            return f"isfinite({value})"
        if predicate in (Predicate.STARTS_WITH, Predicate.ENDS_WITH):
            return f"{predicate}({value}, {argument})"
        return super().test(predicate, value, argument)

    def call(self, function: Function, arguments: Sequence[str]) -> str:
        if function in _OF_TIMES:
            arguments = [_in_calendar(each) for each in arguments]
        match function:
            case Function.LOWER | Function.UPPER:
                return self._in_case(function, arguments[0])
            case Function.TRIM:
                return f"trim({arguments[0]}, {WHITE})"
            case Function.CONCAT:
                return f"({' || '.join(arguments)})"
            case Function.WEEKDAY:
                return f"(isodow({arguments[0]}) - 1)"
            case Function.DAYS_BETWEEN:
                return f"date_diff('day', {arguments[0]}, {arguments[1]})"
        return super().call(function, arguments)

    def _in_case(self, function: Function, text: str) -> str:
        """ASCII texts by DuckDB's function, which is many times faster and changes letters of all
        alphabets. It repeats the text, so that long expressions, which may hold others, are left
        to ``translate``."""
        any_text = super().call(function, [text])
        if len(text) > _SHORT:
            return any_text
        is_ascii = f"strlen({text}) = length({text})"
        return f"(CASE WHEN {is_ascii} THEN {function}({text}) ELSE {any_text} END)"


def _in_calendar(time: str) -> str:
    """DuckDB reads the largest and smallest times as infinity, whose year is NULL, and a condition
    does not fail on NULL. Fail the measure instead, so that its check cannot be evaluated."""
    return f"(CASE WHEN isinf({time}) THEN error('{_INFINITE}') ELSE {time} END)"


DUCKDB = DuckdbDialect()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def sql_type(data_type: str) -> str:
    """The type in DuckDB syntax, nested types included."""
    if is_nested(data_type):
        return _nested_sql(parse_type(data_type))
    return _TYPES.get(data_type) or data_type.upper()


def _nested_sql(found: ColumnType) -> str:
    match found:
        case StructOf(fields=fields):
            parts = ", ".join(f"{quoted(name)} {_nested_sql(part)}" for name, part in fields)
            return f"STRUCT({parts})"
        case ArrayOf(element=element):
            return f"{_nested_sql(element)}[]"
        case MapOf(key=key, value=value):
            return f"MAP({_nested_sql(key)}, {_nested_sql(value)})"
        case str():
            return "FLOAT" if found == "float" else sql_type(found)
