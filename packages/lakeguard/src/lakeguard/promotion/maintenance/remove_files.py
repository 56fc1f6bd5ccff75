"""Removes unneeded files: planned, recorded in the ledger, then deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta

from lakeguard.dispatch import tasks
from lakeguard.lake.small_files import MEGABYTE, small_file_groups
from lakeguard.ledger.decisions import discarded_runs
from lakeguard.ledger.intents import hold_table, open_intent
from lakeguard.ledger.maintenance import record_removal, removed_versions
from lakeguard.ledger.quarantine.load import quarantine_of
from lakeguard.ledger.runs import ends_of_runs
from lakeguard.ledger.versions import Pointer, pointer, stored_versions
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.maintenance.retention import (
    Retained,
    needed_files,
    states_at,
    what_stays,
)
from lakeguard.promotion.maintenance.unfinished_uploads import upload_places, uploads_to_abort
from lakeguard.promotion.opening.eligibility import Findings, find_rogue_commit
from lakeguard.promotion.records.table_findings import note_trouble
from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome, TaskKind
from lakeguard_sdk.errors import BaseChanged, MaintenanceRefused, TableBusy
from lakeguard_sdk.model.delta_log import STAGING, Commit, CommittedFile
from lakeguard_sdk.model.table_operations import Maintained, Removal, RemovalKind
from lakeguard_sdk.scheduling.scratch_folders import remove_left_scratch
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.run_folders import LANDING, QUARANTINE, left_by
from lakeguard_sdk.storage.storage import (
    FileFacts,
    below,
    join,
    storage_for,
)
from lakeguard_sdk.storage.unfinished_uploads import abort_upload

Listing = Mapping[str, FileFacts]

_CHANGES = "changes"
"""Folder of a run with the rows that its merge changed."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Files that must not be kept are deleted at once, not kept for inspection."""


def maintain(context: PlaneContext, name: DatasetName, *, dry_run: bool) -> Maintained:
    """Delete files that no retained version needs and no live run owns; a dry run only lists them.

    The ledger records the removal first; from then on no rollback can restore the files.
    """
    with context.read() as tx:
        dataset = require_dataset(tx, name)
        published = pointer(tx, dataset.dataset_id)
        retained = what_stays(tx, context, dataset)
        ends = ends_of_runs(tx, dataset.dataset_id)
        discarded = discarded_runs(tx, dataset.dataset_id)
        ends |= dict.fromkeys(discarded, _LONG_AGO)
        needed = files_that_may_wait(tx, context, dataset)
        rest = upload_places(tx, context, dataset)
    location = context.location_of(dataset)
    if context.tables.exists(location):
        _check(context, dataset, published)
        commits = _log(context, dataset, retained, published)
        removals = tuple(_removals(context, dataset, retained, commits, ends))
    elif published is None:  # runs may have staged files without publishing
        removals = tuple(_staging(context, _listing(context, dataset), retained, ends))
    else:
        removals = ()
    removals += tuple(left_to_remove(context, ends, discarded, needed))
    removals += tuple(uploads_to_abort(context, location, rest))
    if not dry_run:
        _carry_out(context, dataset, published, removals)
        remove_left_scratch(context.lake, context.clock())
    return Maintained(
        dataset=dataset.name,
        small_files=_small_files(context, dataset, published),
        removals=removals,
        done=not dry_run,
    )


def _check(context: PlaneContext, dataset: RegisteredDataset, published: Pointer | None) -> None:
    """A table that does not match the ledger is left alone."""
    findings = Findings()
    find_rogue_commit(context, dataset, published, findings)
    if findings.troubles:
        with context.write() as tx:
            for trouble in findings.troubles:
                note_trouble(tx, context, trouble, by="maintain")
    for check in findings.checks:
        if check.outcome is Outcome.FAIL:
            raise MaintenanceRefused(dataset=dataset.name, reason=check.message)


