"""Aggregates whose SQL differs between engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from openlaketx.measure.sql.dialect import Dialect


class Forms(ABC):
    """Contract for implementers: every expression has the same value in every engine, in UTC and
    with ANSI arithmetic."""

    dialect: Dialect

    @abstractmethod
    def days(self, value: str) -> str:
        """Days since 1970-01-01."""

    @abstractmethod
    def micros(self, value: str) -> str:
        """Microseconds since 1970-01-01; a timestamp without time zone is read as UTC."""

    @abstractmethod
    def whole_sum(self, value: str) -> str:
        """The sum of integers, without overflow."""

    @abstractmethod
    def careful_sum(self, value: str) -> str:
        """The sum of doubles with the least error that the engine offers."""

    @abstractmethod
    def quantile(self, value: str, q: str) -> str:
        """Interpolated quantile of doubles."""

    @abstractmethod
    def is_infinite(self, value: str) -> str:
        """Of a double."""

    def count_where(self, condition: str) -> str:
        """The number of rows for which the condition is TRUE; 0 without rows."""
        return f"count(*) FILTER (WHERE {condition})"

    def text(self, value: str) -> str:
        return self.dialect.cast(value, "string")

    def quoted(self, name: str) -> str:
        return self.dialect.quoted(name)


# Failing rows of a query, to count or to show.


class FoundRows(NamedTuple):
    """Rows of ``source`` for which ``failing`` is TRUE; ``order`` keeps related rows together.

    ``failing`` is a filter outside ``source``: pushed into it, DuckDB would skip row groups by
    statistics that ignore NaN.
    """

    source: str
    failing: str
    order: str = ""

    @property
    def counted(self) -> str:
        return f"SELECT count(*) FILTER (WHERE {self.failing}) FROM {self.source}"  # noqa: S608

    def shown(self, columns: str, most: int) -> str:
        """At most ``most`` rows."""
        order = f" ORDER BY {self.order}" if self.order else ""
        asked = f"CASE WHEN {self.failing} THEN 1 ELSE 0 END = 1"
        return f"SELECT {columns} FROM {self.source} WHERE {asked}{order} LIMIT {most:d}"  # noqa: S608
