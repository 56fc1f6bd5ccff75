"""Rendering of jobs and of deployed graphs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from lakeguard.cli.rendering.tasks import state_mark, tasks_lines
from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    age,
    columns,
    indented,
    moment,
    number,
    strong,
    table,
    toned,
)
from lakeguard.scheduler.graph.store import SHOWN_HASH
from lakeguard.services.plain_text import escaped, plural
from lakeguard.services.unapplied import Unapplied
from lakeguard.worker import Ended, Ending
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.errors import NotDeployed
from lakeguard_sdk.scheduling.jobs import (
    DagVersion,
    Deployed,
    JobControls,
    JobRow,
    Launch,
    Switch,
)
from lakeguard_sdk.scheduling.tasks import TaskRow

_LONGEST = 40


def jobs_lines(rows: Sequence[JobRow], now: datetime) -> list[str]:
    """Sorted by name."""
    cells = [
        [
            strong(row.job),
            _kind(row),
            escaped(row.dataset or "-"),
            _short("; ".join(_starts(row.controls)) or "manually"),
            _standing(row),
            _next(row, now),
            "-" if row.last_state is None else state_mark(row.last_state),
            "-" if row.last_at is None else age(row.last_at, now),
        ]
        for row in rows
    ]
    headers = ("JOB", "TYPE", "DATASET", "STARTS", "", "NEXT", "LAST", "")
    lines = table(headers, cells)
    if any(row.kind is not None and not row.deployed for row in rows):
        lines.append("Next: lakeguard deploy")
    return lines


def no_jobs_lines(found: Unapplied) -> list[str]:
    """No job is applied: lists those the files define, or how to define one."""
    if found.jobs or found.mistakes:
        return ["no jobs are applied", *unapplied_lines(found)]
    return ["no jobs", "Next: write definitions/jobs/NAME.yaml, then: lakeguard apply"]


def job_lines(row: JobRow, tasks: Sequence[TaskRow], now: datetime) -> list[str]:
    """Settings including defaults, and the last tasks."""
    facts = [
        ["type", _kind(row)],
        ["dataset", escaped(row.dataset or "-")],
        ["starts", escaped("; ".join(_starts(row.controls)) or "manually")],
        ["next", _next(row, now)],
        ["switched", "-" if row.switched is None else _switch(row.switched)],
        *_manner(row.controls),
    ]
    shown = [fact for fact in facts if fact[1] not in ("-", "")]
    lines = [f"{strong(row.job)}{GAP}{_standing(row)}", "", *indented(columns(shown)), ""]
    lines += tasks_lines(tasks, now) if tasks else ["it has not been started yet"]
    return [*lines, f"Next: {way_to_start(row) or f'lakeguard jobs trigger {row.job}'}"]


def switch_lines(row: JobRow) -> list[str]:
    lines = [f"{_standing(row)}  {strong(row.job)}"]
    if row.enabled and not row.active:
        lines.append("its definition is inactive: set active: true, then: lakeguard apply")
    return lines


def launch_lines(launched: Launch) -> list[str]:
    """The task of the launch, or why it was refused."""
    name = strong(escaped(launched.job))
    again = "" if launched.new or not launched.task_id else f"{GAP}already started"
    if launched.state is TaskState.BLOCKED:
        mark = toned("✗ REFUSED", Tone.BAD)
        lines = [f"{mark}  {name}{GAP}{launched.code}: {escaped(launched.reason)}{again}"]
        return [*lines, f"Next: {_way_out(launched)}"]
    mark = state_mark(launched.state)
    lines = [f"{mark}  {name}{GAP}{launched.task_id}{again}"]
    if launched.state is TaskState.QUEUED:
        return [*lines, "Next: lakeguard worker"]
    return [*lines, f"Next: lakeguard tasks show {launched.task_id}"]


def _way_out(refused: Launch) -> str:
    if refused.task_id and not refused.new:
        return f"lakeguard tasks retry {refused.task_id}"
    if refused.code == NotDeployed.code:
        return NotDeployed.next_command
    if refused.task_id:
        return f"lakeguard tasks show {refused.task_id}"
    return f"lakeguard jobs show {refused.job}"


def ended_lines(task: TaskRow, ended: Ended) -> list[str]:
    """Result of an attempt that ran in this process."""
    version = "" if ended.version is None else f"{GAP}v{ended.version}"
    lines = [f"{state_mark(task.state)}  {strong(escaped(task.job))}{GAP}{task.task_id}{version}"]
    if ended.ending is Ending.TAKEN:
        lines.append("another worker has it, or its job is at its concurrency limit")
    if ended.error is not None:
        lines.append(f"  {ended.error.code}: {escaped(ended.error.message)}")
    look = f"Next: lakeguard tasks show {task.task_id}"
    if task.state is not TaskState.FAILED or task.due_at is None:
        return [*lines, look]
    lines.append(f"a worker retries it at {moment(task.due_at)}")
    return [*lines, look, f"Next: lakeguard tasks cancel {task.task_id}"]


def _kind(row: JobRow) -> str:
    return toned("no runner", Tone.QUIET) if row.kind is None else row.kind.value


def _standing(row: JobRow) -> str:
    """Whether it can start, else the first reason why not."""
    if not row.active:
        return toned("✗ inactive", Tone.QUIET)
    if not row.enabled:
        return toned("✗ switched off", Tone.WARN)
    if not row.deployed:
        return toned("! not deployed", Tone.WARN)
    return toned("● on", Tone.GOOD)


def _next(row: JobRow, now: datetime) -> str:
    """When its schedule starts it; a time that has passed waits for a dispatcher."""
    if row.next_at is None:
        return "-"
    return moment(row.next_at) if row.next_at > now else f"due since {moment(row.next_at)}"


def _switch(switch: Switch) -> str:
    why = f": {switch.reason}" if switch.reason else ""
    word = "on" if switch.enabled else "off"
    return escaped(f"{word} at {moment(switch.at)} by {switch.by}{why}")


def _starts(controls: JobControls) -> list[str]:
    """One phrase per trigger."""
    triggers = []
    if controls.cron is not None:
        zone = "" if controls.cron.time_zone == "UTC" else f" {controls.cron.time_zone}"
        triggers.append(f"at {controls.cron.schedule}{zone}")
    if controls.updates is not None:
        word = "any of " if controls.updates.any and len(controls.updates.datasets) > 1 else ""
        triggers.append(f"on {word}{', '.join(controls.updates.datasets)}")
    if controls.files:
        triggers.append(f"on files {controls.files}")
    if controls.event is not None:
        triggers.append(f"on events {json.dumps(controls.event, ensure_ascii=False)}")
    if controls.after:
        triggers.append(f"after {', '.join(controls.after)}")
    return triggers


def _manner(controls: JobControls) -> list[list[str]]:
    cron = controls.cron
    return [
        ["catch up", "" if cron is None else cron.catch_up.value],
        ["call", escaped(controls.call)],
        ["url", escaped(controls.url)],
        ["outputs", ", ".join(controls.outputs)],
        ["overlap", controls.overlap.value],
        ["concurrency", f"{controls.concurrency}"],
        ["priority", f"{controls.priority}"],
        ["labels", ", ".join(controls.labels)],
        [
            "attempts",
            "as in the settings" if controls.attempts is None else f"{controls.attempts}",
        ],
        ["timeout", "" if controls.kind is TaskKind.BUILD else f"{controls.timeout_seconds} s"],
    ]


def way_to_start(row: JobRow) -> str:
    """What enables it to start; empty if nothing is missing."""
    if not row.active:
        return "set active: true in its definition, then: lakeguard apply"
    if not row.enabled:
        return f"lakeguard jobs enable {row.job}"
    if not row.deployed:
        return "lakeguard deploy"
    return ""


def _short(text: str) -> str:
    return escaped(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


# Deployed graphs.


def deployed_lines(
    done: Deployed, unapplied: Sequence[str] = (), *, dry_run: bool = False
) -> list[str]:
    """One line per change; unapplied definitions come before the next command."""
    short = _short_hash(done.dag_hash)
    if not done.changed:
        lines = [f"{toned('= UNCHANGED', Tone.GOOD)}  this graph is already active ({short})"]
        return [*lines, *_withdrawn(done), *unapplied]
    lines = [f"  {toned('+', Tone.GOOD)} {escaped(change)}" for change in done.added]
    lines += [f"  {toned('-', Tone.BAD)} {escaped(change)}" for change in done.removed]
    lines += [f"  {toned('~', Tone.WARN)} {escaped(change)}" for change in done.altered]
    if dry_run:
        return [*lines, "nothing was changed", *(unapplied or ["Next: lakeguard deploy"])]
    mark = toned("✓ DEPLOYED", Tone.GOOD)
    lines.append(f"{mark}  {strong(done.dag_version_id)}{GAP}{short}")
    return [*lines, *_withdrawn(done), *(unapplied or ["Next: lakeguard jobs list"])]


def _withdrawn(done: Deployed) -> list[str]:
    """What happened to tasks of newer versions."""
    lines = []
    if done.canceled:
        many, some = plural(len(done.canceled), "task"), ", ".join(done.canceled[:3])
        lines.append(f"{many} of newer versions canceled: {some}{_more(done)}")
    lines += [f"{toned('!', Tone.BAD)} {escaped(problem)}" for problem in done.problems]
    if done.problems:
        lines.append("the dispatcher retries this at each poll")
    return lines


def _more(done: Deployed) -> str:
    left = len(done.canceled) - 3
    return f" and {left:,} more" if left > 0 else ""


def versions_lines(versions: Sequence[DagVersion]) -> list[str]:
    """Newest first."""
    if not versions:
        return ["no graph is deployed yet", "Next: lakeguard deploy"]
    rows = [
        [
            version.dag_version_id,
            _short_hash(version.dag_hash),
            moment(version.created_at),
            number(version.jobs),
            number(version.datasets),
            toned("● active", Tone.GOOD) if version.active else "",
        ]
        for version in versions
    ]
    headers = ("VERSION", "HASH", "MADE", "JOBS", "DATASETS", "")
    lines = table(headers, rows, right=frozenset({3, 4}))
    before = next((version for version in versions if not version.active), None)
    if before is not None:
        lines.append(f"Next: lakeguard deploy --dry-run --to {before.dag_version_id}")
    return lines


def _short_hash(digest: str) -> str:
    return digest.removeprefix("sha256:")[:SHOWN_HASH]


_MOST_NAMED = 5
_LONGEST_MISTAKE = 200


def run_unapplied_lines(found: Unapplied) -> list[str]:
    """That a run uses other definitions than the files have; empty if they are the same."""
    lines = unapplied_lines(found)
    if not lines:
        return []
    way = "To use the files: lakeguard run … --apply"
    if found.mistakes:
        way = "To use the files, correct them: lakeguard validate, then: lakeguard run … --apply"
    return [f"{lines[0]}; this run uses what is applied. {way}"]


def unapplied_lines(found: Unapplied) -> list[str]:
    """One line about unapplied definitions, and the next command; empty if there are none."""
    mark = toned("!", Tone.WARN)
    if found.mistakes:
        many = plural(found.mistakes, "error")
        first = escaped(found.first_mistake[:_LONGEST_MISTAKE])
        named = f" ({first})" if found.mistakes == 1 else f", the first {first}"
        summary = f"{mark} the files have {many}{named}; their changes are not applied"
        return [summary, "Next: lakeguard validate"]
    if not found.definitions:
        return []
    named = ", ".join(map(escaped, found.definitions[:_MOST_NAMED]))
    left = len(found.definitions) - _MOST_NAMED
    more = f" and {left:,} more" if left > 0 else ""
    many = plural(len(found.definitions), "definition")
    verb = "is" if len(found.definitions) == 1 else "are"
    return [
        f"{mark} {many} in the files {verb} not applied: {named}{more}",
        "Next: lakeguard apply, then: lakeguard deploy",
    ]
