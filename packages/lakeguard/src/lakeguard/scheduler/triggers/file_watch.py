"""A dispatcher's view of watched files, across ticks.

A file is complete when two observations a quiet period apart are equal, by this process's monotonic
clock: neither the wall clock nor the writer's clock matters.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from stat import S_ISREG
from types import MappingProxyType
from typing import NamedTuple

from lakeguard_sdk.core.canonical_json import data_hash

AGAIN_AT_ONCE = 5_000
"""Launched files that are checked again per tick, in rotation."""


class FileState(NamedTuple):
    """A file's size and modification time; in an object store, its tag too."""

    path: str
    size: int
    modified_ns: int
    etag: str = ""

    @property
    def digest(self) -> str:
        return data_hash([self.path, self.size, self.etag or str(self.modified_ns)])


@dataclass
class FileWatch:
    """In-memory state of one dispatcher; another one rebuilds it."""

    steady: Callable[[], float] = time.monotonic
    first_seen: dict[FileState, float] = field(default_factory=dict)
    """First observations of files not yet launched in their current state."""
    launched: dict[str, dict[str, FileState]] = field(default_factory=dict)
    """By job and path: the file as recorded at launch."""
    last_again: str = ""
    """Rotation position among launched files."""
    begun: float = 0.0
    """Start of the last observation, so that a slow State does not count as quiet time."""

    def scan(
        self,
        root: str,
        wanted: Mapping[str, Collection[str]],
        listed: Mapping[str, FileState] = MappingProxyType({}),
    ) -> dict[str, list[FileState]]:
        """Candidate files by job, as they are now; those ``listed`` need no further look."""
        self.begun = self.steady()
        self.launched = {job: self._still_present(job, names) for job, names in wanted.items()}
        states = {
            name: state
            for name in self._names(wanted)
            if (state := listed.get(name) or _file_state(f"{root}/{name}", name)) is not None
        }
        for known in self.launched.values():
            for name in known.keys() & states.keys():
                if known[name] != states[name]:
                    del known[name]
        return {
            job: [
                states[name] for name in names if name in states and name not in self.launched[job]
            ]
            for job, names in wanted.items()
        }

    def note(self, states: Iterable[FileState]) -> set[FileState]:
        """Watch these files; return the new ones."""
        moment, before = self.steady(), self.first_seen
        self.first_seen = {state: before.get(state, moment) for state in states}
        return self.first_seen.keys() - before.keys()

    def whole(self, quiet_seconds: float) -> set[FileState]:
        """Files unchanged since an observation that ended a quiet period before this one; with
        no quiet period one observation is enough."""
        if not quiet_seconds:
            return set(self.first_seen)
        latest = self.begun - quiet_seconds
        return {state for state, first in self.first_seen.items() if first <= latest}

    def know_launched(self, job_id: str, state: FileState) -> None:
        self.launched[job_id][state.path] = state

    def _still_present(self, job_id: str, names: Iterable[str]) -> dict[str, FileState]:
        """Forget deleted files."""
        known = self.launched.get(job_id, {})
        return {name: known[name] for name in names if name in known}

    def _names(self, wanted: Mapping[str, Collection[str]]) -> set[str]:
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


def _file_state(place: str, name: str) -> FileState | None:
    try:
        facts = os.stat(place, follow_symlinks=False)
    except OSError:  # deleted in the meantime
        return None
    return FileState(name, facts.st_size, facts.st_mtime_ns) if S_ISREG(facts.st_mode) else None
