"""Heartbeats while a run works, and cancellation when its lease is lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lakeguard_sdk.errors import BadToken, Fenced, LakeGuardError
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.ports import Runs

_HEARTBEATS_PER_LEASE = 4
_MAX_INTERVAL = 30.0
_CANCEL_AGAIN_SECONDS = 1.0


class Lease:
    """Valid until a heartbeat is fenced or the run times out."""

    def __init__(self, interrupted: Callable[[], bool]) -> None:
        self._interrupted = interrupted
        self._lost: LakeGuardError | None = None

    def check(self) -> None:
        """Raises if the lease is lost or the user interrupted; called before any visible effect."""
        if self._lost is not None:
            raise self._lost
        if self._interrupted():
            raise KeyboardInterrupt

    @property
    def is_over(self) -> bool:
        """Whether ``check`` raises."""
        return self._lost is not None or self._interrupted()

    def lose(self, error: LakeGuardError) -> None:
        self._lost = error


class JobCanceller:
    """Cancels the work of a run, in this process and in others; without effect before and after."""

    def __init__(self) -> None:
        self._changing = (
            threading.RLock()
        )  # a signal handler may cancel in the thread that holds the lock
        self._stops: list[Callable[[], None]] = []

    def cancel(self) -> None:
        with self._changing:
            for stop in self._stops:
                stop()

    @contextmanager
    def active(self, stop: Callable[[], None]) -> Iterator[None]:
        """``stop`` is called by ``cancel`` during the block, and never after it."""
        with self._changing:
            self._stops.append(stop)
        try:
            yield
        finally:
            with self._changing:
                self._stops.remove(stop)


@dataclass(frozen=True)
class Limit:
    """Timeout of an attempt, and the error it raises."""

    seconds: float
    over: LakeGuardError


@contextmanager
def hold_lease(
    runs: Runs,
    ticket: RunTicket,
    seconds: float,
    on_loss: Callable[[], None],
    interrupted: Callable[[], bool] = lambda: False,
    limit: Limit | None = None,
) -> Iterator[Lease]:
    """Send heartbeats in the background during the block; on loss, call ``on_loss`` and let
    ``check`` raise."""
    lease = Lease(interrupted)
    done = threading.Event()
    heartbeats = threading.Thread(
        target=_send_heartbeats,
        args=(runs, ticket, seconds, lease, done, on_loss, limit),
        daemon=True,
    )
    heartbeats.start()
    try:
        yield lease
    finally:
        done.set()
        heartbeats.join()


def _send_heartbeats(
    runs: Runs,
    ticket: RunTicket,
    seconds: float,
    lease: Lease,
    done: threading.Event,
    on_loss: Callable[[], None],
    limit: Limit | None,
) -> None:
    left = seconds
    until = float("inf") if limit is None else time.monotonic() + limit.seconds
    while not done.wait(min(left / _HEARTBEATS_PER_LEASE, _MAX_INTERVAL, _seconds_to(until))):
        if limit is not None and time.monotonic() >= until:
            lease.lose(limit.over)
            on_loss()
            break
        try:
            left = runs.heartbeat(ticket)
        except (Fenced, BadToken) as error:  # lost, or the token of its worker was revoked
            lease.lose(error)
            on_loss()
            break
        except (LakeGuardError, OSError):
            left = max(left / 2, 1.0)
    # Spark may start another stage of a cancelled job group: cancel until the block ends.
    while not done.wait(_CANCEL_AGAIN_SECONDS):
        on_loss()


def _seconds_to(moment: float) -> float:
    return max(0.0, moment - time.monotonic())
