"""Heartbeat: renews the leases of all attempts of a worker in one call."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from lakeguard.worker.attempt import Attempt
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.scheduling.tasks import Dispatch

_log = logging.getLogger(__name__)
_BEATS_PER_LEASE = 4
_LOOK_SECONDS = 1.0


@contextmanager
def heartbeats(
    dispatch: Dispatch, held: Callable[[], Sequence[Attempt]], heartbeat_seconds: float
) -> Iterator[None]:
    """Sends heartbeats in the background while the block runs; an unexpected error is logged once,
    until it changes."""
    done = threading.Event()

    def beat() -> None:
        pause, known = _LOOK_SECONDS, ""
        while not done.wait(pause):
            try:
                pause, known = renew_leases(dispatch, held(), heartbeat_seconds), ""
            except Exception as error:  # noqa: BLE001 - without heartbeats all leases expire
                if repr(error) != known:
                    _log.error("could not renew leases, retrying", exc_info=error)
                pause, known = _LOOK_SECONDS, repr(error)

    beating = threading.Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        done.set()
        beating.join(_LOOK_SECONDS)  # do not wait for a call that hangs


def renew_leases(
    dispatch: Dispatch, attempts: Sequence[Attempt], heartbeat_seconds: float
) -> float:
    """Seconds until the next heartbeat. Attempts unknown to the dispatcher are marked lost; if the
    call fails, it is retried soon."""
    if not attempts:
        return _LOOK_SECONDS
    shortest = min(attempt.assignment.lease_seconds for attempt in attempts)
    try:
        renewed = dispatch.keep([attempt.ticket for attempt in attempts])
    except (LakeGuardError, OSError):
        return min(_LOOK_SECONDS, shortest / _BEATS_PER_LEASE)
    for attempt in attempts:
        if attempt.ticket.run_id not in renewed:
            attempt.lose()
    return min(heartbeat_seconds, shortest / _BEATS_PER_LEASE)
