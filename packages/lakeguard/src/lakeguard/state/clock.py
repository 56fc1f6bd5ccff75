"""The State's clock: on a server the server's, whatever the machine of a process believes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

_GOOD_FOR_SECONDS = 30.0


def clock_of(engine: Engine) -> Callable[[], datetime]:
    """A file has no clock of its own: there it is that of the machine."""
    if engine.dialect.name == "postgresql":
        return ServerClock(engine)
    return lambda: datetime.now(UTC)


def _ticks() -> float:
    """Seconds that no one sets, and that go on while a machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ServerClock:
    """The server's time, asked for now and then and carried on between by ticks.

    Where it cannot be asked again, the last answer is carried on.
    """

    def __init__(self, engine: Engine, ticks: Callable[[], float] = _ticks) -> None:
        self._engine = engine
        self._ticks = ticks
        self._asking = threading.Lock()
        self._known: tuple[datetime, float] | None = None
        """A moment of the server, and the ticks at which it was."""

    def __call__(self) -> datetime:
        known = self._known
        if known is None or self._ticks() - known[1] > _GOOD_FOR_SECONDS:
            known = self._refreshed(known)
        moment, then = known
        return moment + timedelta(seconds=self._ticks() - then)

    def _refreshed(self, known: tuple[datetime, float] | None) -> tuple[datetime, float]:
        """One thread asks; the others wait only where nothing is known yet."""
        if not self._asking.acquire(blocking=known is None):
            return known or self._asked()
        try:
            self._known = self._asked()
        except (DBAPIError, PoolTimeout):
            if known is None:
                raise
            self._known = (known[0] + timedelta(seconds=self._ticks() - known[1]), self._ticks())
        finally:
            self._asking.release()
        return self._known

    def _asked(self) -> tuple[datetime, float]:
        """The answer is of some moment between the question and its coming: the middle is taken."""
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(select(1))  # a session that has to be made first costs time
            asked = self._ticks()
            moment = connection.scalars(select(func.clock_timestamp())).one()
            came = self._ticks()
        return moment.astimezone(UTC), (asked + came) / 2
