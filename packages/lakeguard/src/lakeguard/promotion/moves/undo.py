"""Undo: puts a table back to its published version after somebody else changed it.

Altered or missing commits of the log are written back as they were recorded. Entries that no engine
can read are moved out of it. Commits without a decision are undone by a rollback to the published
version, which the gate decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lakeguard.lake.log_entries import OddEntry, commit_name
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.intents import hold_table, left_intent, open_intent, recorded_commits
from lakeguard.ledger.known_moves import governed_table
from lakeguard.ledger.table_findings import open_finding
from lakeguard.ledger.versions import Pointer, pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.moves.rollback import roll_back
from lakeguard.promotion.opening.eligibility import (
    is_replaced,
    rogue_commit,
    version_damage,
    way_out_of_damage,
)
from lakeguard.promotion.opening.log_check import commits_were, log_damage, wrongly_numbered
from lakeguard.promotion.publishing.complete_move import close_left
from lakeguard.promotion.records.table_findings import (
    TableTrouble,
    note_recovery,
    note_trouble,
)
from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TableProblem
from lakeguard_sdk.errors import (
    ForeignTable,
    NothingToUndo,
    TableBusy,
    TableUnreadable,
    UnknownVersion,
    VersionDamaged,
)
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.table_operations import Undone
from lakeguard_sdk.storage.checksum_files import remove_wrong_checksum_files


def undo(context: PlaneContext, name: DatasetName, reason: str) -> tuple[Undone, RunResult | None]:
    """What was undone, and the run that did it if the table had to be moved.

    Raises ``NothingToUndo`` if the table is as it was published, and ``VersionDamaged`` if files of
    the published version are damaged: those cannot be written again. ``ForeignTable`` protects
    another table that took its place.
    """
    with context.read() as tx:
        dataset = require_dataset(tx, name)
        published = pointer(tx, dataset.dataset_id)
        known = open_finding(tx, dataset.dataset_id)
    if is_replaced(context, dataset):
        location, difference = context.location_of(dataset), "it has none of its commits"
        raise ForeignTable(dataset=name, location=location, difference=difference)
    if published is None:
        return _undo_unpublished(context, dataset, reason), None
    repaired = _repair_log(context, dataset)
    removed = (*repaired.entries, *_remove_unreadable(context, dataset))
    reread = _repair_checkpoints(context, dataset, published.commit)
    left = _close_left(context, dataset)
    checksums = _remove_checksum_files(context, dataset, published)
    _require_whole(context, dataset, published)
    rogue = rogue_commit(context, dataset, published.commit)
    if not any((repaired.commits, removed, reread, left, checksums, rogue, known)):
        raise NothingToUndo(dataset=name, version=published.version)
    result = None if rogue is None else roll_back(context, name, published.version, reason)
    undone = Undone(
        dataset=name,
        version=published.version,
        commits=tuple(repaired.commits),
        log_entries=tuple(removed),
        checksum_files=tuple(checksums),
        moved=result is not None,
    )
    if result is None:
        with context.write() as tx:
            note_recovery(tx, context, dataset, f"undone: {reason}", by=context.actor)
    return undone, result


def _undo_unpublished(context: PlaneContext, dataset: RegisteredDataset, reason: str) -> Undone:
    """There is no version to roll back to: whatever somebody else wrote is moved out."""
    with context.read() as tx:
        is_known = bool(recorded_commits(tx, dataset.dataset_id))
        known = open_finding(tx, dataset.dataset_id)
    repaired = _repair_log(context, dataset) if is_known else _Repaired([])
    removed = list(repaired.entries)
    if is_known:
        removed += _remove_unreadable(context, dataset, every=True)
    left = _close_left(context, dataset)
    if not any((repaired.commits, removed, left, known)):
        raise UnknownVersion(dataset=dataset.name, version="that is published")
    with context.write() as tx:
        note_recovery(tx, context, dataset, f"undone: {reason}", by=context.actor)
    return Undone(
        dataset=dataset.name,
        version=None,
        commits=tuple(repaired.commits),
        log_entries=tuple(removed),
    )


class _Repaired(NamedTuple):
    """Commits that were written back, and entries that were moved out."""

    commits: list[int]
    entries: Sequence[str] = ()


def _repair_log(context: PlaneContext, dataset: RegisteredDataset) -> _Repaired:
    """Write altered and missing commits back, and move out what is no entry of this log."""
    location = context.location_of(dataset)
    with context.write() as tx:
        _hold(tx, dataset)
        recorded = recorded_commits(tx, dataset.dataset_id)
        log = context.tables.read_log(location, recorded)
        altered = sorted((*log.altered, *log.missing))
        if not altered and not log.odd:
            return _Repaired([])
        bodies = {}
        for version in altered:
            try:
                bodies[version] = get_document(tx, recorded[version]).encode()
            except KeyError:
                reason = f"commit {version} is not the recorded one, and has no copy in the ledger"
                raise TableUnreadable(
                    dataset=dataset.name, location=location, reason=reason
                ) from None
        message = commits_were(altered, "altered or lost") if altered else str(log.odd[0])
        _note_log(tx, context, dataset, message)
        removed = context.tables.repair_log(location, bodies, log.odd, max(recorded))
    return _Repaired(altered, removed)


def _repair_checkpoints(context: PlaneContext, dataset: RegisteredDataset, commit: int) -> bool:
    """Whether checkpoints said something else than the commits; they are moved out then."""
    damage = _log_damage(context, dataset, commit)
    if damage is None:
        return False
    location = context.location_of(dataset)
    with context.write() as tx:
        _hold(tx, dataset)
        _note_log(tx, context, dataset, damage)
        removed = context.tables.read_from_commits(location)
    left = _log_damage(context, dataset, commit) if removed else damage
    if left is not None:
        raise TableUnreadable(dataset=dataset.name, location=location, reason=left)
    return True


def _remove_unreadable(
    context: PlaneContext, dataset: RegisteredDataset, *, every: bool = False
) -> Sequence[str]:
    """Move out commits without a decision that no commit can undo: those that no engine can read,
    those that ask readers for more than before, which stays so for good, and those with a number
    that was not given, after which nothing can commit. ``every`` means all that change data."""
    location = context.location_of(dataset)
    with context.write() as tx:
        _hold(tx, dataset)
        recorded = recorded_commits(tx, dataset.dataset_id)
        last = max(recorded)
        foreign = [
            commit
            for commit in context.tables.commits_since(location, min(recorded))
            if commit.version not in recorded
        ]
        readable = _is_readable(context, location)
        numbered = wrongly_numbered(tx, dataset.dataset_id, foreign)
        odd = [
            OddEntry(commit_name(commit.version), "has no decision", commit.version)
            for commit in foreign
            if commit.upgrades
            or commit in numbered
            or (commit.version > last and not readable)
            or (every and commit.data_changing)
        ]
        if not odd:
            return ()
        _note_log(tx, context, dataset, str(odd[0]))
        return context.tables.repair_log(location, {}, odd, last)


def _is_readable(context: PlaneContext, location: str) -> bool:
    try:
        context.tables.require_readable(location)
    except TableUnreadable:
        return False
    return True


def _hold(tx: Transaction, dataset: RegisteredDataset) -> None:
    """Hold the table, unless a run that has not ended is moving it."""
    hold_table(tx, dataset.dataset_id)
    under_way = open_intent(tx, dataset.dataset_id)
    if under_way is not None and left_intent(tx, dataset.dataset_id) is None:
        raise TableBusy(dataset=dataset.name, holder=under_way.run_id)


def _note_log(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, message: str
) -> None:
    trouble = TableTrouble(dataset, TableProblem.LOG, message)
    note_trouble(tx, context, trouble, by=context.actor)


def _close_left(context: PlaneContext, dataset: RegisteredDataset) -> bool:
    """Whether a run had ended on the damaged log, with the table's next number in its hands."""
    with context.read() as tx:
        intent = left_intent(tx, dataset.dataset_id)
    if intent is None:
        return False
    here = intent.model_copy(update={"location": context.location_of(dataset)})
    close_left(context, here)
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
        return log_damage(context, dataset, commit, whole=True)
    except TableUnreadable as error:
        return str(error.fields["reason"])


def _require_whole(context: PlaneContext, dataset: RegisteredDataset, published: Pointer) -> None:
    """Refuse, and record, if files of the published version are damaged."""
    with context.read() as tx:
        stored = require_version(tx, dataset.dataset_id, published.version)
    damage = version_damage(context, dataset, stored, published.commit)
    if damage is None:
        return
    message = f"v{published.version} of {dataset.name} is damaged: {damage}"
    way_out = way_out_of_damage(context, dataset, published)
    with context.write() as tx:
        trouble = TableTrouble(dataset, TableProblem.DAMAGE, message)
        note_trouble(tx, context, trouble, by=context.actor)
    raise VersionDamaged(
        dataset=dataset.name,
        version=published.version,
        reason=f"{damage}; undo restores no data file: {way_out}",
    )
