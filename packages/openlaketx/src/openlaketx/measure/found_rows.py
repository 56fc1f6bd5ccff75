"""Rows that a question finds, for one query to count and another to show."""

from __future__ import annotations

from typing import NamedTuple


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
