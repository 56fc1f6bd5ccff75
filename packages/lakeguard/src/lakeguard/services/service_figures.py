"""Metrics of one organisation, read at each scrape."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock

from sqlalchemy import func, select

from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import outbox, run_history, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.errors import Fenced, StateError
from lakeguard_sdk.ports import Reader

UNDER_WAY = (TaskState.QUEUED, TaskState.RUNNING)


@dataclass(frozen=True)
class ServiceFigures:
    """Ages are in seconds; 0 if nothing is waiting."""

    runs: dict[str, int]
    """Runs that ended since the process began to count, by status."""
    lost_leases: int
    """How many of those runs ended because they lost their lease or their process died."""
    tasks: dict[str, int]
    expired_leases: int
    """Running tasks whose lease has expired, and that were not reaped yet."""
    queue_age: float
    outbox_rows: int
    outbox_age: float
    quarantined: dict[str, int]
    """Rows that wait, by dataset."""
    published_age: dict[str, float]
    """Since the version that readers see was published, by dataset."""


@dataclass
class FigureSource:
    """Counts runs incrementally, so that no scrape reads all of them: since ``begin``, or since the
    first scrape if the State was unavailable then."""

    state: OrganisationState
    reader: Reader
    _runs: Counter[str] = field(default_factory=Counter)
    _lost: int = 0
    _counted: int | None = None
    _lock: Lock = field(default_factory=Lock)

    def begin(self) -> None:
        with self._lock, suppress(StateError), self.state.read() as tx:
            self._count_runs(tx)

    def __call__(self) -> ServiceFigures:
        with self._lock, self.state.read() as tx:
            now = tx.now()
            self._count_runs(tx)
            counts, queue_age = _tasks(tx, now)
            rows, first = tx.execute(
                select(func.count(), func.min(outbox.c.created_at)).where(
                    outbox.c.org_id == tx.org_id
                )
            ).one()
            runs, lost = {each.value: self._runs[each.value] for each in RunStatus}, self._lost
            expired = _expired(tx, now)
        status = self.reader.status()
        return ServiceFigures(
            runs=runs,
            lost_leases=lost,
            tasks=counts,
            expired_leases=expired,
            queue_age=queue_age,
            outbox_rows=rows,
            outbox_age=_age(first, now),
            quarantined={str(row.dataset.dataset_name): row.quarantined for row in status},
            published_age={
                str(row.dataset.dataset_name): _age(row.published_at, now)
                for row in status
                if row.published_at is not None
            },
        )

    def _count_runs(self, tx: Transaction) -> None:
        known = run_history.c
        of_us = known.org_id == tx.org_id
        last = tx.scalar(select(func.max(known.ordinal)).where(of_us)) or 0
        if self._counted is not None and last > self._counted:
            new = select(known.status, known.error_code, func.count()).where(
                of_us, known.ordinal > self._counted, known.ordinal <= last
            )
            for status, code, count in tx.execute(new.group_by(known.status, known.error_code)):
                self._runs[status] += count
                self._lost += count if code == Fenced.code else 0
        self._counted = last


def _tasks(tx: Transaction, now: datetime) -> tuple[dict[str, int], float]:
    known = tasks.c
    asked = select(known.state, func.count(), func.min(known.created_at)).where(
        known.org_id == tx.org_id, known.state.in_([state.value for state in UNDER_WAY])
    )
    found = {
        state: (count, first) for state, count, first in tx.execute(asked.group_by(known.state))
    }
    counts = {state.value: found.get(state.value, (0, None))[0] for state in UNDER_WAY}
    return counts, _age(found.get(TaskState.QUEUED.value, (0, None))[1], now)


def _expired(tx: Transaction, now: datetime) -> int:
    known = tasks.c
    return (
        tx.scalar(
            select(func.count()).where(
                known.org_id == tx.org_id,
                known.state == TaskState.RUNNING.value,
                known.lease_expires_at <= now,
            )
        )
        or 0
    )


def _age(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else max(0.0, (now - moment).total_seconds())
