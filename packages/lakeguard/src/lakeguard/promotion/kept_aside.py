"""What runs left beside their tables: there to be looked at for a while, and then removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from datetime import datetime, timedelta

from lakeguard.promotion.heart import Heart
from lakeguard_sdk.left_files import LANDING, QUARANTINE, left_by
from lakeguard_sdk.maintenance import Removal, RemovalKind
from lakeguard_sdk.storage import FileFacts, join, local_path, storage_for


def left_to_remove(
    heart: Heart, ends: Mapping[str, datetime], discarded: Set[str]
) -> Iterator[Removal]:
    """Rows kept aside by runs that ended long enough ago, under whatever name the dataset had
    then, and all that a run left of which nothing may be kept. Other files that were received
    stay."""
    until = heart.clock() - timedelta(days=heart.maintenance.inspection_days)
    old = {run for run, ended in ends.items() if ended < until}
    found = [*_left(heart, QUARANTINE, old | discarded), *_left(heart, LANDING, discarded)]
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
