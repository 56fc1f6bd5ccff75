"""Deleting what a run wrote, where a decision says that it may not be kept."""

from __future__ import annotations

from lakeguard_sdk.left_files import kept_place, quarantine_place
from lakeguard_sdk.run import RunPlan, SourceBuild
from lakeguard_sdk.storage import Storage, join
from openlaketx.extract.landing import run_folder


def discard_staged(plan: RunPlan, storage: Storage, lake: str) -> int:
    """Every file of the attempt is gone, also those that no decision named, every row that the run
    kept aside, for whatever reason, and every file that it received; answers how many those were.

    Where it dies on the way, maintenance removes the rest without waiting.
    """
    run_id = plan.ticket.run_id
    beside = [
        quarantine_place(lake, plan.dataset, run_id),
        kept_place(lake, plan.dataset, plan.batch_schema, run_id),
    ]
    if isinstance(plan.build, SourceBuild):
        beside.append(str(run_folder(plan, plan.build.source, lake)))
    gone = _emptied(storage, join(plan.location, plan.staging), plan.location)
    return gone + sum(_emptied(storage, folder, lake) for folder in beside)


def _emptied(storage: Storage, folder: str, root: str) -> int:
    files = list(storage.files_under(folder))
    for file in files:
        storage.remove(file.path, root)
    return len(files)
