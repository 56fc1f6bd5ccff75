"""Doing a transaction again that the database threw away. The one place where this is done."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from lakeguard_sdk.backoff import Backoff

T = TypeVar("T")

_THROWN_AWAY = frozenset({"40001", "40P01"})
"""A serialisation failure, a lost deadlock: nothing of the transaction is left."""
_TIMES = 8
_BACKOFF = Backoff(first=0.005, longest=1.0)


def transact(
    engine: Engine, work: Callable[[Connection], T], sleep: Callable[[float], object] = time.sleep
) -> T:
    """What ``work`` answers; it is called once for each transaction that was thrown away.

    A session that is lost while its commit is under way may have committed: that is not repeated.
    """
    for pause in _pauses():
        try:
            return _once(engine, work)
        except _Again:
            sleep(pause)
    with engine.begin() as connection:
        return work(connection)


class _Again(Exception):
    pass


def _once(engine: Engine, work: Callable[[Connection], T]) -> T:
    committing = False
    try:
        with engine.begin() as connection:
            answer = work(connection)
            committing = True
        return answer
    except DBAPIError as error:
        thrown_away = getattr(error.orig, "sqlstate", None) in _THROWN_AWAY
        lost_before = error.connection_invalidated and not committing
        if thrown_away or lost_before:
            raise _Again from error
        raise


def _pauses() -> Iterator[float]:
    """Doubling, and by chance: who met once should not meet again."""
    for longest in islice(_BACKOFF.delays(), _TIMES - 1):
        yield longest * random.random()  # noqa: S311 - spreads load
