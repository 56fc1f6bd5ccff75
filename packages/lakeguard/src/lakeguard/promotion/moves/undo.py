"""Undo: puts a table back to its published version after somebody else changed it.

Altered or missing commits of the log are written back as they were recorded. Commits without a
decision are undone by a rollback to the published version, which the gate decides.
"""

from __future__ import annotations

from lakeguard.lake.log_repair import read_recorded, remove_derived_files, write_commits
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.intents import hold_table, open_intent, recorded_commits
from lakeguard.ledger.known_moves import governed_table
from lakeguard.ledger.table_findings import open_finding
from lakeguard.ledger.versions import Pointer, StoredVersion, pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.rollback import roll_back
from lakeguard.promotion.opening.eligibility import (
    rogue_commit,
    version_damage,
    way_out_of_damage,
)
from lakeguard.promotion.opening.log_check import commit_numbers, log_damage
from lakeguard.promotion.records.table_findings import (
    TableTrouble,
    note_recovery,
    note_trouble,
)
from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TableProblem
from lakeguard_sdk.errors import NothingToUndo, TableBusy, TableUnreadable, UnknownVersion
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.table_operations import Undone
from lakeguard_sdk.storage.checksum_files import remove_wrong_checksum_files


def undo(context: PlaneContext, name: DatasetName, reason: str) -> tuple[Undone, RunResult | None]:
    """What was undone, and the run that did it if the table had to be moved.

    Raises ``NothingToUndo`` if the table is as it was published, and ``TableUnreadable`` if files
    of the published version are damaged: those cannot be written again.
    """
    with context.read() as tx:
        dataset = require_dataset(tx, name)
        published = pointer(tx, dataset.dataset_id)
        known = open_finding(tx, dataset.dataset_id)
        if published is None:
            raise UnknownVersion(dataset=name, version="that is published")
        stored = require_version(tx, dataset.dataset_id, published.version)
    repaired = _repair_log(context, dataset)
    reread = _repair_checkpoints(context, dataset, published.commit)
    checksums = _remove_checksum_files(context, dataset, published)
    _require_whole(context, dataset, published, stored)
    rogue = rogue_commit(context, dataset, published.commit)
    if not any((repaired, reread, checksums, rogue, known)):
        raise NothingToUndo(dataset=name, version=published.version)
    result = None if rogue is None else roll_back(context, name, published.version, reason)
    undone = Undone(
        dataset=name,
        version=published.version,
        commits=tuple(repaired),
        checksum_files=tuple(checksums),
        moved=result is not None,
    )
    if result is None:
        with context.write() as tx:
            note_recovery(tx, context, dataset, f"undone: {reason}", by=context.actor)
    return undone, result


def _repair_log(context: PlaneContext, dataset: RegisteredDataset) -> list[int]:
    """Write altered and missing commits back; returns their versions."""
    location = context.location_of(dataset)
    with context.write() as tx:
        hold_table(tx, dataset.dataset_id)
        under_way = open_intent(tx, dataset.dataset_id)
        if under_way is not None:
            raise TableBusy(dataset=dataset.name, holder=under_way.run_id)
        recorded = recorded_commits(tx, dataset.dataset_id)
        log = read_recorded(location, recorded)
        altered = sorted((*log.altered, *log.missing))
        if not altered:
            return []
        bodies = {}
        for version in altered:
            try:
                bodies[version] = get_document(tx, recorded[version]).encode()
            except KeyError:
                reason = f"commit {version} is not the recorded one, and has no copy in the ledger"
                raise TableUnreadable(
                    dataset=dataset.name, location=location, reason=reason
                ) from None
        message = f"commits of its log were altered or lost: {commit_numbers(altered)}"
        trouble = TableTrouble(dataset, TableProblem.LOG, message)
        note_trouble(tx, context, trouble, by=context.actor)
        write_commits(location, bodies)
    return altered


def _repair_checkpoints(context: PlaneContext, dataset: RegisteredDataset, commit: int) -> bool:
    """Whether checkpoints said something else than the commits; they are removed then."""
    damage = _log_damage(context, dataset, commit)
    if damage is None:
        return False
    location = context.location_of(dataset)
    with context.write() as tx:
        hold_table(tx, dataset.dataset_id)
        trouble = TableTrouble(dataset, TableProblem.LOG, damage)
        note_trouble(tx, context, trouble, by=context.actor)
        removed = remove_derived_files(location)
    left = _log_damage(context, dataset, commit) if removed else damage
    if left is not None:
        raise TableUnreadable(dataset=dataset.name, location=location, reason=left)
    return True


def _remove_checksum_files(
    context: PlaneContext, dataset: RegisteredDataset, published: Pointer
) -> list[str]:
    """Remove wrong checksum files beside files of every version; returns these files."""
    location = context.location_of(dataset)
    with context.read() as tx:
        governed = governed_table(tx, dataset.dataset_id)
    paths = sorted(file.path for file in governed.files)
    wrong = remove_wrong_checksum_files(location, paths, governed.files_at(published.commit))
    if wrong:
        message = f"{dataset.name} has a wrong checksum file beside {wrong[0]}"
        with context.write() as tx:
            trouble = TableTrouble(dataset, TableProblem.DAMAGE, message)
            note_trouble(tx, context, trouble, by=context.actor)
    return wrong


def _log_damage(context: PlaneContext, dataset: RegisteredDataset, commit: int) -> str | None:
    try:
        return log_damage(context, dataset, commit)
    except TableUnreadable as error:
        return str(error.fields["reason"])


def _require_whole(
    context: PlaneContext, dataset: RegisteredDataset, published: Pointer, stored: StoredVersion
) -> None:
    """Refuse, and record, if files of the published version are damaged."""
    location, commit = context.location_of(dataset), published.commit
    damage = version_damage(context, dataset, stored, commit)
    if damage is None:
        return
    message = f"v{published.version} of {dataset.name} is damaged: {damage}"
    way_out = way_out_of_damage(context, dataset, published)
    with context.write() as tx:
        trouble = TableTrouble(dataset, TableProblem.DAMAGE, message)
        note_trouble(tx, context, trouble, by=context.actor)
    raise TableUnreadable(
        dataset=dataset.name,
        location=location,
        reason=f"{message}; no undo brings a file back; {way_out}",
    )
