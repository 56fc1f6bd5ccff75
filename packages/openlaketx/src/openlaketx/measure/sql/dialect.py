"""SQL that differs between engines; the traversal of a condition is shared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from lakeguard_sdk.expressions.conditions import Function, Predicate

WHITE = "concat(' ', chr(9), chr(10), chr(11), chr(12), chr(13), chr(160))"
"""The characters that ``trim`` removes: the engines' defaults differ."""
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL = _CAPITALS.lower()


class Dialect(ABC):
    """Contract for implementers: every expression has the same value for the same rows in every
    engine, in ANSI mode and in UTC."""

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A quoted column name; any character is allowed."""

    @abstractmethod
    def bound(self, text: str, parameters: dict[str, str]) -> str:
        """A text value, safe for any content; adds the parameters that the query needs."""

    @abstractmethod
    def type_name(self, data_type: str) -> str:
        """The type in the engine's syntax."""

    @abstractmethod
    def is_nan(self, value: str) -> str:
        """Of a double or float; NULL for NULL."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern anchored at both ends matches."""

    @abstractmethod
    def elements(self, array: str, variable: str, condition: str) -> str:
        """The array elements for which the condition on the variable is TRUE."""

    @abstractmethod
    def once(self, value: str, variable: str, condition: str) -> str:
        """Whether the condition on the variable is TRUE; its value is evaluated once and is not
        NULL."""

    @abstractmethod
    def nfkc(self, text: str) -> str:
        """The text in the form of ``engine/nfkc_text.py``; plain texts are as they are."""

    def size(self, value: str, data_type: str) -> str:
        """Elements of an array or entries of a map; NULL for NULL."""
        return f"size({value})"

    def cast(self, value: str, data_type: str) -> str:
        """Raises where the type cannot represent the value; never wraps or returns NULL."""
        return f"CAST({value} AS {self.type_name(data_type)})"

    def to_double(self, value: str, data_type: str) -> str:
        """The nearest double."""
        return self.cast(value, "double")

    def day(self, value: str, data_type: str) -> str:
        """The date of a date or a timestamp."""
        return value if data_type == "date" else self.cast(value, "date")

    def widened(self, value: str, data_type: str) -> str:
        """A decimal widened so that intermediate results do not overflow."""
        return value

    def field(self, column: str, path: Sequence[str]) -> str:
        return "".join([f"({self.quoted(column)})", *(f".{self.quoted(part)}" for part in path)])

    def test(self, predicate: Predicate, value: str, argument: str) -> str:
        """A predicate of a value and one bound text."""
        if predicate is Predicate.LIKE:
            return f"({value} LIKE {argument} ESCAPE '!')"
        return f"{predicate.replace('_', '')}({value}, {argument})"

    def call(self, function: Function, arguments: Sequence[str]) -> str:
        """A function call whose arguments already have the types it computes in."""
        match function:
            case Function.LOWER:
                return f"translate({arguments[0]}, '{_CAPITALS}', '{_SMALL}')"
            case Function.UPPER:
                return f"translate({arguments[0]}, '{_SMALL}', '{_CAPITALS}')"
            case Function.NFKC:
                return self.nfkc(arguments[0])
        return f"{function}({', '.join(arguments)})"
