"""Dataset-update triggers.

A job launches for published versions newer than those of its last launch: of all datasets that it
names, or of any. Rollbacks and compactions create no new version.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from lakeguard.ledger.versions import latest_pointers
from lakeguard.promotion.context import PlaneContext
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.scheduler.triggers import queries
from lakeguard.scheduler.triggers.plan import Planned, key_of, launch_planned
from lakeguard.scheduler.triggers.triggerable_jobs import Roster
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.scheduling.jobs import Launch

ACTOR = "trigger:update"
_KIND = "dataset"


def launch_updated(context: PlaneContext, roster: Roster) -> list[Launch]:
    jobs = roster.waiting("updates")
    if not jobs:
        return []
    return launch_planned(context, "updates", partial(_plan, jobs))


def _plan(jobs: list[CurrentJob], tx: Transaction) -> Planned:
    rows = tx.execute(queries.dataset_ids(tx.org_id))
    ids = {row.dataset_name: row.dataset_id for row in rows}
    shown = latest_pointers(tx)
    seen = queries.cursors(tx, [job.job_id for job in jobs], _KIND)
    planned = Planned()
    for job in jobs:
        trigger = job.controls.updates
        if trigger is None:
            continue
        places = {name: (job.job_id, f"{_KIND}:{ids.get(name, '')}") for name in trigger.datasets}
        now = {name: shown[ids[name]].version for name in places if ids.get(name) in shown}
        new = {name: now[name] for name in now if now[name] > int(seen.get(places[name], 0))}
        if not new or (len(new) < len(places) and not trigger.any):
            continue
        moves = {places[name]: str(version) for name, version in new.items()}
        planned.add(_request(job, now), moves)
    return planned


def _request(job: CurrentJob, versions: Mapping[DatasetName, int]) -> LaunchRequest:
    there = {str(name): version for name, version in sorted(versions.items())}
    return LaunchRequest(
        job_id=job.job_id,
        key=key_of("updated", ",".join(f"{name}@v{number}" for name, number in there.items())),
        cause=Cause(kind=CauseKind.UPDATE, details={"versions": there}),
        actor=ACTOR,
    )
