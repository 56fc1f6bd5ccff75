"""Invalidations and partitions as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from lakeguard.cli.terminal.layout import (
    GAP,
    Tone,
    age,
    indented,
    moment,
    number,
    strong,
    table,
    toned,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard.services.windows import again_command
from lakeguard_sdk.scheduling.invalidations import (
    End,
    Follower,
    InvalidationRow,
    PartitionRow,
    Standing,
)

_MARKS = {
    Standing.CAUGHT_UP: ("✓ CAUGHT UP", Tone.GOOD),
    Standing.NOT_AFFECTED: ("NOT AFFECTED", Tone.QUIET),
    Standing.READY: ("! BEHIND", Tone.WARN),
    Standing.WAITING: ("WAITING", Tone.WARN),
}
_ENDS = {End.DONE: ("✓ DONE", Tone.GOOD), End.WITHDRAWN: ("WITHDRAWN", Tone.QUIET)}


def invalidations_lines(rows: Sequence[InvalidationRow], now: datetime) -> list[str]:
    """Newest first."""
    cells = [
        [
            row.invalidation_id,
            row.dataset,
            escaped(_shortened(row.reach.describe())),
            row.reason.value,
            _state(row),
            age(row.created_at, now),
            escaped(row.created_by),
        ]
        for row in rows
    ]
    headers = ("INVALIDATION", "DATASET", "WHAT", "REASON", "STATE", "SINCE", "BY")
    if not cells:
        return ["all datasets have caught up"]
    return [*table(headers, cells), *_next(rows)]


def invalidation_lines(row: InvalidationRow) -> list[str]:
    head = f"{_state(row)}  {strong(row.dataset)}{GAP}{escaped(_shortened(row.reach.describe()))}"
    why = f": {escaped(row.why)}" if row.why else ""
    since = f"{row.reason.value}{why}, {moment(row.created_at)}, by {escaped(row.created_by)}"
    cause = [f"caused by run {row.caused_by}"] if row.caused_by else []
    followers = [
        [toned(*_MARKS[item.standing]), item.dataset, escaped(_progress(item))]
        for item in row.followers
    ]
    return [
        f"{row.invalidation_id}{GAP}{head}",
        *indented([since, *cause, *_end(row)]),
        *indented(table((), followers)),
        *_next([row]),
        *(f"Next: lakeguard tasks cancel {task_id}" for task_id in row.going_on),
    ]


def partitions_lines(rows: Sequence[PartitionRow]) -> list[str]:
    cells = [
        [
            escaped(_shortened(row.partition)),
            f"v{row.version}",
            moment(row.materialized_at),
            number(row.rows),
            number(row.bytes),
            row.run_id,
        ]
        for row in rows
    ]
    headers = ("PARTITION", "SINCE", "MADE", "ROWS", "BYTES", "RUN")
    return table(headers, cells, right=frozenset({3, 4})) if cells else ["no partitions recorded"]


def _state(row: InvalidationRow) -> str:
    if row.end is not None:
        return toned(*_ENDS[row.end])
    return toned(f"! {plural(len(row.lagging), 'dataset')} behind", Tone.WARN)


def _end(row: InvalidationRow) -> list[str]:
    if row.end is not End.WITHDRAWN or row.ended_at is None:
        return []
    why = f": {escaped(row.end_why)}" if row.end_why else ""
    return [
        f"withdrawn {moment(row.ended_at)}, by {escaped(row.ended_by)}{why}",
        *(f"task {task_id} was canceled with it" for task_id in row.canceled),
        *(f"task {task_id} was launched for it and still runs" for task_id in row.going_on),
    ]


def _progress(item: Follower) -> str:
    if item.standing is Standing.CAUGHT_UP:
        return "" if item.version is None else f"v{item.version}"
    if item.standing is Standing.WAITING:
        return f"for {', '.join(item.waits_for) or 'its first build'}"
    if item.standing is Standing.NOT_AFFECTED:
        return ""
    if item.task_id is not None:
        return f"task {item.task_id}"
    if item.held_by is not None:
        return f"job {item.job} waits: {item.held_by}"
    return f"job {item.job} is launched by the dispatcher" if item.job else "no job builds it"


def _next(rows: Sequence[InvalidationRow]) -> Iterator[str]:
    """The command to run without a dispatcher."""
    for row in rows:
        for item in row.lagging:
            if item.standing is Standing.READY and item.task_id is None:
                yield f"Next: {escaped(again_command(item.dataset, item.window))}"
                return


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
