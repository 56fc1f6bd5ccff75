"""Calls of the run port while the control plane is unavailable."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from lakeguard_sdk.api.operation import Effect
from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.backoff import Backoff, Chance, rest, resting_until
from lakeguard_sdk.client import Progress
from lakeguard_sdk.errors import (
    BadToken,
    Fenced,
    LakeGuardError,
    RateLimited,
    ServiceBusy,
    StateError,
)
from lakeguard_sdk.model.run import RunPlan, RunTicket
from lakeguard_sdk.model.table_operations import AdoptionPlan, CompactionPlan
from lakeguard_sdk.ports import Runs

_LOG = logging.getLogger(__name__)
BACKOFF = Backoff(first=0.5, longest=10.0)
LEASE_SECONDS = 120.0
"""Of an attempt whose lease is not known yet."""
_MOST_LEASES = 1_000
_HEARTBEAT = "heartbeat"


@cache
def repeated_calls() -> frozenset[str]:
    """Idempotent calls of the run port. Heartbeats have their own loop."""
    effects = (Effect.SAFE, Effect.IDEMPOTENT)
    found = (each for each in OPERATIONS if each.port == "runs" and each.effect in effects)
    return frozenset(each.method for each in found) - {_HEARTBEAT}


def is_outage(error: LakeGuardError) -> bool:
    """Whether the same call may succeed once the control plane is back."""
    return error.retryable and isinstance(error, (StateError, RateLimited, ServiceBusy))


class Outage:
    """Reports an outage once, however many calls wait for its end. Thread-safe."""

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress
        self._changing = threading.Lock()
        self._is_known = False

    def begin(self) -> None:
        with self._changing:
            known, self._is_known = self._is_known, True
        if known:
            return
        if self._progress is not None:
            self._progress("unavailable", {})
        else:
            _LOG.warning("Control plane unavailable; retrying.")

    def end(self) -> None:
        with self._changing:
            self._is_known = False


@dataclass(frozen=True)
class PersistentRuns:
    """Repeats idempotent calls while the control plane is unavailable and the lease of the attempt
    can still hold, unless the run is stopped. Then the first error is raised.

    Over HTTP and in the project folder alike. Thread-safe.
    """

    runs: Runs
    is_stopped: Callable[[], bool]
    outage: Outage = field(default_factory=Outage)
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = rest
    chance: Chance = random.random
    _leases: dict[str, float] = field(default_factory=dict, repr=False)
    """When the lease ends at the latest, by run."""

    def __getattr__(self, method: str) -> Callable[..., Any]:
        call = getattr(self.runs, method)
        if method == _HEARTBEAT:
            return partial(self._beaten, call)
        return partial(self._repeated if method in repeated_calls() else self._once, call)

    def _beaten(self, call: Callable[..., float], ticket: RunTicket) -> float:
        at = self.clock()
        try:
            left = call(ticket)
        except (Fenced, BadToken):
            self._leases[ticket.run_id] = at
            raise
        self._leases[ticket.run_id] = at + left
        return left

    def _once(self, call: Callable[..., Any], *args: Any, **fields: Any) -> Any:
        at = self.clock()
        answer = call(*args, **fields)
        self._note(answer, at)
        return answer

    def _repeated(self, call: Callable[..., Any], *args: Any, **fields: Any) -> Any:
        started, first = self.clock(), None
        for pause in BACKOFF.jittered(self.chance):
            try:
                with resting_until(self.is_stopped):
                    answer = self._once(call, *args, **fields)
            except LakeGuardError as error:
                if not is_outage(error):
                    raise
                first = first or error
                wait = max(pause, error.retry_after)
                ends_at = self._ends_at(started, args, fields)
                if self.is_stopped() or self.clock() + wait >= ends_at:
                    raise first from None
            else:
                if first is not None:
                    self.outage.end()
                return answer
            self.outage.begin()
            with resting_until(self.is_stopped):
                self.sleep(wait)
        raise AssertionError("delays never end")

    def _ends_at(self, started: float, args: tuple[Any, ...], fields: dict[str, Any]) -> float:
        ticket: RunTicket = args[0] if args else fields["ticket"]
        return self._leases.get(ticket.run_id, started + LEASE_SECONDS)

    def _note(self, answer: Any, at: float) -> None:
        plan = answer.run if isinstance(answer, AdoptionPlan) else answer
        if isinstance(plan, (RunPlan, CompactionPlan)):
            while len(self._leases) >= _MOST_LEASES:
                self._leases.pop(next(iter(self._leases)), None)
            self._leases[plan.ticket.run_id] = at + plan.lease_seconds
