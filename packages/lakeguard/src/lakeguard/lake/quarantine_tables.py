"""Quarantine tables: each lists exactly the files that are in quarantine by the ledger.

They are for reading only; the ledger is authoritative.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from deltalake import CommitProperties, DeltaTable, Schema
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from lakeguard.lake.port import Shown, ShownFile
from lakeguard.lake.table_view import open_table
from lakeguard_sdk.errors import LakeGuardError, TableUnreadable
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.storage import storage_for, storage_options, table_uri
from lakeguard_sdk.storage.store_errors import store_failure
from lakeguard_sdk.types.schema import TableSchema


class DeltaQuarantineTables:
    """Delta tables through delta-rs. A commit applies to the version read, or fails."""

    def shown(self, location: str) -> Shown:
        try:
            if not DeltaTable.is_deltatable(table_uri(location), storage_options(location)):
                return Shown(-1, frozenset())
            handle = open_table(location)
            paths = handle.get_add_actions(flatten=True)["path"].to_pylist()
        except (DeltaError, OSError, ValueError) as error:
            raise _unreadable(location, error) from error
        return Shown(handle.version(), frozenset(map(unquote, paths)))

    def show(
        self,
        location: str,
        schema: TableSchema,
        at: int,
        adds: Sequence[ShownFile],
        removes: Iterable[str],
    ) -> bool:
        added = [_add(file) for file in adds]
        try:
            if at < 0:
                self._create(location, schema, added)
            elif not self._commit(location, at, [*added, *map(_remove, removes)]):
                return False
        except (DeltaError, OSError, ValueError) as error:
            # an error does not mean "not committed": the caller reads the table again
            if self.shown(location).commit == at:
                raise _unreadable(location, error) from error
            return False
        storage_for(location).make_durable(log_file(location, at + 1))
        return True

    def _create(self, location: str, schema: TableSchema, adds: list[AddAction]) -> None:
        create_table_with_add_actions(
            table_uri(location),
            Schema.from_json(schema.delta_json()),
            adds,
            mode="error",
            storage_options=storage_options(location),
            commit_properties=CommitProperties(max_commit_retries=0),
        )

    def _commit(self, location: str, at: int, actions: list[AddAction | RemoveAction]) -> bool:
        handle = open_table(location)
        if handle.version() != at:
            return False
        handle.create_write_transaction(
            actions,
            "append",
            handle.schema(),
            commit_properties=CommitProperties(max_commit_retries=0),
        )
        return True


def _add(file: ShownFile) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.size,
        partition_values={},
        modification_time=file.modified_ms,
        data_change=True,
        stats=json.dumps({"numRecords": file.rows}),
    )


def _remove(path: str) -> RemoveAction:
    now = time.time_ns() // 1_000_000
    return RemoveAction(path=path, data_change=True, deletion_timestamp=now)


def _unreadable(location: str, error: Exception) -> LakeGuardError:
    if (known := store_failure(error, location)) is not None:
        return known
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return unreadable(location, reason)


def unreadable(location: str, reason: str) -> TableUnreadable:
    """``location`` ends in layer, name and column hash."""
    layer, name, _ = location.rstrip("/").split("/")[-3:]
    dataset = f"the quarantine of {layer}.{name}"
    return TableUnreadable(dataset=dataset, location=location, reason=reason)
