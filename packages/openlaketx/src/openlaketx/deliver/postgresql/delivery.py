"""A live table follows the pointer, run by run: staged first, then changed by one transaction."""

from __future__ import annotations

from lakeguard_sdk.database import DatabaseTable
from lakeguard_sdk.delivered import Delivery
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.load import KEY_HASH, VALID_FROM, Load
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.reading import ResolvedDataset, RunRow, VersionRow
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import HashStrategy, LoadType
from openlaketx.deliver.postgresql.apart import require_apart
from openlaketx.deliver.postgresql.connecting import Connection, connected, hold, wait_shortly
from openlaketx.deliver.postgresql.marker import (
    Delivered,
    create_markers,
    read_marker,
    write_marker,
)
from openlaketx.deliver.postgresql.merging import show_staged
from openlaketx.deliver.postgresql.staging import stage_rows
from openlaketx.deliver.postgresql.table import columns_of, fitting_columns, give_columns
from openlaketx.deliver.published import published, version_of


def deliver_to_postgresql(delivery: Delivery, reader: Reader) -> Delivered | None:
    """Make the table show the version that is published now; None where it did already.

    All of it is one transaction, with the marker: a reader sees the version before or this one,
    and a process that dies leaves nothing behind.
    """
    first = published(delivery.dataset, reader)
    if first is None:
        return None
    table = delivery.table
    with connected(table, first) as connection:
        require_apart(connection, table, first)
        create_markers(connection, table)
        with connection.transaction():
            made = _deliver(connection, delivery, reader)
        reached("deliver.committed")
    return made


def _deliver(connection: Connection, delivery: Delivery, reader: Reader) -> Delivered | None:
    table = delivery.table
    hold(connection, table.schema_name, table.table_name)
    shown = published(delivery.dataset, reader)
    if shown is None:
        return None
    known = read_marker(connection, table)
    if known is not None and known.is_of(shown) and columns_of(connection, table):
        return None
    version, run = version_of(shown, reader)
    columns = fitting_columns(connection, table, shown, known)
    key = row_key(delivery.load, shown.table_schema)
    rows = stage_rows(connection, columns, shown, key)
    reached("deliver.staged")
    wait_shortly(connection)
    give_columns(connection, table, shown, columns)
    show_staged(connection, table, tuple(columns), key)
    made = _delivered(table, shown, version, run, rows)
    write_marker(connection, table, made)
    reached("deliver.marked")
    return made


def _delivered(
    table: DatabaseTable, shown: ResolvedDataset, version: VersionRow, run: RunRow, rows: int
) -> Delivered:
    return Delivered(
        table_name=table.table_name,
        dataset=shown.dataset,
        dataset_id=shown.dataset_id,
        version=shown.version,
        table_id=shown.table_id,
        commit=shown.commit,
        run_id=version.run_id,
        decision_id=version.decision_id,
        rows=rows,
        org_id=table.organisation or None,
        job_id=run.job_id,
        task_id=run.task_id,
    )


def row_key(load: Load, schema: TableSchema) -> tuple[str, ...]:
    """What tells a row from every other; empty where the load says nothing of the kind.

    A version from before the load had its keys has none either.
    """
    key = (KEY_HASH,) if load.hash is HashStrategy.KEY_HASH else load.keys
    if key and load.type is LoadType.SCD2:
        key = (*key, VALID_FROM)
    return key if set(key) <= set(schema.names) else ()
