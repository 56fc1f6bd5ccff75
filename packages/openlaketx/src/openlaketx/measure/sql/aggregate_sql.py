"""Aggregates that engines spell in their own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from openlaketx.measure.sql.dialect import Dialect


class Forms(ABC):
    """The implementer's promise: every form comes to the same value in every engine, in UTC, with
    ANSI arithmetic."""

    dialect: Dialect

    @abstractmethod
    def days(self, value: str) -> str:
        """Days from 1970 to a date."""

    @abstractmethod
    def micros(self, value: str) -> str:
        """Microseconds from 1970 to a time; one without a zone is UTC."""

    @abstractmethod
    def whole_sum(self, value: str) -> str:
        """The sum of integers, however large."""

    @abstractmethod
    def careful_sum(self, value: str) -> str:
        """The sum of doubles, as near to the true one as the engine can."""

    @abstractmethod
    def quantile(self, value: str, q: str) -> str:
        """Of doubles, between two of them where it must."""

    @abstractmethod
    def is_infinite(self, value: str) -> str:
        """Of a double."""

    def text(self, value: str) -> str:
        return self.dialect.cast(value, "string")

    def quoted(self, name: str) -> str:
        return self.dialect.quoted(name)


# Rows that a question finds, for one query to count and another to show.


class FoundRows(NamedTuple):
    """Those of ``source`` for which ``failing`` is TRUE; ``order`` keeps together what belongs so.

    ``failing`` is asked behind all of ``source``: before it, DuckDB would leave out whole row
    groups by statistics that know nothing of NaN.
    """

    source: str
    failing: str
    order: str = ""

    @property
    def counted(self) -> str:
        return f"SELECT count(*) FILTER (WHERE {self.failing}) FROM {self.source}"  # noqa: S608

    def shown(self, columns: str, most: int) -> str:
        """At most so many of them."""
        order = f" ORDER BY {self.order}" if self.order else ""
        asked = f"CASE WHEN {self.failing} THEN 1 ELSE 0 END = 1"
        return f"SELECT {columns} FROM {self.source} WHERE {asked}{order} LIMIT {most:d}"  # noqa: S608
