"""Bringing the tables of quarantined rows to what the ledger says: state-based, so that whatever a
crash left undone is done by whoever comes next."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from lakeguard.lake.port import ShownFile
from lakeguard.lake.quarantine_tables import unreadable
from lakeguard.ledger.openings import accepted_plan
from lakeguard.ledger.quarantine.facts import datasets_with_holdings, holdings_of
from lakeguard.ledger.quarantine.load import quarantine_of
from lakeguard.ledger.quarantine.state import Holding, Quarantine
from lakeguard.promotion.context import PlaneContext
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.quarantine import QUARANTINE_COLUMNS
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import Column, TableSchema

_TRIES = 5
_TABLE_PARTS = 4
"""``quarantine/<layer>/<name>/<shape>``: a quarantine table's folder."""

Wanted = dict[str, dict[str, ShownFile]]
"""Files by table and relative path."""


def sync_quarantine_tables(context: PlaneContext) -> None:
    """Of every dataset of which rows were ever quarantined."""
    with context.read() as tx:
        datasets = datasets_with_holdings(tx)
    for dataset_id in sorted(datasets):
        sync_quarantine_table(context, dataset_id)


def sync_quarantine_table(context: PlaneContext, dataset_id: str) -> None:
    """Synchronise the tables. If one cannot be written, the next writing command retries, and
    ``verify`` reports it."""
    with context.read() as tx:
        if not holdings_of(tx, dataset_id):
            return
        found = quarantine_of(tx, dataset_id)
    wanted = _wanted(found)
    for table, run_id in _runs_by_table(found.holdings).items():
        with suppress(TableUnreadable):
            # who moves on meanwhile brings the table along
            if (
                context.quarantine_tables.shown(join(context.lake, table)).paths
                != wanted[table].keys()
            ):
                _bring(context, dataset_id, table, run_id)


def wanted_files(tx: Transaction, dataset_id: str) -> Wanted:
    """Every table of the dataset, and the files in it that wait now."""
    return _wanted(quarantine_of(tx, dataset_id))


def _wanted(found: Quarantine) -> Wanted:
    wanted: Wanted = {table: {} for table in _runs_by_table(found.holdings)}
    for holding in found.quarantined(found.published):
        for file in holding.files:
            table, path = _split(file.path)
            wanted[table][path] = ShownFile(path, file.size, file.rows, file.modified_ms)
    return wanted


def _bring(context: PlaneContext, dataset_id: str, table: str, run_id: str) -> None:
    location = join(context.lake, table)
    for _ in range(_TRIES):
        # the table first, then the ledger: what is committed is never older than what is there
        shown = context.quarantine_tables.shown(location)
        with context.read() as tx:
            wanted = wanted_files(tx, dataset_id)[table]
            schema = _schema(tx, run_id)
        adds = [file for path, file in sorted(wanted.items()) if path not in shown.paths]
        removes = sorted(shown.paths - wanted.keys())
        if not adds and not removes:
            return
        reached("quarantine.before_commit")
        if context.quarantine_tables.show(location, schema, shown.commit, adds, removes):
            return
    raise unreadable(location, f"others wrote to it {_TRIES} times meanwhile")


def _schema(tx: Transaction, run_id: str) -> TableSchema:
    """The columns of the batch that the run had, then those of every row that waits."""
    batch = accepted_plan(tx, run_id).batch_schema
    added = (Column(name=name, type=kind) for name, kind in QUARANTINE_COLUMNS.items())
    return TableSchema(columns=(*batch.columns, *added))


def _runs_by_table(holdings: Iterable[Holding]) -> dict[str, str]:
    """Each table, with a run whose rows are in it."""
    return {_split(file.path)[0]: item.run_id for item in holdings for file in item.files}


def _split(path: str) -> tuple[str, str]:
    parts = path.split("/")
    return "/".join(parts[:_TABLE_PARTS]), "/".join(parts[_TABLE_PARTS:])
