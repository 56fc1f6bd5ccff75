"""The State's clock: the database server's time, or the machine's for SQLite."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

CLOCK_SLACK = timedelta(minutes=1)
"""A recorded time that is further in the future was recorded by a clock that was ahead."""
_GOOD_FOR_SECONDS = 30.0


def machine_clock() -> datetime:
    """SQLite has no server clock, so this is the machine's."""
    return datetime.now(UTC)


def ticks() -> float:
    """Monotonic seconds, including suspend time where the system offers them; elsewhere the
    server is queried again soon after."""
    boot: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boot is None else time.clock_gettime(boot)


class ServerClock:
    """The server's time, queried now and then and extrapolated by a monotonic clock in between.

    If the server is unreachable, the last reading is extrapolated. It is read inside transactions,
    so ``engine`` must not wait for a connection that one of them holds.
    """

    def __init__(self, engine: Engine, ticks: Callable[[], float] = ticks) -> None:
        self._engine = engine
        self._ticks = ticks
        self._asking = threading.Lock()
        self._known: tuple[datetime, float] | None = None
        """A server time and the monotonic time at which it was read."""

    def __call__(self) -> datetime:
        known = self._known
        if known is None or self._ticks() - known[1] > _GOOD_FOR_SECONDS:
            known = self._refreshed(known)
        moment, then = known
        return moment + timedelta(seconds=self._ticks() - then)

    def _refreshed(self, known: tuple[datetime, float] | None) -> tuple[datetime, float]:
        """One thread queries; others wait only for the first reading."""
        if known is not None and not self._asking.acquire(blocking=False):
            return known
        if known is None:
            self._asking.acquire()
        try:
            if self._known is known or self._known is None:
                self._known = self._asked_or_carried(known)
            return self._known
        finally:
            self._asking.release()

    def _asked_or_carried(self, known: tuple[datetime, float] | None) -> tuple[datetime, float]:
        try:
            return self._asked()
        except (DBAPIError, PoolTimeout):
            if known is None:
                raise
            now = self._ticks()
            return known[0] + timedelta(seconds=now - known[1]), now

    def _asked(self) -> tuple[datetime, float]:
        """Query the server; its answer is dated to the middle of the round trip."""
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(select(1))  # connect first, so that connection time is not measured
            asked = self._ticks()
            moment = connection.scalars(select(func.clock_timestamp())).one()
            came = self._ticks()
        return moment.astimezone(UTC), (asked + came) / 2
