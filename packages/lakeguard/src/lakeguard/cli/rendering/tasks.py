"""Rendering of tasks and their transitions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lakeguard.cli.terminal.layout import (
    Tone,
    age,
    columns,
    indented,
    moment,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.core.enums import CauseKind, TaskState
from lakeguard_sdk.scheduling.tasks import Cause, TaskRow, Transition

_MARKS = {
    TaskState.QUEUED: ("○ queued", Tone.QUIET),
    TaskState.RUNNING: ("▶ running", Tone.WARN),
    TaskState.COMPLETED: ("✓ completed", Tone.GOOD),
    TaskState.FAILED: ("! failed", Tone.BAD),
    TaskState.BLOCKED: ("✗ blocked", Tone.BAD),
    TaskState.CANCELED: ("- canceled", Tone.QUIET),
    TaskState.DEAD: ("✗ dead", Tone.BAD),
}
_RETRIED = (TaskState.FAILED, TaskState.BLOCKED, TaskState.CANCELED, TaskState.DEAD)
_LONGEST = 100


def tasks_lines(rows: Sequence[TaskRow], now: datetime) -> list[str]:
    """Newest first."""
    if not rows:
        return ["no tasks"]
    cells = [
        [
            row.task_id,
            name_of(row),
            _state(row),
            f"{row.attempt}/{row.max_attempts}",
            _lease(row, now),
            _worker(row),
            age(row.created_at, now),
            escaped(_short(row.dead or _reason(row.last) or _cause(row))),
        ]
        for row in rows
    ]
    headers = ("TASK", "JOB", "STATE", "ATTEMPT", "LEASE", "WORKER", "CREATED", "WHY")
    return table(headers, cells)


def task_lines(
    row: TaskRow, transitions: Sequence[Transition], now: datetime, first: str = ""
) -> list[str]:
    """Facts about the task, its transitions, and the next commands; ``first`` is what a retry
    needs before it can succeed."""
    facts = [
        ["kind", row.kind.value],
        ["why", "-" if row.cause is None else escaped(cause_words(row.cause))],
        ["day", "-" if row.day is None else row.day.isoformat()],
        *_values(row),
        ["window", _window(row)],
        ["key", escaped(row.dedupe_key)],
        ["by", escaped(row.triggered_by)],
        ["graph", row.dag_version_id or "-"],
        ["attempts", f"{row.attempt} of {row.max_attempts}"],
        ["priority", f"{row.priority}"],
        ["labels", escaped(", ".join(row.labels)) or "-"],
        ["run", row.run_id or "-"],
        ["worker", _worker(row)],
        ["lease", _lease(row, now)],
        ["dead", escaped(row.dead) or "-"],
        ["due", "-" if row.due_at is None else moment(row.due_at)],
    ]
    shown = [row_of for row_of in facts if row_of[1] != "-"]
    head = f"{strong(row.task_id)}  {strong(name_of(row))}  {_state(row)}"
    way = indented(_way(transitions))
    return [head, "", *indented(columns(shown)), "", *way, *_next(row, first)]


def state_mark(state: TaskState) -> str:
    return toned(*_MARKS[state])


def _state(row: TaskRow) -> str:
    """A running task whose process is gone is dead, before a command that writes ends it."""
    return state_mark(TaskState.DEAD if row.dead else row.state)


def name_of(row: TaskRow) -> str:
    """Its job, else its dataset."""
    return escaped(row.job or row.dataset or "-")


def cause_words(cause: Cause) -> str:
    """Why a task was launched, in one phrase."""
    details = cause.details
    match cause.kind:
        case CauseKind.CRON:
            return f"its schedule, due at {details.get('at', '?')}"
        case CauseKind.UPDATE:
            versions = details.get("versions", {}).items()
            return f"new versions: {', '.join(f'{name} v{number}' for name, number in versions)}"
        case CauseKind.FILES:
            return f"file {details.get('path', '?')} of {details.get('size', '?')} bytes"
        case CauseKind.EVENT:
            kind = f" ({details['type']})" if details.get("type") else ""
            return f"event {details.get('id', '?')} of {details.get('source', '?')}{kind}"
        case CauseKind.AFTER:
            ended = details.get("tasks", {}).items()
            return f"after {', '.join(f'{job} ({task})' for job, task in ended)}"
        case CauseKind.MANUAL:
            return f"started manually by {details.get('by', '?')}"
        case CauseKind.INVALIDATION:
            return f"invalidated: {', '.join(details.get('invalidations', ()))}"


def _values(row: TaskRow) -> list[list[str]]:
    """One line per parameter of the launch."""
    values = [escaped(_short(f"{name}={value}")) for name, value in row.parameters.items()]
    return [["set" if number == 0 else "", text] for number, text in enumerate(values)]


def _window(row: TaskRow) -> str:
    window = row.window
    return "-" if window is None else escaped(f"{window.column} {window.start} to {window.end}")


def _way(transitions: Sequence[Transition]) -> list[str]:
    """One line per transition, connected by a stem; reasons below."""
    cells = [
        [
            f"● {each.to_state}",
            moment(each.at),
            f"attempt {each.attempt}" if each.attempt else "",
            escaped(each.actor),
        ]
        for each in transitions
    ]
    lines = []
    for number, (line, each) in enumerate(zip(columns(cells), transitions, strict=True)):
        stem = "│" if number < len(transitions) - 1 else " "
        lines += [line, *_why(each, stem), *([stem] if stem.strip() else [])]
    return lines


def _why(each: Transition, stem: str) -> list[str]:
    reason = " ".join(filter(None, (each.code, each.message)))
    return [f"{stem}   {escaped(reason)}"] if reason else []


def _next(row: TaskRow, first: str) -> list[str]:
    before = f"{first}, then: " if first else ""
    ways = [f"{before}lakeguard tasks retry {row.task_id}"] if row.state in _RETRIED else []
    ways += [f"lakeguard tasks cancel {row.task_id}"] if row.is_under_way else []
    return ["", *(f"Next: {way}" for way in ways)] if ways else []


def _lease(row: TaskRow, now: datetime) -> str:
    """Remaining lease of the attempt."""
    if row.state is not TaskState.RUNNING or row.lease_expires_at is None:
        return "-"
    left = (row.lease_expires_at - now).total_seconds()
    return f"{left:.0f} s left" if left > 0 else toned("expired", Tone.BAD)


def _worker(row: TaskRow) -> str:
    return "-" if row.worker is None else escaped(f"{row.worker.host}:{row.worker.pid}")


def _reason(last: Transition | None) -> str:
    """Why it is in its state; empty if that needs no reason."""
    return "" if last is None else " ".join(filter(None, (last.code, last.message)))


def _cause(row: TaskRow) -> str:
    """Why there is such a task."""
    return f"started by {row.triggered_by}" if row.cause is None else cause_words(row.cause)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
