"""Rendering of runs, versions and publications."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from lakeguard.cli.rendering.run import inputs_text
from lakeguard.cli.terminal.layout import (
    Tone,
    age,
    columns,
    duration,
    moment,
    number,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.read_models import JobExecution, OpenRun, PointerMove, RunRow, VersionRow

_RUN_MARKS = {
    RunStatus.SUCCESS: ("✓ SUCCESS", Tone.GOOD),
    RunStatus.BLOCKED: ("✗ BLOCKED", Tone.BAD),
    RunStatus.FAILED: ("! FAILED", Tone.BAD),
}
_QUARANTINED = 5
"""Index of the column of quarantined rows, left out where there are none."""
_WITHOUT_INPUTS = {
    "adoption": "an adopted table",
    "frame": "a program",
    "source": "its source",
}


def run_mark(status: RunStatus) -> str:
    return toned(*_RUN_MARKS[status])


def runs_lines(
    runs: Sequence[RunRow],
    now: datetime,
    open_runs: Sequence[OpenRun] = (),
    executions: Sequence[JobExecution] = (),
    most: int | None = None,
) -> list[str]:
    """Newest first; runs that have not ended before all others."""
    rows = [_open_cells(row, now) for row in open_runs]
    rows += [_execution_cells(each, now) for each in executions if each.end_time is None]
    ended = [(each.end_time, _execution_cells(each, now)) for each in executions if each.end_time]
    ended += [(run.end_time, _run_cells(run, now)) for run in runs]
    if executions:
        ended.sort(key=lambda each: each[0], reverse=True)
    rows = [*rows, *(cells for _, cells in ended)][:most]
    headers = ("RUN", "DATASET", "STATUS", "OUTCOME", "ENDED", "TOOK", "BY")
    dead = [f"dead: {row.dataset}  {dead_run_text(row)}" for row in open_runs if row.dead]
    return [*table(headers, rows), *dead] if rows else ["no runs yet"]


def _run_cells(run: RunRow, now: datetime) -> list[str]:
    return [
        run.run_id,
        run.dataset,
        run_mark(run.status),
        outcome_of(run),
        age(run.end_time, now),
        duration(run.start_time, run.end_time),
        escaped(run.triggered_by),
    ]


def _execution_cells(each: JobExecution, now: datetime) -> list[str]:
    """A row of the same table, with the job in the column of the dataset."""
    ended = each.end_time
    return [
        each.run_id,
        f"{escaped(each.job)} ({each.kind})",
        _execution_mark(each),
        escaped(each.error_code or "-"),
        "-" if ended is None else age(ended, now),
        duration(each.start_time, ended or now),
        escaped(each.triggered_by),
    ]


def _execution_mark(each: JobExecution) -> str:
    return toned("▶ RUNNING", Tone.WARN) if each.status is None else run_mark(each.status)


# One run.


def run_lines(run: RunRow, now: datetime) -> list[str]:
    rows = [
        ["run", run.run_id],
        ["dataset", str(run.dataset)],
        ["status", run_mark(run.status)],
        ["outcome", outcome_of(run)],
        ["decision", run.decision_id or "none"],
        *_common(run.task_id, run.attempt, run.triggered_by),
        *_times(run.start_time, run.end_time, now),
        *_error(run.error_code, run.error_message),
    ]
    return [*columns(rows), f"Next: lakeguard why {run.run_id}"]


def execution_lines(each: JobExecution, now: datetime) -> list[str]:
    rows = [
        ["run", each.run_id],
        ["job", f"{escaped(each.job)} ({each.kind})"],
        ["status", _execution_mark(each)],
        *_common(each.task_id, each.attempt, each.triggered_by),
        *_times(each.start_time, each.end_time, now),
        *_error(each.error_code, each.error_message),
    ]
    return [*columns(rows), f"Next: lakeguard tasks show {each.task_id}"]


def _common(task_id: str, attempt: int, triggered_by: str) -> list[list[str]]:
    return [["task", f"{task_id}, attempt {attempt}"], ["by", escaped(triggered_by)]]


def _times(start: datetime, end: datetime | None, now: datetime) -> list[list[str]]:
    rows = [["began", moment(start)]]
    if end is not None:
        rows.append(["ended", f"{moment(end)}, {age(end, now)}"])
    return [*rows, ["took", duration(start, end or now)]]


def _error(code: str | None, message: str | None) -> list[list[str]]:
    if not code and not message:
        return []
    return [["error", " ".join(escaped(each) for each in (code, message) if each)]]


def _open_cells(row: OpenRun, now: datetime) -> list[str]:
    return [
        row.run_id or row.task_id,
        row.dataset,
        toned("† DEAD", Tone.BAD) if row.dead else toned("▶ RUNNING", Tone.WARN),
        "-",
        "-",
        duration(row.begun_at, now),
        escaped(row.triggered_by),
    ]


def dead_run_text(row: OpenRun) -> str:
    """Which run died, why, and what ends it."""
    begun = f"{row.run_id}, begun" if row.run_id else f"{row.task_id}, submitted"
    ends = f"the next command that writes ends it, such as: lakeguard run {row.dataset}"
    return f"{begun} at {moment(row.begun_at)}: {escaped(row.dead)}; {ends}"


def outcome_of(run: RunRow) -> str:
    """Its version, nothing new, or its error code."""
    if run.version is not None:
        return f"v{run.version}"
    if run.status is RunStatus.SUCCESS:
        return "nothing new" if run.replay is None else "no row passed"
    return escaped(run.error_code or "see why")


def versions_lines(versions: Sequence[VersionRow]) -> list[str]:
    """Newest first; the published version is marked."""
    rows = [
        [
            f"v{row.version}",
            _state(row),
            moment(row.promoted_at),
            number(row.row_count),
            number(row.table_rows),
            number(row.quarantined) if row.quarantined else "",
            _built_from(row),
            row.run_id,
            escaped(row.promoted_by),
        ]
        for row in sorted(versions, key=lambda row: -row.version)
    ]
    headers = [
        "VERSION",
        "",
        "PROMOTED",
        "ROWS",
        "IN TABLE",
        "QUARANTINED",
        "BUILT FROM",
        "RUN",
        "BY",
    ]
    if not any(row.quarantined for row in versions):
        headers, rows = (
            _without(headers, _QUARANTINED),
            [_without(row, _QUARANTINED) for row in rows],
        )
    lines = (
        table(headers, rows, right=frozenset({3, 4, _QUARANTINED})) if rows else ["no versions yet"]
    )
    return [*lines, *_quarantined(versions)]


def _without(cells: list[str], place: int) -> list[str]:
    return [*cells[:place], *cells[place + 1 :]]


def _quarantined(versions: Sequence[VersionRow]) -> list[str]:
    """How to show the quarantined rows of the newest version that has any."""
    last = max((row for row in versions if row.quarantined), key=_number, default=None)
    return [] if last is None else [f"Next: lakeguard why {last.run_id}"]


def _number(row: VersionRow) -> int:
    return row.version


def _built_from(row: VersionRow) -> str:
    """Input versions, else the kind of build."""
    if row.inputs or row.built_by is None:
        return inputs_text(row.inputs)
    return _WITHOUT_INPUTS.get(row.built_by, "")


def _state(row: VersionRow) -> str:
    if row.published:
        return toned("● published", Tone.GOOD)
    return "files removed" if row.removed else ""


def moves_lines(moves: Sequence[PointerMove]) -> list[str]:
    """Publications with time, actor and reason; newest first."""
    rows = [
        [
            moment(move.moved_at),
            move.kind.value,
            f"v{move.version}",
            escaped(move.actor),
            escaped(move.reason),
        ]
        for move in sorted(moves, key=lambda move: move.moved_at, reverse=True)
    ]
    return table(("AT", "MOVE", "TO", "BY", "REASON"), rows) if rows else ["none yet"]
