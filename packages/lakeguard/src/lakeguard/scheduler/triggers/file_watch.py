"""A dispatcher's view of watched files, across ticks.

A file is complete when two observations a quiet period apart are equal, by this process's monotonic
clock: neither the wall clock nor the writer's clock matters.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from stat import S_ISREG
from typing import NamedTuple

from lakeguard_sdk.core.canonical_json import data_hash

AGAIN_AT_ONCE = 5_000
"""Launched files that are checked again per tick, in rotation."""


class Look(NamedTuple):
    """A file's size and modification time."""

    path: str
    size: int
    modified_ns: int

    @property
    def digest(self) -> str:
        return data_hash([self.path, self.size, str(self.modified_ns)])


@dataclass
class Looking:
    """In-memory state of one dispatcher; another one rebuilds it."""

    steady: Callable[[], float] = time.monotonic
    first_seen: dict[Look, float] = field(default_factory=dict)
    """First observations of files not yet launched in their current state."""
    launched: dict[str, dict[str, Look]] = field(default_factory=dict)
    """By job and path: the file as recorded at launch."""
    last_again: str = ""
    """Rotation position among launched files."""
    begun: float = 0.0
    """Start of the last observation, so that a slow State does not count as quiet time."""

    def look(self, root: str, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[Look]]:
        """Candidate files by job, as they are now."""
        self.begun = self.steady()
        self.launched = {job: self._kept(job, names) for job, names in wanted.items()}
        looks = {
            name: look
            for name in self._names(wanted)
            if (look := _look_at(f"{root}/{name}", name)) is not None
        }
        for known in self.launched.values():
            for name in known.keys() & looks.keys():
                if known[name] != looks[name]:
                    del known[name]
        return {
            job: [looks[name] for name in names if name in looks and name not in self.launched[job]]
            for job, names in wanted.items()
        }

    def note(self, looks: Iterable[Look]) -> set[Look]:
        """Watch these files; return the new ones."""
        moment, before = self.steady(), self.first_seen
        self.first_seen = {look: before.get(look, moment) for look in looks}
        return self.first_seen.keys() - before.keys()

    def whole(self, quiet_seconds: float) -> set[Look]:
        """Files unchanged since an observation that ended a quiet period before this one; with
        no quiet period one observation is enough."""
        if not quiet_seconds:
            return set(self.first_seen)
        latest = self.begun - quiet_seconds
        return {look for look, first in self.first_seen.items() if first <= latest}

    def know_launched(self, job_id: str, look: Look) -> None:
        self.launched[job_id][look.path] = look

    def _kept(self, job_id: str, names: Sequence[str]) -> dict[str, Look]:
        """Forget deleted files."""
        known = self.launched.get(job_id, {})
        return {name: known[name] for name in names if name in known}

    def _names(self, wanted: Mapping[str, Sequence[str]]) -> set[str]:
        """Stat all new files and some launched ones, so that every change is seen eventually."""
        known = sorted(set(chain.from_iterable(self.launched.values())))
        start = bisect_right(known, self.last_again)
        again = (known[start:] + known[:start])[:AGAIN_AT_ONCE]
        self.last_again = again[-1] if again else ""
        new = (
            name
            for job, names in wanted.items()
            for name in names
            if name not in self.launched[job]
        )
        return {*new, *again}


def _look_at(place: str, name: str) -> Look | None:
    try:
        facts = os.stat(place, follow_symlinks=False)
    except OSError:  # deleted in the meantime
        return None
    return Look(name, facts.st_size, facts.st_mtime_ns) if S_ISREG(facts.st_mode) else None
