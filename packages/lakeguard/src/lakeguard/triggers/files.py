"""Jobs that wait for files below the lake's root. A path is taken once for each size and time.

A file may still be being written: it is taken when it looked the same twice, with a pause
between, or when nobody has touched it for a while. Names that begin with ``_`` or ``.`` are
markers of other tools; a link may lead out of the lake and is not followed.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from sqlalchemy import Connection

from lakeguard.jobs.current import CurrentJob
from lakeguard.jobs.wishes import Cause, CauseKind, Wish
from lakeguard.promotion.heart import Heart
from lakeguard.triggers import statements
from lakeguard.triggers.planned import Planned, launch_planned
from lakeguard.triggers.roster import Roster
from lakeguard_sdk.canonical import data_hash
from lakeguard_sdk.job import Launch
from lakeguard_sdk.storage import local_path, storage_for

ACTOR = "trigger:files"
QUIET_SECONDS = 30.0
"""Untouched for so long, a file is whole."""
PAUSE_SECONDS = 1.0
"""Between two looks at a file that is to look the same."""
MOST_AT_ONCE = 1_000
"""Files that one job is launched for in a turn; the rest wait for the next."""
_KIND = "file"
_MARKERS = ("_", ".")


class Look(NamedTuple):
    """A file as it is."""

    path: str
    size: int
    modified_ns: int

    @property
    def digest(self) -> str:
        return data_hash([self.path, self.size, str(self.modified_ns)])


@dataclass
class Looking:
    """What this process saw of files that may still be being written."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    first_seen: dict[Look, float] = field(default_factory=dict)

    def settled(self, looks: Iterable[Look]) -> list[Look]:
        """Those that are whole; the others are looked at again."""
        now, moment = self.wall(), self.steady()
        since = {look: self.first_seen.get(look, moment) for look in looks}
        whole = [
            look
            for look, first in since.items()
            if moment - first >= PAUSE_SECONDS or now - look.modified_ns / 1e9 >= QUIET_SECONDS
        ]
        self.first_seen = since
        return whole


def launch_arrived(heart: Heart, roster: Roster, looking: Looking) -> list[Launch]:
    jobs = roster.waiting("files")
    if not jobs:
        return []
    found = look_for(heart.lake, {job.controls.files for job in jobs})
    settled = set(looking.settled({look for looks in found.values() for look in looks}))
    plan = partial(_plan, heart.org_id, jobs, found, settled)
    return launch_planned(heart, "files", plan)


def look_for(lake: str, patterns: Iterable[str]) -> dict[str, list[Look]]:
    """The files of each glob, as they are now. ValueError where the lake has no folders."""
    storage_for(lake)
    root = Path(local_path(lake)).resolve()
    return {pattern: sorted(_looks(root, pattern)) for pattern in patterns}


def _looks(root: Path, pattern: str) -> Iterable[Look]:
    for name in set(glob.glob(pattern, root_dir=root, recursive=True)):
        path = root / name
        if path.name.startswith(_MARKERS):
            continue
        try:
            facts = os.stat(path, follow_symlinks=False)
            inside = path.parent.resolve() == path.parent
        except OSError:  # gone meanwhile
            continue
        if S_ISREG(facts.st_mode) and inside:
            yield Look(name, facts.st_size, facts.st_mtime_ns)


def _plan(
    org_id: str,
    jobs: list[CurrentJob],
    found: dict[str, list[Look]],
    settled: set[Look],
    connection: Connection,
) -> Planned:
    planned = Planned()
    for job in jobs:
        looks = {_watched(look): look for look in found[job.controls.files] if look in settled}
        seen = statements.cursors_in(connection, org_id, job.job_id, looks)
        new = [what for what, look in looks.items() if seen.get(what) != look.digest]
        for what in new[:MOST_AT_ONCE]:
            planned.wishes.append(_wish(job, looks[what]))
            planned.moves[job.job_id, what] = looks[what].digest
    return planned


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
    )
