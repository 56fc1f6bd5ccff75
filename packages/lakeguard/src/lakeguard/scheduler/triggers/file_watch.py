"""What a dispatcher saw of the files that jobs wait for, from turn to turn.

A file is whole when it looked the same at two looks that are a quiet time apart, on a clock of
this process that nobody sets: neither its own clock of the day nor that of whoever writes counts.
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
"""Files that jobs were launched for already, looked at again in a turn; the others have theirs."""


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
    """Of one dispatcher; another one, or the next, finds out the same by itself."""

    steady: Callable[[], float] = time.monotonic
    first_seen: dict[Look, float] = field(default_factory=dict)
    """Of files that a job was not launched for as they are."""
    launched: dict[str, dict[str, Look]] = field(default_factory=dict)
    """By job and path: the file as it was when the job was launched for it, as the State says."""
    last_again: str = ""
    """How far the looks at what was launched have come."""
    begun: float = 0.0
    """When the last look was begun: however long the State takes to answer, it is no second one."""

    def look(self, root: str, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[Look]]:
        """By job: those of its files that it may have to be launched for, as they are now."""
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
        """What is looked for from now on; answers what was not before."""
        moment, before = self.steady(), self.first_seen
        self.first_seen = {look: before.get(look, moment) for look in looks}
        return self.first_seen.keys() - before.keys()

    def whole(self, quiet_seconds: float) -> set[Look]:
        """Those that look the same as at a look that ended so long before this one was begun; with
        no time to wait one look is enough."""
        if not quiet_seconds:
            return set(self.first_seen)
        latest = self.begun - quiet_seconds
        return {look for look, first in self.first_seen.items() if first <= latest}

    def know_launched(self, job_id: str, look: Look) -> None:
        self.launched[job_id][look.path] = look

    def _kept(self, job_id: str, names: Sequence[str]) -> dict[str, Look]:
        """What is gone is forgotten."""
        known = self.launched.get(job_id, {})
        return {name: known[name] for name in names if name in known}

    def _names(self, wanted: Mapping[str, Sequence[str]]) -> set[str]:
        """All that is new, and some of the rest, so that a change of any is seen in the end."""
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
    except OSError:  # gone meanwhile
        return None
    return Look(name, facts.st_size, facts.st_mtime_ns) if S_ISREG(facts.st_mode) else None
