"""Running many datasets: parents first, some side by side, a failure kept to its descendants."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from enum import StrEnum
from queue import Empty, SimpleQueue
from threading import Thread

from lakeguard.cli.failures import failure_data
from lakeguard.dispatch.schedule import Schedule
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import Failure, RunResult
from lakeguard_sdk.words import RunStatus

_LOOK_EVERY = 0.2
"""Seconds; a signal that another thread got is heeded no later."""


_STOP_EVERY = 2.0
"""Seconds; an engine may have begun a new piece of work while it was told to stop the last."""


class Outcome(StrEnum):
    PROMOTED = "PROMOTED"
    UNCHANGED = "UNCHANGED"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"
    NOT_RUN = "NOT_RUN"


WELL = (Outcome.PROMOTED, Outcome.UNCHANGED)


class Ended(Noun):
    """What became of one dataset: its run's result, or why there is none."""

    dataset: DatasetName
    result: RunResult | None = None
    error: Failure | None = None
    """Where the run ended without a result."""
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
    tell: Callable[[Ended], None] = lambda _: None,
) -> list[Ended]:
    """All that could run, at most ``jobs`` at once; the others say what they wait for.

    ``run`` is called in threads. On Ctrl-C ``stop`` must make every call of it end; it is called
    until they have, and only then is the interrupt raised. A second Ctrl-C waits for nobody.
    """
    schedule, found = Schedule(parents), dict[DatasetName, Ended]()
    over: SimpleQueue[Ended] = SimpleQueue()
    threads: list[Thread] = []
    try:
        while True:
            for name in schedule.ready(jobs):
                schedule = schedule.started(name)
                thread = Thread(target=_one, args=(run, name, over), daemon=True)
                thread.start()
                threads.append(thread)
            if not schedule.running:
                break
            ended = _next(over)
            found[ended.dataset] = ended
            schedule = schedule.ended(ended.dataset, well=ended.outcome in WELL)
            tell(ended)
    except KeyboardInterrupt:
        while alive := [thread for thread in threads if thread.is_alive()]:
            stop()
            alive[0].join(_STOP_EVERY)
        raise
    held = {name: Ended(dataset=name, waits_for=why) for name, why in schedule.held().items()}
    return [(found | held)[name] for name in _as_run(parents)]


def _as_run(parents: Mapping[DatasetName, Collection[DatasetName]]) -> list[DatasetName]:
    """The order in which one job would run them."""
    schedule, order = Schedule(parents), list[DatasetName]()
    while ready := schedule.ready(1):
        order += ready
        schedule = schedule.started(ready[0]).ended(ready[0], well=True)
    return order


def _next(over: SimpleQueue[Ended]) -> Ended:
    while True:
        with suppress(Empty):
            return over.get(timeout=_LOOK_EVERY)


def _one(run: Run, name: DatasetName, over: SimpleQueue[Ended]) -> None:
    """Whatever happens in the thread, somebody is told that it is over."""
    began = time.monotonic()
    result, error = None, None
    try:
        result = run(name)
    except BaseException as problem:  # noqa: BLE001 - a thread has no one above it to catch it
        data = failure_data(problem)
        error = Failure(code=str(data["code"]), message=str(data["message"]))
    seconds = round(time.monotonic() - began, 3)
    over.put(Ended(dataset=name, result=result, error=error, seconds=seconds))
