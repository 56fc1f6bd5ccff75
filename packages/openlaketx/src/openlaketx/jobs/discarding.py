"""Deleting what a run staged, where a decision says that it may not be kept."""

from __future__ import annotations

from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.storage import Storage, join


def discard_staged(plan: RunPlan, storage: Storage) -> int:
    """Every file of the attempt is gone, also those that no decision named; answers how many.

    Where it dies on the way, maintenance removes the rest without waiting.
    """
    staged = list(storage.files_under(join(plan.location, plan.staging)))
    for file in staged:
        storage.remove(file.path, plan.location)
    return len(staged)
