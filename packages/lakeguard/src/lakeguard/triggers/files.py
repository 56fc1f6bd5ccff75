"""Jobs that wait for files below the lake's root. A path is taken once for each size and time.

A file may still be being written: it is taken when it has looked the same for a while.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection

from lakeguard.jobs.current import CurrentJob
from lakeguard.jobs.gate_facts import under_way
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard.state.pieces import in_pieces
from lakeguard.triggers import statements
from lakeguard.triggers.found_files import matching_files
from lakeguard.triggers.looking import Look, Looking
from lakeguard.triggers.planned import Planned, launch_planned
from lakeguard.triggers.roster import Roster
from lakeguard_sdk.canonical import data_hash
from lakeguard_sdk.errors import Overlapping
from lakeguard_sdk.job import Launch, Overlap
from lakeguard_sdk.storage import local_path, storage_for

ACTOR = "trigger:files"
MOST_AT_ONCE = 1_000
"""Files that one job is launched for in a turn; the rest wait for the next. Of a job that is to be
alone it is one, once the job is free: a file that was refused would not come again."""
_KIND = "file"
_ASKED_AT_ONCE = 2_000
"""Files that the State is asked about before it is seen whether there are enough for the turn."""


class Arrived(NamedTuple):
    launches: list[Launch]
    settling: int
    """Files that are new and may still be being written."""


def launch_arrived(heart: Heart, roster: Roster, looking: Looking) -> Arrived:
    """ValueError where the lake has no folders."""
    jobs = roster.waiting("files")
    if not jobs:
        return Arrived([], 0)
    storage_for(heart.lake)
    root = str(Path(local_path(heart.lake)).resolve())
    names = {each: matching_files(root, each) for each in {job.controls.files for job in jobs}}
    looks = looking.look(root, {job.job_id: names[job.controls.files] for job in jobs})
    _pass_launched(heart, looking, looks)
    whole = looking.whole(heart.dispatch.quiet_seconds)
    plan = partial(_plan, heart.org_id, jobs, looks, whole, looking)
    return Arrived(launch_planned(heart, "files", plan), len(looking.first_seen.keys() - whole))


def _pass_launched(heart: Heart, looking: Looking, looks: dict[str, list[Look]]) -> None:
    """What is seen for the first time may be new to this process alone."""
    found = looking.note(look for each in looks.values() for look in each)
    if not found:
        return
    with heart.database.read() as connection:
        for job_id, each in looks.items():
            first = [look for look in each if look in found]
            new = set(_new(connection, heart.org_id, job_id, first, looking))
            looks[job_id] = [look for look in each if look in new or look not in found]
    looking.note(look for each in looks.values() for look in each)


def _plan(
    org_id: str,
    jobs: Sequence[CurrentJob],
    looks: Mapping[str, Sequence[Look]],
    whole: set[Look],
    looking: Looking,
    connection: Connection,
) -> Planned:
    planned, busy = Planned(), under_way(connection, org_id, jobs)
    for job in jobs:
        if job.job_id in busy:
            continue
        most = 1 if job.controls.overlap is Overlap.SKIP else MOST_AT_ONCE
        ready = [look for look in looks[job.job_id] if look in whole]
        new = _new(connection, org_id, job.job_id, ready, looking)
        for look in islice(new, most):
            planned.add(_wish(job, look), {(job.job_id, _watched(look)): look.digest})
    return planned


def _new(
    connection: Connection, org_id: str, job_id: str, looks: Sequence[Look], looking: Looking
) -> Iterator[Look]:
    """Those that the job was not launched for, by what the State says; the others are noted."""
    for piece in in_pieces(looks, _ASKED_AT_ONCE):
        asked = {_watched(look): look for look in piece}
        seen = statements.cursors_in(connection, org_id, job_id, asked)
        for what, look in asked.items():
            if seen.get(what) == look.digest:
                looking.know_launched(job_id, look)
            else:
                yield look


def _watched(look: Look) -> str:
    return f"{_KIND}:{data_hash(look.path)}"


def _wish(job: CurrentJob, look: Look) -> Wish:
    details = {"path": look.path, "size": look.size, "modified_ns": str(look.modified_ns)}
    return Wish(
        job_id=job.job_id,
        key=f"file:{look.digest}",
        cause=Cause(kind=CauseKind.FILES, details=details),
        actor=ACTOR,
        parameters={"file": look.path},
        waits_out=(Overlapping,),
    )
