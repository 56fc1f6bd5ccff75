"""What an engine spells in its own way; the walk over a condition is the same for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from lakeguard_sdk.expressions.conditions import Function, Predicate

WHITE = "concat(' ', chr(9), chr(10), chr(11), chr(12), chr(13), chr(160))"
"""What ``trim`` takes away: the engines' own sets differ."""
_CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SMALL = _CAPITALS.lower()


class Dialect(ABC):
    """The implementer's promise: whatever a method returns is TRUE, FALSE, NULL or a value for the
    same rows in every engine, under ANSI, in UTC."""

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A column's name, whatever is in it."""

    @abstractmethod
    def bound(self, text: str, parameters: dict[str, str]) -> str:
        """A text as a value, whatever is in it; what the query must be given is added."""

    @abstractmethod
    def type_name(self, data_type: str) -> str:
        """The type as the engine declares it."""

    @abstractmethod
    def is_nan(self, value: str) -> str:
        """Of a double or float; NULL for NULL."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern that is anchored at both ends is found."""

    @abstractmethod
    def elements(self, array: str, variable: str, condition: str) -> str:
        """The elements of an array for which a condition over the variable is TRUE."""

    @abstractmethod
    def once(self, value: str, variable: str, condition: str) -> str:
        """Whether a condition over the variable is TRUE; it stands for a value that is worked out
        but once, and is not NULL."""

    def size(self, value: str, data_type: str) -> str:
        """Elements of an array or entries of a map; NULL for NULL."""
        return f"size({value})"

    def cast(self, value: str, data_type: str) -> str:
        """Raises, and never wraps or turns into NULL, what the type cannot hold."""
        return f"CAST({value} AS {self.type_name(data_type)})"

    def to_double(self, value: str, data_type: str) -> str:
        """The double nearest to a number of that type."""
        return self.cast(value, "double")

    def reckonable(self, value: str, data_type: str) -> str:
        """A decimal that does not overflow while the result still has room for it."""
        return value

    def field(self, column: str, path: Sequence[str]) -> str:
        return "".join([f"({self.quoted(column)})", *(f".{self.quoted(part)}" for part in path)])

    def test(self, predicate: Predicate, value: str, argument: str) -> str:
        """A predicate that needs no more than a value and a bound text."""
        if predicate is Predicate.LIKE:
            return f"({value} LIKE {argument} ESCAPE '!')"
        return f"{predicate.replace('_', '')}({value}, {argument})"

    def call(self, function: Function, arguments: Sequence[str]) -> str:
        """The function over arguments that have the types it is reckoned in."""
        match function:
            case Function.LOWER:
                return f"translate({arguments[0]}, '{_CAPITALS}', '{_SMALL}')"
            case Function.UPPER:
                return f"translate({arguments[0]}, '{_SMALL}', '{_CAPITALS}')"
        return f"{function}({', '.join(arguments)})"
