"""Loads that add what was staged and rewrite nothing: FULL, APPEND, PARTITION."""

from __future__ import annotations

from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.evidence import Changes
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.words import LoadType
from openlaketx.loads.existing import Existing
from openlaketx.loads.loaded import Loaded
from openlaketx.stage import Candidate


def load_plain(staged: Candidate, plan: RunPlan, existing: Existing, late: int) -> Loaded:
    """The staged files, in the place of all, some or none of the table's."""
    match plan.load.type:
        case LoadType.FULL:
            removes, changes = set(existing.files), None
        case LoadType.PARTITION:
            removes = replaced(staged, plan, existing)
            gone = sum(existing.files[path].rows or 0 for path in removes)
            changes = Changes(inserted=staged.rows, deleted=gone, late=late)
        case _:
            removes = set()
            watched = plan.watermark is not None
            changes = Changes(inserted=staged.rows, late=late) if watched else None
    return Loaded(
        candidate=staged,
        arrived=staged,
        read=staged,
        batch=staged.rows + late,
        removes=tuple(sorted(removes)),
        stays=existing.without(removes),
        changes=changes,
    )


def replaced(staged: Candidate, plan: RunPlan, existing: Existing) -> set[str]:
    """Files of the partitions that the batch has rows of."""
    if not plan.partition_by:
        raise LoadFailed(
            dataset=plan.dataset, reason="a PARTITION load needs a table that is partitioned"
        )
    brought = {frozenset(file.partition.items()) for file in staged.files}
    return {
        path for path, values in existing.partitions.items() if frozenset(values.items()) in brought
    }
