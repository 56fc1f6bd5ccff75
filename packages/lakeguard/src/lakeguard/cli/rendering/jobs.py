"""Jobs as people read them: what starts each, whether it may start, and how it went."""

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
    """In the order of their names."""
    cells = [
        [
            strong(row.job),
            _kind(row),
            escaped(row.dataset or "-"),
            _short("; ".join(_starts(row.controls)) or "by hand"),
            _standing(row),
            "-" if row.next_at is None else moment(row.next_at),
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
    """Where none is applied: those that the files define, or how to define one."""
    if found.jobs or found.mistakes:
        return ["no jobs are applied", *unapplied_lines(found)]
    return ["no jobs", "Next: write definitions/jobs/NAME.yaml, then: lakeguard apply"]


def job_lines(row: JobRow, tasks: Sequence[TaskRow], now: datetime) -> list[str]:
    """What is set, with every default, and what became of it last."""
    facts = [
        ["type", _kind(row)],
        ["dataset", escaped(row.dataset or "-")],
        ["starts", escaped("; ".join(_starts(row.controls)) or "by hand")],
        ["next", "-" if row.next_at is None else moment(row.next_at)],
        ["switched", "-" if row.switched is None else _switch(row.switched)],
        *_manner(row.controls),
    ]
    said = [fact for fact in facts if fact[1] not in ("-", "")]
    lines = [f"{strong(row.job)}{GAP}{_standing(row)}", "", *indented(columns(said)), ""]
    lines += tasks_lines(tasks, now) if tasks else ["it has not been started yet"]
    return [*lines, f"Next: {way_to_start(row) or f'lakeguard jobs trigger {row.job}'}"]


def switch_lines(row: JobRow) -> list[str]:
    lines = [f"{_standing(row)}  {strong(row.job)}"]
    if row.enabled and not row.active:
        lines.append("its definition still says no: set active: true, then: lakeguard apply")
    return lines


def launch_lines(launched: Launch) -> list[str]:
    """The task that the wish came to, or why there is none."""
    name = strong(escaped(launched.job))
    again = "" if launched.new or not launched.task_id else f"{GAP}the same was started before"
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
    """How an attempt ended that was run here."""
    version = "" if ended.version is None else f"{GAP}v{ended.version}"
    lines = [f"{state_mark(task.state)}  {strong(escaped(task.job))}{GAP}{task.task_id}{version}"]
    if ended.ending is Ending.TAKEN:
        lines.append("somebody else has it, or as many of its tasks run as its settings allow")
    if ended.error is not None:
        lines.append(f"  {ended.error.code}: {escaped(ended.error.message)}")
    look = f"Next: lakeguard tasks show {task.task_id}"
    if task.state is not TaskState.FAILED or task.due_at is None:
        return [*lines, look]
    lines.append(f"it is due again at {moment(task.due_at)}, for a worker")
    return [*lines, look, f"Next: lakeguard tasks cancel {task.task_id}"]


def _kind(row: JobRow) -> str:
    return toned("nothing runs it", Tone.QUIET) if row.kind is None else row.kind.value


def _standing(row: JobRow) -> str:
    """The first reason for which it would not start."""
    if not row.active:
        return toned("✗ inactive", Tone.QUIET)
    if not row.enabled:
        return toned("✗ switched off", Tone.WARN)
    if not row.deployed:
        return toned("! not deployed", Tone.WARN)
    return toned("● on", Tone.GOOD)


def _switch(switch: Switch) -> str:
    why = f": {switch.reason}" if switch.reason else ""
    word = "on" if switch.enabled else "off"
    return escaped(f"{word} at {moment(switch.at)} by {switch.by}{why}")


def _starts(controls: JobControls) -> list[str]:
    """Each trigger in a few words."""
    said = []
    if controls.cron is not None:
        zone = "" if controls.cron.time_zone == "UTC" else f" {controls.cron.time_zone}"
        said.append(f"at {controls.cron.schedule}{zone}")
    if controls.updates is not None:
        word = "any of " if controls.updates.any and len(controls.updates.datasets) > 1 else ""
        said.append(f"on {word}{', '.join(controls.updates.datasets)}")
    if controls.files:
        said.append(f"on files {controls.files}")
    if controls.event is not None:
        said.append(f"on events {json.dumps(controls.event, ensure_ascii=False)}")
    if controls.after:
        said.append(f"after {', '.join(controls.after)}")
    return said


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
            "as the settings say" if controls.attempts is None else f"{controls.attempts}",
        ],
        ["timeout", "" if controls.kind is TaskKind.BUILD else f"{controls.timeout_seconds} s"],
    ]


