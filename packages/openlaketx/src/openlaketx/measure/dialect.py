"""What an engine spells in its own way; the walk over a condition is the same for all."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Dialect(ABC):
    """The implementer's promise: whatever a method returns is TRUE, FALSE, NULL or a value for the
    same rows in every engine, under ANSI, in UTC."""

    @abstractmethod
    def quoted(self, name: str) -> str:
        """A column's name, whatever is in it."""

    @abstractmethod
    def parameter(self, name: str) -> str:
        """The place of a bound parameter; what is bound is always a text."""

    @abstractmethod
    def type_name(self, data_type: str) -> str:
        """The type as the engine declares it."""

    @abstractmethod
    def is_nan(self, value: str) -> str:
        """Of a double or float; NULL for NULL."""

    @abstractmethod
    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern that is anchored at both ends is found."""

    def cast(self, value: str, data_type: str) -> str:
        """Raises, and never wraps or turns into NULL, what the type cannot hold."""
        return f"CAST({value} AS {self.type_name(data_type)})"
