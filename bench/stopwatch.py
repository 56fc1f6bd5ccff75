"""Where the time of a run goes: laps between what it tells and the points it reaches."""

from __future__ import annotations

import time
from typing import Any

from lakeguard_sdk.storage import fault_points

_BEGINS = {"extract": "extract", "schema": "schema", "stage": "stage", "measure": "measure"}
_AFTER = {"stage.written": "rest", "intent.recorded": "commit", "publish.synced": "complete"}


class Laps:
    """One lap runs at a time; each begins where the one before it ends."""

    def __init__(self) -> None:
        self._spent: dict[str, float] = {}
        self._lap = "open"
        self._since = 0.0
        self._begun = 0.0
        fault_points.listen(self._reached)

    def start(self) -> None:
        self._spent = {}
        self._lap = "open"
        self._begun = self._since = time.perf_counter()

    def stop(self) -> float:
        self._next("idle")
        return self._since - self._begun

    def report(self, stage: str, facts: dict[str, Any]) -> None:
        self._next(_BEGINS.get(stage, stage))

    def seconds(self, *laps: str) -> float:
        return sum(self._spent.get(lap, 0.0) for lap in laps)

    def _reached(self, point: str) -> None:
        if point in _AFTER:
            self._next(_AFTER[point])

    def _next(self, lap: str) -> None:
        now = time.perf_counter()
        self._spent[self._lap] = self._spent.get(self._lap, 0.0) + now - self._since
        self._lap, self._since = lap, now