def way_to_start(row: JobRow) -> str:
    """What has to be done before it may start; empty where nothing has."""
    if not row.active:
        return "write active: true in its definition, then: lakeguard apply"
    if not row.enabled:
        return f"lakeguard jobs enable {row.job}"
    if not row.deployed:
        return "lakeguard deploy"
    return ""


def _short(text: str) -> str:
    return escaped(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


# Graphs of jobs and datasets, as people read of them.


def deployed_lines(
    done: Deployed, unapplied: Sequence[str] = (), *, dry_run: bool = False
) -> list[str]:
    """What changed or would change, one line each; what is not applied yet comes before all that
    is to be done next."""
    short = _short_hash(done.dag_hash)
    if not done.changed:
        lines = [f"{toned('= UNCHANGED', Tone.GOOD)}  this graph is active already ({short})"]
        return [*lines, *_withdrawn(done), *unapplied]
    lines = [f"  {toned('+', Tone.GOOD)} {escaped(said)}" for said in done.added]
    lines += [f"  {toned('-', Tone.BAD)} {escaped(said)}" for said in done.removed]
    lines += [f"  {toned('~', Tone.WARN)} {escaped(said)}" for said in done.altered]
    if dry_run:
        return [*lines, "nothing was changed", *(unapplied or ["Next: lakeguard deploy"])]
    mark = toned("✓ DEPLOYED", Tone.GOOD)
    lines.append(f"{mark}  {strong(done.dag_version_id)}{GAP}{short}")
    return [*lines, *_withdrawn(done), *(unapplied or ["Next: lakeguard jobs list"])]


def _withdrawn(done: Deployed) -> list[str]:
    """What became of the work of newer versions."""
    lines = []
    if done.canceled:
        many, some = plural(len(done.canceled), "task"), ", ".join(done.canceled[:3])
        lines.append(f"{many} of newer versions canceled: {some}{_more(done)}")
    lines += [f"{toned('!', Tone.BAD)} {escaped(said)}" for said in done.problems]
    if done.problems:
        lines.append("a dispatcher tries that again at each turn")
    return lines


def _more(done: Deployed) -> str:
    left = len(done.canceled) - 3
    return f" and {left:,} more" if left > 0 else ""


def versions_lines(versions: Sequence[DagVersion]) -> list[str]:
    """The newest first."""
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


def unapplied_lines(found: Unapplied) -> list[str]:
    """One line of what is not the registry's, and the next command; none where all is."""
    mark = toned("!", Tone.WARN)
    if found.mistakes:
        many = plural(found.mistakes, "mistake")
        said = f"{mark} the files have {many}; what they change is not applied"
        return [said, "Next: lakeguard validate"]
    if not found.definitions:
        return []
    named = ", ".join(map(escaped, found.definitions[:_MOST_NAMED]))
    left = len(found.definitions) - _MOST_NAMED
    more = f" and {left:,} more" if left > 0 else ""
    many = plural(len(found.definitions), "definition")
    verb = "is" if len(found.definitions) == 1 else "are"
    return [
        f"{mark} {many} of the files {verb} not applied: {named}{more}",
        "Next: lakeguard apply, then: lakeguard deploy",
    ]
