"""Run several datasets: parents first, in parallel, failures stop only descendants."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Thread

from lakeguard.dispatch.schedule import Schedule
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import Failure, RunResult

_POLL_SECONDS = 0.2
"""Poll interval, so that signals are handled."""


_STOP_SECONDS = 2.0
"""Repeat interval of ``stop``: the engine may have started new work meanwhile."""


class Outcome(StrEnum):
    PROMOTED = "PROMOTED"
    UNCHANGED = "UNCHANGED"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"
    NOT_RUN = "NOT_RUN"


WELL = (Outcome.PROMOTED, Outcome.UNCHANGED)


class Ended(FrozenModel):
    """Result of one dataset's run, or why there is none."""

    dataset: DatasetName
    result: RunResult | None = None
    error: Failure | None = None
    """Set if the run raised instead of returning a result."""
    waits_for: tuple[DatasetName, ...] = ()
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        if self.result is None:
            return Outcome.NOT_RUN if self.waits_for else Outcome.FAILED
        if self.result.status is RunStatus.SUCCESS:
            return Outcome.UNCHANGED if self.result.version is None else Outcome.PROMOTED
        return Outcome(self.result.status.value)


Run = Callable[[DatasetName], RunResult]


def run_many(
    parents: Mapping[DatasetName, Collection[DatasetName]],
    run: Run,
    *,
    jobs: int,
    stop: Callable[[], None],
    on_end: Callable[[Ended], None] = lambda _: None,
    after: Mapping[DatasetName, Collection[DatasetName]] | None = None,
) -> list[Ended]:
    """Runs what it can, at most ``jobs`` at once; datasets not run list what they wait for.

    ``after`` orders datasets without making them depend on each other's success.
    ``run`` is called in threads. On Ctrl-C ``stop`` is called until every call has ended, and only
    then is the interrupt raised. A second Ctrl-C does not wait.
    """
    began, found = Schedule(parents, after or {}), dict[DatasetName, Ended]()
    schedule = began
    pool = _ThreadPool(run, min(jobs, len(parents)))
    try:
        while True:
            for name in schedule.ready(jobs):
                schedule = schedule.started(name)
                pool.submit(name)
            if not schedule.running:
                break
            ended = pool.next_end()
            found[ended.dataset] = ended
            schedule = schedule.ended(ended.dataset, well=ended.outcome in WELL)
            on_end(ended)
    except KeyboardInterrupt:
        pool.shut_down(stop)
        raise
    pool.shut_down(lambda: None)
    held = {name: Ended(dataset=name, waits_for=why) for name, why in schedule.held().items()}
    return [(found | held)[name] for name in _as_run(began)]


def _as_run(schedule: Schedule) -> list[DatasetName]:
    """Sequential order."""
    order = list[DatasetName]()
    while ready := schedule.ready(1):
        order += ready
        schedule = schedule.started(ready[0]).ended(ready[0], well=True)
    return order


class _ThreadPool:
    """Thread pool, started before the first run so that no interrupt hits a thread start."""

    def __init__(self, run: Run, size: int) -> None:
        self._run = run
        self._waiting: SimpleQueue[DatasetName | None] = SimpleQueue()
        self._over: SimpleQueue[Ended] = SimpleQueue()
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(size)]
        for thread in self._threads:
            thread.start()

    def submit(self, name: DatasetName) -> None:
        self._waiting.put(name)

    def next_end(self) -> Ended:
        while True:
            with suppress(Empty):
                return self._over.get(timeout=_POLL_SECONDS)

    def shut_down(self, stop: Callable[[], None]) -> None:
        """Waits for all threads, calling ``stop`` until they have ended."""
        for _ in self._threads:
            self._waiting.put(None)
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            stop()
            alive[0].join(_STOP_SECONDS)

    def _work(self) -> None:
        while (name := self._waiting.get()) is not None:
            self._over.put(self._ended(name))

    def _ended(self, name: DatasetName) -> Ended:
        """Always produces a result, whatever the thread raises."""
        began = time.monotonic()
        result, error = None, None
        try:
            result = self._run(name)
        except BaseException as problem:  # noqa: BLE001 - nothing above a thread catches it
            error = _failure(problem)
        seconds = round(time.monotonic() - began, 3)
        return Ended(dataset=name, result=result, error=error, seconds=seconds)


def _failure(problem: BaseException) -> Failure:
    if isinstance(problem, LakeGuardError):
        return Failure(code=problem.code, message=str(problem))
    return Failure(code=LakeGuardError.code, message=f"{type(problem).__name__}: {problem}")
