"""An engine with a time limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from openlaketx.measure.runner import MeasuringEngine, Relation
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.time_limit import TimeLimit

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class TimedEngine:
    """Raises ``TimeLimitExceeded`` before or after a query once the time is up.

    A query is bound with the parameters of its conditions and of every relation it reads.
    """

    engine: MeasuringEngine
    limit: TimeLimit

    def rows(self, query: str, sql: ConditionSql, read: Sequence[Relation]) -> Rows:
        self.limit.check()
        try:
            return self.engine.rows(query, _bound(sql, read))
        finally:
            self.limit.check()

    def batches(
        self, query: str, sql: ConditionSql, read: Sequence[Relation]
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Yields rows in batches and checks the time limit after each."""
        self.limit.check()
        for found in self.engine.batches(query, _bound(sql, read)):
            yield found
            self.limit.check()


def _bound(sql: ConditionSql, read: Sequence[Relation]) -> dict[str, Any]:
    bound: dict[str, Any] = dict(sql.parameters)
    for relation in read:
        bound |= relation.parameters
    return bound
