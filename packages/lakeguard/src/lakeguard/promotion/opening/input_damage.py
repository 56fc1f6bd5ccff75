"""Records damage of what a run has read, once reading it failed."""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress

from lakeguard.dispatch import tasks
from lakeguard.ledger.openings import opening_of
from lakeguard.ledger.versions import Pointer, StoredVersion, pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import (
    log_trouble,
    rogue_commit,
    rogue_message,
    unreadable_trouble,
    version_damage,
)
from lakeguard.promotion.opening.log_check import log_damage
from lakeguard.promotion.records.table_findings import TableTrouble, note_trouble
from lakeguard.registry.store import RegisteredDataset, dataset_by_id
from lakeguard_sdk.core.enums import TableProblem
from lakeguard_sdk.errors import FileDamaged, TableUnreadable, UnknownRun

DAMAGE_CODES = (FileDamaged.code, TableUnreadable.code)


def note_damage_of_inputs(context: PlaneContext, run_id: str) -> None:
    """Record damage of the published versions that the run read, and of its own table."""
    with context.read() as tx:
        task = tasks.task_of_run(tx, run_id)
        read = {task.dataset_id}
        with suppress(UnknownRun):  # a compaction reads its own table only
            plan = opening_of(tx, run_id).plan
            read |= {pin.input.dataset_id for pin in (*plan.pins, *plan.references)}
    note_damage(context, read, by=run_id)


def note_damage(context: PlaneContext, dataset_ids: Set[str], *, by: str) -> None:
    """Record damage of the published versions of these datasets."""
    with context.read() as tx:
        found = [
            (dataset_by_id(tx, dataset_id), require_version(tx, dataset_id, shown.version), shown)
            for dataset_id in sorted(dataset_ids)
            if (shown := pointer(tx, dataset_id)) is not None
        ]
    troubles = [_trouble(context, *version) for version in found]
    if not any(troubles):  # pages that do not match their checksums have the recorded footer
        troubles = [_trouble(context, *version, hashed=True) for version in found]
    for trouble in filter(None, troubles):
        with context.write() as tx:
            note_trouble(tx, context, trouble, by=by)


def _trouble(
    context: PlaneContext,
    dataset: RegisteredDataset,
    stored: StoredVersion,
    shown: Pointer,
    *,
    hashed: bool = False,
) -> TableTrouble | None:
    try:
        damage = log_damage(context, dataset, shown.commit)
        if damage is not None:
            return log_trouble(dataset, damage)
        damage = version_damage(context, dataset, stored, shown.commit, hashed=hashed)
    except TableUnreadable as error:
        return unreadable_trouble(dataset, error)
    if damage is not None:
        message = f"v{stored.version} of {dataset.name} is damaged: {damage}"
        return TableTrouble(dataset, TableProblem.DAMAGE, message)
    rogue = rogue_commit(context, dataset, shown.commit)
    if rogue is None:
        return None
    message = rogue_message(dataset, rogue)
    return TableTrouble(dataset, TableProblem.FOREIGN_COMMIT, message)
