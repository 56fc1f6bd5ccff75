"""HISTORY: the source files of a published version are those of its position."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select

from lakeguard.ledger.source_files import all_files, position_of
from lakeguard.ledger.versions import pointer
from lakeguard.registry.store import dataset_by_id
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import data_versions
from lakeguard_sdk.model.verification import Finding, FindingKind


def source_file_findings(state: OrganisationState) -> Iterator[Finding]:
    table = data_versions.c
    with state.read() as tx:
        sourced = set(
            tx.scalars(
                select(table.dataset_id)
                .where(table.org_id == tx.org_id, table.position_hash.is_not(None))
                .distinct()
            )
        )
    for dataset_id in sorted(sourced):
        yield from _findings(state, dataset_id)


def _findings(state: OrganisationState, dataset_id: str) -> Iterator[Finding]:
    with state.read() as tx:
        shown = pointer(tx, dataset_id)
        if shown is None:
            return
        try:
            position = position_of(tx, dataset_id, shown.version)
        except (KeyError, ValueError):  # reported as a missing or altered document
            return
        files = list(all_files(tx, dataset_id, shown.version)) if position else []
        name = dataset_by_id(tx, dataset_id).name
    if position is not None and not position.holds(files):
        message = (
            f"expected the {position.files:,} source files of its position, found {len(files):,}"
            " or others"
        )
        place = f"{name}@v{shown.version}"
        yield Finding(kind=FindingKind.HISTORY, place=place, message=message)
