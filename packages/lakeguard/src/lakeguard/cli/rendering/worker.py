"""What a worker says: a line for each attempt begun and ended, and each task that it refused."""

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
    Told,
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
_LOST = "it was ended, or taken over, by others"


@dataclass
class TaskTeller:
    """Lines for people go through ``note``; those for programs are JSON, one object each."""

    as_json: bool
    note: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _begun: dict[str, float] = field(default_factory=dict)

    def __call__(
        self, told: Told, about: Attempt | RefusedTask | None, ended: Ended | None, said: str
    ) -> None:
        if isinstance(about, RefusedTask):
            line, data = refused_line(about), refused_data(about)
        else:
            seconds = self._seconds(told, about)
            line = told_line(told, about, ended, said, seconds)
            data = told_data(told, about, ended, said, seconds)
        if self.as_json:
            click.echo(json.dumps(data))
        else:
            self.note(line)

    def _seconds(self, told: Told, attempt: Attempt | None) -> float | None:
        if attempt is None:
            return None
        run_id = attempt.ticket.run_id
        if told is Told.BEGUN:
            self._begun[run_id] = self.clock()
            return None
        return self.clock() - self._begun.pop(run_id, self.clock())


def refused_line(task: RefusedTask) -> str:
    mark, name = toned(*_MARKS[Ending.BLOCKED]), strong(escaped(task.job or "-"))
    return (
        f"{mark} {name}  refused, {task.task_id}: {task.error.code} {escaped(task.error.message)}"
    )


def refused_data(task: RefusedTask) -> dict[str, object]:
    return {
        "event": Told.REFUSED.value,
        "name": task.job,
        "kind": task.kind.value,
        "task": task.task_id,
        "error": task.error.to_data(),
    }


def told_line(
    told: Told, attempt: Attempt | None, ended: Ended | None, said: str, seconds: float | None
) -> str:
    if told is Told.AWAY:
        return f"the control plane is away, trying on: {escaped(said)}"
    if told is Told.BACK:
        return "the control plane is back"
    if attempt is None:
        return f"stopping; {plural(int(said), 'task')} under way"
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


def told_data(
    told: Told, attempt: Attempt | None, ended: Ended | None, said: str, seconds: float | None
) -> dict[str, object]:
    data: dict[str, object] = {"event": told.value}
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
    return data | ({"message": said} if said else {})


# What a dispatcher says: one line for each turn that did something.

_WORDS = {
    "scheduled": "scheduled",
    "triggered": "triggered",
    "refused": "refused",
    "retried": "queued again",
    "reaped": "left behind and ended",
    "dead": "dead",
    "invalidated": "launched to catch up",
    "told": "told",
    "delivered": "delivered",
}


@dataclass
class TurnTeller:
    """Lines for people go through ``note``; those for programs are JSON, one object each."""

    as_json: bool
    note: Callable[[str], None]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __call__(self, done: Ticked) -> None:
        if _is_idle(done):
            return
        if self.as_json:
            said = {"at": self.clock().isoformat(), **done.to_data()}
            click.echo(json.dumps(said))
            return
        for line in turn_lines(done):
            self.note(f"{moment(self.clock())}  {line}")


def _is_idle(done: Ticked) -> bool:
    """Whether the turn found nothing to do and nothing to say; a file that comes is no news yet."""
    return done == Ticked(settling=done.settling)


def turn_lines(done: Ticked) -> list[str]:
    counts = [
        f"{getattr(done, name):,} {word}" for name, word in _WORDS.items() if getattr(done, name)
    ]
    lines = [", ".join(counts)] if counts else []
    if done.settling:
        lines.append(f"{plural(done.settling, 'new file')}, perhaps still being written")
    return lines + [f"{toned('!', Tone.BAD)} {escaped(said)}" for said in done.problems]
