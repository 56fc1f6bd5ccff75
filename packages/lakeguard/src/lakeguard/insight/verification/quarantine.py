"""Quarantined rows: all accounted for, stored where the ledger says, and visible as such."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.insight.verification.files import content_damage, side_by_side
from lakeguard.lake.port import QuarantineTables
from lakeguard.ledger.quarantine.facts import datasets_with_holdings, datasets_with_quarantine
from lakeguard.ledger.quarantine.load import quarantine_of, rows_read_by
from lakeguard.ledger.quarantine.state import Quarantine, ReadRows
from lakeguard.promotion.quarantine.quarantine_tables import wanted_files
from lakeguard.registry.store import dataset_by_id
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.quarantine import StagedQuarantineFile
from lakeguard_sdk.model.verification import Finding, FindingKind
from lakeguard_sdk.storage.storage import join


def quarantine_findings(
    state: OrganisationState, lake: str, tables: QuarantineTables
) -> Iterator[Finding]:
    """HISTORY, FILE and COMMIT for every dataset that ever had quarantined rows."""
    with state.read() as tx:
        held = datasets_with_holdings(tx)
        datasets = held | datasets_with_quarantine(tx)
    for dataset_id in sorted(datasets):
        yield from _account(state, dataset_id)
        yield from _files(state, dataset_id, lake)
        found = list(_shown(state, dataset_id, lake, tables))
        if found:  # a run may have published in between
            again = set(_shown(state, dataset_id, lake, tables))
            yield from (finding for finding in found if finding in again)


def _account(state: OrganisationState, dataset_id: str) -> Iterator[Finding]:
    """Every row read by a published run is accounted for. Missing evidence is another finding."""
    with state.read() as tx:
        name = dataset_by_id(tx, dataset_id).name
        found = quarantine_of(tx, dataset_id, whole=True)
        versions = {move.version for move in found.moves}
        read = rows_read_by(tx, dataset_id, versions)
        yield from _filed(name, found, read)
        for balance in found.balances(name, read):
            if not balance.adds_up:
                message = (
                    f"expected {balance.read:,} rows that were read, found"
                    f" {balance.published:,} published, {balance.quarantined:,} waiting,"
                    f" {balance.discarded:,} discarded and {balance.malformed:,} malformed"
                )
                place = f"{name}@v{balance.version}"
                yield Finding(kind=FindingKind.HISTORY, place=place, message=message)


def _filed(name: DatasetName, found: Quarantine, read: dict[int, ReadRows]) -> Iterator[Finding]:
    """The rows a version quarantined equal those recorded with it."""
    filed: dict[int, int] = {}
    for holding in found.holdings:
        filed[holding.version] = filed.get(holding.version, 0) + holding.rows
    for version, rows in sorted(read.items()):
        if rows.quarantined != filed.get(version, 0):
            message = (
                f"expected {rows.quarantined:,} rows quarantined, found {filed.get(version, 0):,}"
            )
            yield Finding(kind=FindingKind.HISTORY, place=f"{name}@v{version}", message=message)


def _files(state: OrganisationState, dataset_id: str, lake: str) -> Iterator[Finding]:
    with state.read() as tx:
        found = quarantine_of(tx, dataset_id)
        quarantined = found.quarantined(found.published)

    def damage(file: StagedQuarantineFile) -> str | None:
        return content_damage(join(lake, file.path), file)

    for file, damaged in side_by_side(
        damage, [file for item in quarantined for file in item.files]
    ):
        if damaged is not None:
            yield Finding(kind=FindingKind.FILE, place=file.path, message=damaged)


def _shown(
    state: OrganisationState, dataset_id: str, lake: str, tables: QuarantineTables
) -> Iterator[Finding]:
    with state.read() as tx:
        wanted = wanted_files(tx, dataset_id)
    for table, files in sorted(wanted.items()):
        try:
            shown = tables.shown(join(lake, table)).paths
        except TableUnreadable as error:
            yield Finding(kind=FindingKind.COMMIT, place=table, message=str(error))
            continue
        for words, paths in (
            ("does not show quarantined rows", files.keys() - shown),
            ("shows rows that do not wait", shown - files.keys()),
        ):
            if paths:
                message = f"the table {words}: {', '.join(sorted(paths)[:3])}"
                yield Finding(kind=FindingKind.COMMIT, place=table, message=message)
