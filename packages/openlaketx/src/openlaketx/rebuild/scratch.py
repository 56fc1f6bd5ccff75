"""A scratch lake in which the table is as it was at the time of the run.

It lies on the lake, in a hidden folder that no source reads. The files of the table are symbolic
links, those of a source are copies; new files are written here. A table in an object store is read
where it is: new files are staged on this machine and never uploaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakeguard_sdk.model.delta_log import STAGING
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.scratch_folders import scratch_folder
from lakeguard_sdk.storage.storage import is_remote, local_path

_OWN = "rebuild"


@dataclass(frozen=True)
class Scratch:
    """The folder of one rebuild."""

    folder: Path
    table: str
    """Where the table is read, and new files are written."""

    @property
    def lake(self) -> Path:
        """The root for source files and quarantined rows during the rebuild."""
        return self.folder / "lake"

    def plan(self, plan: RunPlan) -> RunPlan:
        """The same plan on the scratch table, staged in its own folder."""
        ticket = plan.ticket.model_copy(update={"run_id": f"{plan.ticket.run_id}-{_OWN}"})
        changed = {
            "ticket": ticket,
            "location": self.table,
            "staging": f"{STAGING}/{ticket.run_id}",
        }
        return plan.model_copy(update=changed)


@contextmanager
def scratch_place(lake: str, location: str) -> Iterator[Scratch]:
    """Removed afterwards in any case; leftovers of a killed rebuild are removed first."""
    with scratch_folder(lake) as folder:
        links = folder / "table"
        scratch = Scratch(folder, location if is_remote(location) else str(links))
        scratch.lake.mkdir()
        if not is_remote(location):
            _look_through(Path(local_path(location)), links)
        yield scratch


def _look_through(table: Path, place: Path) -> None:
    """Links every entry of the table; the folder of runs is linked run by run."""
    staging = place / STAGING
    staging.mkdir(parents=True)
    for entry in table.iterdir() if table.is_dir() else ():
        if entry.name != STAGING:
            (place / entry.name).symlink_to(entry)
    runs = table / STAGING
    for entry in runs.iterdir() if runs.is_dir() else ():
        (staging / entry.name).symlink_to(entry)