def _log(
    context: PlaneContext, dataset: RegisteredDataset, retained: Retained, published: Pointer | None
) -> Sequence[Commit]:
    """Read the whole log and check its state at the published commit."""
    location = context.location_of(dataset)
    commits = _governed(context, location, retained.adopted)
    shown = states_at(commits, retained.commits)
    if retained.commits - shown.keys():
        raise MaintenanceRefused(dataset=dataset.name, reason="its log is not whole")
    if published and shown[published.commit] != context.tables.files_at(location, published.commit):
        raise MaintenanceRefused(dataset=dataset.name, reason="its log and its checkpoint differ")
    return commits


def _governed(context: PlaneContext, location: str, adopted: int | None) -> Sequence[Commit]:
    """Commits since the table became governed. For an adopted table the first one represents all
    earlier ones, as if it had added the files visible then.
    """
    if adopted is None:
        return context.tables.commits_since(location, -1)
    first, *later = context.tables.commits_since(location, adopted - 1)
    shown = context.tables.live_at(location, adopted)
    brought = tuple(
        CommittedFile(path=file.path, size=file.size, stats="", partition=dict(file.partition))
        for file in shown
    )
    return [first.model_copy(update={"added": brought}), *later]


def _removals(
    context: PlaneContext,
    dataset: RegisteredDataset,
    retained: Retained,
    commits: Sequence[Commit],
    ends: Mapping[str, datetime],
) -> Iterator[Removal]:
    listing = _listing(context, dataset)
    needed = needed_files(retained, commits)
    published = {path for commit in commits for path in commit.adds}
    gone = tuple(path for path in listing if path in published and path not in needed)
    if gone:
        shown = states_at(commits, retained.others.values())
        lost = [v for v, commit in retained.others.items() if shown[commit] & set(gone)]
        size = sum(listing[path].size for path in gone)
        yield Removal(
            kind=RemovalKind.VERSIONS, paths=gone, bytes=size, versions=tuple(sorted(lost))
        )
    spared = published | needed
    staged = {path: facts for path, facts in listing.items() if path not in spared}
    runs = {path.split("/")[1] for path in published if path.startswith(f"{STAGING}/")}
    used = {path.split("/")[1] for path in needed if path.startswith(f"{STAGING}/")}
    stays = set(listing) - set(gone) - set(staged)
    left = {path: facts for path, facts in staged.items() if not _belongs(path, runs, used, stays)}
    yield from _staging(context, left, retained, ends)


def _belongs(path: str, published: Set[str], used: Set[str], stays: Set[str]) -> bool:
    """Whether an unpublished file of a published run belongs to something that stays: a checksum
    to its file, and the changed rows of a merge to the version, for measuring it again."""
    folder, _, name = path.rpartition("/")
    parts = path.split("/")
    if parts[0] != STAGING or len(parts) < 3 or parts[1] not in published:
        return False
    if name.startswith(".") and name.endswith(".crc"):
        return f"{folder}/{name[1:-4]}" in stays
    return parts[2] == _CHANGES and parts[1] in used


def _staging(
    context: PlaneContext,
    staged: Listing,
    retained: Retained,
    ends: Mapping[str, datetime],
) -> Iterator[Removal]:
    """What runs staged and did not publish: all of a blocked run, the batch of a merge."""
    until = context.clock() - timedelta(days=context.maintenance.inspection_days)
    folders: dict[str, list[FileFacts]] = {}
    names: dict[str, list[str]] = {}
    for path, facts in staged.items():
        top, _, rest = path.partition("/")
        if top == STAGING and "/" in rest:
            run = rest.split("/")[0]
            folders.setdefault(run, []).append(facts)
            names.setdefault(run, []).append(path)
    old = [
        run
        for run, files in folders.items()
        if run not in retained.running and _ended(run, files, ends) < until
    ]
    if old:
        yield Removal(
            kind=RemovalKind.STAGING,
            paths=tuple(path for run in old for path in names[run]),
            bytes=sum(facts.size for run in old for facts in folders[run]),
            runs=tuple(old),
        )


def _ended(run: str, files: Sequence[FileFacts], ends: Mapping[str, datetime]) -> datetime:
    """The last write of a run that the State does not know."""
    written = max(facts.modified_ms for facts in files)
    return ends.get(run) or datetime.fromtimestamp(written / 1000, UTC)


