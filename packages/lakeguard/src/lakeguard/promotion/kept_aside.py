"""What runs left beside their tables: there to be looked at for a while, and then removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from datetime import datetime, timedelta

from sqlalchemy import Connection

from lakeguard.ledger.kept_reading import quarantine_of
from lakeguard.ledger.maintenance import removed_versions
from lakeguard.ledger.versions import stored_versions
from lakeguard.promotion.heart import Heart
from lakeguard.registry.store import RegisteredDataset
from lakeguard_sdk.left_files import LANDING, QUARANTINE, left_by
from lakeguard_sdk.maintenance import Removal, RemovalKind
from lakeguard_sdk.storage import FileFacts, join, local_path, storage_for


def files_that_may_wait(
    connection: Connection, heart: Heart, dataset: RegisteredDataset
) -> frozenset[str]:
    """Paths below the lake of rows that wait now, or would where a version is shown again that
    still can be, or were written off a short while ago."""
    found = quarantine_of(connection, heart.org_id, dataset.dataset_id)
    if not found.holdings:
        return frozenset()
    gone = removed_versions(connection, dataset.dataset_id)
    known = {item.version for item in stored_versions(connection, dataset.dataset_id)} - gone
    until = heart.clock() - timedelta(days=heart.maintenance.inspection_days)
    shown = {found.published} if found.published is not None else set()
    stays = (*found.ever_waiting(known | shown), *found.written_off_since(until))
    return frozenset(file.path for holding in stays for file in holding.files)


def left_to_remove(
    heart: Heart, ends: Mapping[str, datetime], discarded: Set[str], needed: Set[str]
) -> Iterator[Removal]:
    """Rows kept aside by runs that ended long enough ago, under whatever name the dataset had
    then, and all that a run left of which nothing may be kept. What is ``needed`` stays, and so do
    other files that were received."""
    until = heart.clock() - timedelta(days=heart.maintenance.inspection_days)
    old = {run for run, ended in ends.items() if ended < until}
    left = [*_left(heart, QUARANTINE, old | discarded), *_left(heart, LANDING, discarded)]
    found = [item for item in left if item[0] not in needed]
    if found:
        yield Removal(
            kind=RemovalKind.QUARANTINE,
            paths=tuple(path for path, _, _ in found),
            bytes=sum(facts.size for _, _, facts in found),
            runs=tuple(sorted({run for _, run, _ in found})),
        )


def _left(heart: Heart, place: str, runs: Set[str]) -> Iterator[tuple[str, str, FileFacts]]:
    """Path below the lake, run and facts of every file that one of the runs left there."""
    root = f"{local_path(heart.lake).rstrip('/')}/"
    if runs:
        for facts in storage_for(heart.lake).files_under(join(heart.lake, place)):
            path = facts.path.removeprefix(root)
            left = left_by(path)
            if left is not None and left[1] in runs:
                yield path, left[1], facts
