"""Sealing the candidate: every file on disk and named by its content, before anyone decides."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from lakeguard_sdk.compaction import CompactionPlan
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.storage import Storage, join
from openlaketx.engine.machine import cores
from openlaketx.stage.candidate import Candidate


def seal(
    candidate: Candidate, plan: RunPlan | CompactionPlan, storage: Storage
) -> Future[Candidate]:
    """The candidate with its hashes, once all of it is on disk; works in the background."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="seal")
    try:
        return pool.submit(_seal, candidate, plan, storage)
    finally:
        pool.shutdown(wait=False)


def _seal(candidate: Candidate, plan: RunPlan | CompactionPlan, storage: Storage) -> Candidate:
    """Hashing takes cores and syncing waits for the disk, so neither waits for the other."""
    places = [join(plan.location, file.path) for file in candidate.files]
    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="hash") as hashing:
        hashes = hashing.map(storage.sha256, places)
        _sync(places, plan, storage)
        return candidate.with_hashes(list(hashes))


def _sync(places: list[str], plan: RunPlan | CompactionPlan, storage: Storage) -> None:
    """Every file, and every folder from the table's root down that names one."""
    folders = {plan.staging.strip("/")}
    for place in places:
        storage.make_durable(place)
        folders.add(place.removeprefix(plan.location.rstrip("/") + "/").rpartition("/")[0])
    above = {
        "/".join(parts[:depth])
        for parts in (folder.split("/") for folder in folders)
        for depth in range(len(parts) + 1)
    }
    for folder in sorted(above, reverse=True):
        storage.make_durable(join(plan.location, folder) if folder else plan.location)