def _listing(context: PlaneContext, dataset: RegisteredDataset) -> Listing:
    location = context.location_of(dataset)
    files = storage_for(location).files_under(location)
    found = {below(facts.path, location): facts for facts in files}
    return {path: facts for path, facts in found.items() if not path.startswith("_delta_log/")}


def _carry_out(
    context: PlaneContext,
    dataset: RegisteredDataset,
    published: Pointer | None,
    removals: Sequence[Removal],
) -> None:
    if not removals:
        return
    with context.write() as tx:
        hold_table(tx, dataset.dataset_id)
        _check_unmoved(tx, dataset, published)
        for removal in removals:
            record_removal(tx, dataset.dataset_id, removal)
    reached("maintain.recorded")
    location = context.location_of(dataset)
    for removal in removals:
        if removal.kind is RemovalKind.UPLOADS:
            for upload in removal.paths:
                abort_upload(upload)
            continue
        root = context.lake if removal.kind is RemovalKind.QUARANTINE else location
        for path in removal.paths:
            storage_for(root).remove(join(root, path), root)
    reached("maintain.removed")


def _check_unmoved(tx: Transaction, dataset: RegisteredDataset, published: Pointer | None) -> None:
    """Lock the table against moves and compactions, which read files they will remove."""
    under_way = open_intent(tx, dataset.dataset_id)
    holders = [under_way.run_id] if under_way else []
    holders += [
        str(task.run_id)
        for task in tasks.running_tasks(tx)
        if (task.kind, task.dataset_id) == (TaskKind.COMPACTION, dataset.dataset_id)
    ]
    if holders:
        raise TableBusy(dataset=dataset.name, holder=holders[0])
    if pointer(tx, dataset.dataset_id) != published:
        raise BaseChanged(
            dataset=dataset.name, expected="no move", found="one since it was planned"
        )


def _small_files(
    context: PlaneContext, dataset: RegisteredDataset, published: Pointer | None
) -> int:
    if published is None or not context.tables.exists(context.location_of(dataset)):
        return 0
    live = context.tables.live_at(context.location_of(dataset), published.commit)
    return sum(map(len, small_file_groups(live, context.maintenance.small_file_mb * MEGABYTE)))


# Run leftovers beside the tables: kept for inspection for a while, then deleted.


def files_that_may_wait(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset
) -> frozenset[str]:
    """Paths below the lake of quarantined rows now, or would where a version is shown again that
    still can be, or were discarded a short while ago."""
    found = quarantine_of(tx, dataset.dataset_id)
    if not found.holdings:
        return frozenset()
    gone = removed_versions(tx, dataset.dataset_id)
    known = {item.version for item in stored_versions(tx, dataset.dataset_id)} - gone
    until = tx.now() - timedelta(days=context.maintenance.inspection_days)
    shown = {found.published} if found.published is not None else set()
    stays = (*found.ever_quarantined(known | shown), *found.discarded_since(until))
    return frozenset(file.path for holding in stays for file in holding.files)


def left_to_remove(
    context: PlaneContext, ends: Mapping[str, datetime], discarded: Set[str], needed: Set[str]
) -> Iterator[Removal]:
    """Rows quarantined by runs that ended long enough ago, under whatever name the dataset had
    then, and all that a run left of which nothing may be kept. What is ``needed`` stays, and so do
    other files that were received."""
    until = context.clock() - timedelta(days=context.maintenance.inspection_days)
    old = {run for run, ended in ends.items() if ended < until}
    left = [*_left(context, QUARANTINE, old | discarded), *_left(context, LANDING, discarded)]
    found = [item for item in left if item[0] not in needed]
    if found:
        yield Removal(
            kind=RemovalKind.QUARANTINE,
            paths=tuple(path for path, _, _ in found),
            bytes=sum(facts.size for _, _, facts in found),
            runs=tuple(sorted({run for _, run, _ in found})),
        )


def _left(
    context: PlaneContext, place: str, runs: Set[str]
) -> Iterator[tuple[str, str, FileFacts]]:
    """Path, run and facts of every leftover file of the runs."""
    if runs:
        for facts in storage_for(context.lake).files_under(join(context.lake, place)):
            path = below(facts.path, context.lake)
            left = left_by(path)
            if left is not None and left[1] in runs:
                yield path, left[1], facts
