"""Jobs that follow other jobs: launched once all of those have ended well since the last launch.

Of each job the task that ended well last counts, whenever it began; what fails later takes nothing
away from it.
"""

from __future__ import annotations

from functools import partial

from sqlalchemy import Connection

from lakeguard.jobs.current import CurrentJob
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard.triggers import statements
from lakeguard.triggers.planned import Planned, key_of, launch_planned
from lakeguard.triggers.roster import Roster
from lakeguard_sdk.canonical import format_instant
from lakeguard_sdk.job import Launch

ACTOR = "trigger:after"
_KIND = "job"


def launch_following(heart: Heart, roster: Roster) -> list[Launch]:
    jobs = roster.waiting("after")
    if not jobs:
        return []
    ids = {job.name: job.job_id for job in roster.jobs.values()}
    return launch_planned(heart, "after", partial(_plan, heart.org_id, jobs, ids))


def _plan(
    org_id: str, jobs: list[CurrentJob], ids: dict[str, str], connection: Connection
) -> Planned:
    before = {ids[name] for job in jobs for name in job.controls.after if name in ids}
    rows = connection.execute(statements.last_completed(org_id, before))
    # In this order the later is the greater, and one of the same moment is told apart.
    ends = {
        row.job_id: (f"{format_instant(row.ended_at)} {row.task_id}", row.task_id)
        for row in rows
        if row.task_id is not None
    }
    seen = statements.cursors(connection, org_id, [job.job_id for job in jobs], _KIND)
    planned = Planned()
    for job in jobs:
        upstream = {name: ids.get(name, "") for name in job.controls.after}
        new = {
            name: ends[key]
            for name, key in upstream.items()
            if key in ends and ends[key][0] > seen.get((job.job_id, f"{_KIND}:{key}"), "")
        }
        if len(new) < len(upstream):
            continue
        planned.wishes.append(_wish(job, {name: task for name, (_, task) in new.items()}))
        planned.moves |= {
            (job.job_id, f"{_KIND}:{upstream[name]}"): place for name, (place, _) in new.items()
        }
    return planned


def _wish(job: CurrentJob, ended: dict[str, str]) -> Wish:
    return Wish(
        job_id=job.job_id,
        key=key_of("after", ",".join(task for _, task in sorted(ended.items()))),
        cause=Cause(kind=CauseKind.AFTER, details={"tasks": dict(sorted(ended.items()))}),
        actor=ACTOR,
    )
