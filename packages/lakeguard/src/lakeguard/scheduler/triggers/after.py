"""``after`` triggers: a job launches once all its predecessors succeeded since its last launch.

The last successful task of each predecessor counts, whenever it started; later failures do not
matter. Ends are timestamped before they commit and may become visible out of order, so earlier
ends are counted too: one more of them is new as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import NamedTuple

from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.scheduler.triggers import queries
from lakeguard.scheduler.triggers.plan import Planned, key_of, launch_planned
from lakeguard.scheduler.triggers.triggerable_jobs import Roster
from lakeguard.state.clock import CLOCK_SLACK
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import format_instant
from lakeguard_sdk.scheduling.jobs import Launch

ACTOR = "trigger:after"
_KIND = "job"
_COUNT = "#"


class _End(NamedTuple):
    """The last end of a job."""

    task_id: str
    place: str
    """Sort key: time of the end, then task."""
    ends: int
    """How many ends there are up to then, within the window for late commits."""

    @property
    def position(self) -> str:
        return f"{self.place}{_COUNT}{self.ends}"

    def since(self, position: str, latest: str) -> str:
        """A key for what is new since a launch at that position; empty if nothing is.

        A position after ``latest`` is of a clock that was wrong: everything since counts, and what
        was launched already has its key.
        """
        place, _, ends = position.partition(_COUNT)
        if self.place > place or place > latest:
            return self.task_id
        late = self.place == place and ends and self.ends > int(ends)
        return f"{self.task_id}{_COUNT}{self.ends}" if late else ""


def launch_following(context: PlaneContext, roster: Roster) -> list[Launch]:
    jobs = roster.waiting("after")
    if not jobs:
        return []
    ids = {job.name: job.job_id for job in roster.jobs.values()}
    return launch_planned(context, "after", partial(_plan, jobs, ids))


def _plan(jobs: list[CurrentJob], ids: dict[str, str], tx: Transaction) -> Planned:
    before = {ids[name] for job in jobs for name in job.controls.after if name in ids}
    found = _last_ends(tx, before)
    seen = queries.cursors(tx, [job.job_id for job in jobs], _KIND)
    planned, latest = Planned(), format_instant(tx.now() + CLOCK_SLACK)
    for job in jobs:
        ends = {name: found.get(ids.get(name, "")) for name in job.controls.after}
        places = {name: (job.job_id, f"{_KIND}:{ids.get(name, '')}") for name in ends}
        new = {
            name: (end, what)
            for name, end in sorted(ends.items())
            if end is not None and (what := end.since(seen.get(places[name], ""), latest))
        }
        if len(new) < len(ends):
            continue
        moves = {places[name]: end.position for name, (end, _) in new.items()}
        planned.add(_request(job, new), moves)
    return planned


def _last_ends(tx: Transaction, job_ids: Collection[str]) -> dict[str, _End]:
    rows = queries.last_ends(tx, job_ids)
    counts = queries.count_ends(tx, {row.job_id: row.ended_at for row in rows})
    return {
        row.job_id: _End(
            row.task_id, f"{format_instant(row.ended_at)} {row.task_id}", counts[row.job_id]
        )
        for row in rows
    }


def _request(job: CurrentJob, ended: Mapping[str, tuple[_End, str]]) -> LaunchRequest:
    tasks = {name: end.task_id for name, (end, _) in ended.items()}
    return LaunchRequest(
        job_id=job.job_id,
        key=key_of("after", ",".join(what for _, what in ended.values())),
        cause=Cause(kind=CauseKind.AFTER, details={"tasks": tasks}),
        actor=ACTOR,
    )
