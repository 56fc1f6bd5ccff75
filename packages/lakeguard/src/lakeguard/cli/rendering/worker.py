"""Log lines of a worker and of a dispatcher."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import click

from lakeguard.cli.terminal.layout import (
    Tone,
    moment,
    strong,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard.worker import (
    Attempt,
    Ended,
    Ending,
    WorkerEvent,
)
from lakeguard_sdk.scheduling.jobs import Ticked
from lakeguard_sdk.scheduling.tasks import RefusedTask

_MARKS = {
    Ending.SUCCEEDED: ("✓", Tone.GOOD),
    Ending.HANDED_OVER: ("→", Tone.GOOD),
    Ending.TAKEN: ("-", Tone.QUIET),
    Ending.BLOCKED: ("✗", Tone.BAD),
    Ending.FAILED: ("!", Tone.BAD),
}
_LOST = "another process ended it or took it over"


@dataclass
class WorkerPrinter:
    """Text lines go to ``note``; with ``as_json``, one JSON object per line to standard output."""

    as_json: bool
    note: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _started: dict[str, float] = field(default_factory=dict)

    def __call__(
        self,
        event: WorkerEvent,
        about: Attempt | RefusedTask | None,
        ended: Ended | None,
        message: str,
    ) -> None:
        if isinstance(about, RefusedTask):
            line, data = refused_line(about), refused_data(about)
        else:
            seconds = self._seconds(event, about)
            line = event_line(event, about, ended, message, seconds)
            data = event_data(event, about, ended, message, seconds)
        if self.as_json:
            click.echo(json.dumps(data))
        else:
            self.note(line)

    def _seconds(self, event: WorkerEvent, attempt: Attempt | None) -> float | None:
        if attempt is None:
            return None
        run_id = attempt.ticket.run_id
        if event is WorkerEvent.BEGUN:
            self._started[run_id] = self.clock()
            return None
        return self.clock() - self._started.pop(run_id, self.clock())


def refused_line(task: RefusedTask) -> str:
    mark, name = toned(*_MARKS[Ending.BLOCKED]), strong(escaped(task.job or "-"))
    return (
        f"{mark} {name}  refused, {task.task_id}: {task.error.code} {escaped(task.error.message)}"
    )


def refused_data(task: RefusedTask) -> dict[str, object]:
    return {
        "event": WorkerEvent.REFUSED.value,
        "name": task.job,
        "kind": task.kind.value,
        "task": task.task_id,
        "error": task.error.to_data(),
    }


def event_line(
    event: WorkerEvent,
    attempt: Attempt | None,
    ended: Ended | None,
    message: str,
    seconds: float | None,
) -> str:
    if event is WorkerEvent.AWAY:
        return f"control plane unavailable, retrying: {escaped(message)}"
    if event is WorkerEvent.BACK:
        return "control plane available again"
    if attempt is None:
        return f"stopping; {plural(int(message), 'task')} running"
    name, ticket = strong(escaped(attempt.name)), attempt.ticket
    if ended is None:
        kind = attempt.assignment.kind
        return f"▶ {name}  {kind}, attempt {ticket.attempt} of {ticket.task_id}"
    version = "" if ended.version is None else f" as v{ended.version}"
    if ended.ending is Ending.TAKEN and ended.error is None:
        return f"{toned(*_MARKS[ended.ending])} {name}  lost after {seconds or 0:.1f} s: {_LOST}"
    error = "" if ended.error is None else f": {ended.error.code} {escaped(ended.error.message)}"
    mark = toned(*_MARKS[ended.ending])
    word = "lost" if ended.ending is Ending.TAKEN else ended.ending.value
    return f"{mark} {name}  {word}{version} in {seconds or 0:.1f} s{error}"


def event_data(
    event: WorkerEvent,
    attempt: Attempt | None,
    ended: Ended | None,
    message: str,
    seconds: float | None,
) -> dict[str, object]:
    data: dict[str, object] = {"event": event.value}
    if attempt is not None:
        ticket = attempt.ticket
        data |= {
            "name": attempt.name,
            "kind": attempt.assignment.kind.value,
            "task": ticket.task_id,
            "run": ticket.run_id,
            "attempt": ticket.attempt,
        }
    if ended is not None:
        error = None if ended.error is None else ended.error.to_data()
        data |= {"ending": ended.ending.value, "version": ended.version, "error": error}
        data |= {"seconds": round(seconds or 0, 3)}
    return data | ({"message": message} if message else {})


# Dispatcher: one line per tick that did something.

_WORDS = {
    "scheduled": "scheduled",
    "triggered": "triggered",
    "refused": "refused",
    "retried": "retried",
    "reaped": "reaped",
    "dead": "dead",
    "invalidated": "launched to catch up",
    "notified": "sent",
    "delivered": "delivered",
}


@dataclass
class TickPrinter:
    """Text lines go to ``note``; with ``as_json``, one JSON object per line to standard output."""

    as_json: bool
    note: Callable[[str], None]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __call__(self, done: Ticked) -> None:
        if _is_idle(done):
            return
        if self.as_json:
            message = {"at": self.clock().isoformat(), **done.to_data()}
            click.echo(json.dumps(message))
            return
        for line in tick_lines(done):
            self.note(f"{moment(self.clock())}  {line}")


def _is_idle(done: Ticked) -> bool:
    """Whether the tick did nothing; a file still settling does not count."""
    return done == Ticked(settling=done.settling)


def tick_lines(done: Ticked) -> list[str]:
    counts = [
        f"{getattr(done, name):,} {word}" for name, word in _WORDS.items() if getattr(done, name)
    ]
    lines = [", ".join(counts)] if counts else []
    if done.settling:
        lines.append(f"{plural(done.settling, 'new file')}, possibly still being written")
    return lines + [f"{toned('!', Tone.BAD)} {escaped(message)}" for message in done.problems]
