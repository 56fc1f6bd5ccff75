"""Where the files of a run are written while its lake is in an object store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.model.table_operations import CompactionPlan
from lakeguard_sdk.scheduling.scratch_folders import staging_folder
from lakeguard_sdk.storage.location import is_marker
from lakeguard_sdk.storage.run_folders import LANDING, QUARANTINE
from lakeguard_sdk.storage.storage import (
    StagingArea,
    below,
    is_remote,
    join,
    staging_area,
    staging_folders,
)
from openlaketx.extract.files.remote_files import copies_folder


@dataclass(frozen=True)
class RunStaging:
    """The areas whose files are on this machine until they are durable; none in a folder."""

    areas: tuple[StagingArea, ...] = ()

    def flush(self) -> None:
        """Make every file of the run durable that is not yet; markers and copies stay here."""
        for area in self.areas:
            for facts in area.local_files():
                if not any(map(is_marker, below(facts.path, area.prefix).split("/"))):
                    area.make_durable(facts.path)


@contextmanager
def run_staging(plan: RunPlan, lake: str) -> Iterator[RunStaging]:
    """Staged, quarantined and landed files of a run; the local copies are removed afterwards."""
    prefixes = _prefixes(plan, lake)
    with _staging(prefixes, copies_folder(plan), run_id=plan.ticket.run_id) as staging:
        yield staging


def run_folders(plan: RunPlan, lake: str) -> dict[str, str]:
    """The local folders of the files of a run, by prefix, for another process that writes them."""
    return staging_folders([*_prefixes(plan, lake), copies_folder(plan)], plan.ticket.run_id)


@contextmanager
def shared_staging(folders: Mapping[str, str], run_id: str) -> Iterator[None]:
    """The staging of a run that another process opened."""
    with ExitStack() as stack:
        for prefix, folder in folders.items():
            stack.enter_context(staging_area(prefix, Path(folder), run_id))
        yield


def _prefixes(plan: RunPlan, lake: str) -> list[str]:
    layer, name = plan.dataset.layer.value, plan.dataset.name
    found = [join(plan.location, plan.staging), join(lake, QUARANTINE, layer, name)]
    if isinstance(plan.build, SourceBuild):
        found.append(join(lake, LANDING, plan.build.source))
    return found


@contextmanager
def compaction_staging(plan: CompactionPlan) -> Iterator[RunStaging]:
    with _staging([join(plan.location, plan.staging)]) as staging:
        yield staging


@contextmanager
def delivery_staging(folder: str) -> Iterator[RunStaging]:
    """Files that are delivered to a folder."""
    with _staging([folder]) as staging:
        yield staging


@contextmanager
def _staging(prefixes: Iterable[str], *others: str, run_id: str = "") -> Iterator[RunStaging]:
    """Files below ``others`` are never made durable."""
    remote = [prefix for prefix in prefixes if is_remote(prefix)]
    if not remote:
        yield RunStaging()
        return
    with staging_folder() as folder, ExitStack() as stack:
        places = enumerate((*remote, *filter(is_remote, others)))
        areas = [
            stack.enter_context(staging_area(prefix, folder / str(number), run_id))
            for number, prefix in places
        ]
        yield RunStaging(tuple(areas[: len(remote)]))
