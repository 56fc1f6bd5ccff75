"""Rows that runs kept aside: there to be looked at for a while, and then removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from lakeguard.promotion.heart import Heart
from lakeguard_sdk.maintenance import Removal, RemovalKind
from lakeguard_sdk.quarantine import QUARANTINE, quarantined_by
from lakeguard_sdk.storage import join, local_path, storage_for


def rows_to_remove(heart: Heart, ends: Mapping[str, datetime]) -> Iterator[Removal]:
    """Of the runs that ended long enough ago, under whatever name the dataset had then."""
    until = heart.clock() - timedelta(days=heart.maintenance.inspection_days)
    root = f"{local_path(heart.lake).rstrip('/')}/"
    paths, runs, size = [], set(), 0
    for facts in storage_for(heart.lake).files_under(join(heart.lake, QUARANTINE)):
        path = facts.path.removeprefix(root)
        run = quarantined_by(path)
        if run is not None and run in ends and ends[run] < until:
            paths.append(path)
            runs.add(run)
            size += facts.size
    if paths:
        yield Removal(
            kind=RemovalKind.QUARANTINE, paths=tuple(paths), bytes=size, runs=tuple(sorted(runs))
        )
