"""One table of the lake ledger: a plain Delta table, written with delta-rs.

Every write carries ``txn(LEDGER_APP, batch)``, so a batch is written at most once. Compaction and
checkpoints keep the cost of a write flat.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import (
    CommitProperties,
    DeltaTable,
    PostCommitHookProperties,
    Schema,
    Transaction,
)
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, create_table_with_add_actions

from lakeguard.lake.table_view import open_table
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.errors import LedgerUnreadable
from lakeguard_sdk.model.delta_log import log_file
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.storage import (
    join,
    readable_file,
    storage_for,
    storage_options,
    table_uri,
)
from lakeguard_sdk.storage.store_errors import store_failure

LEDGER_APP = "lakeguard.ledger"

_PROPERTIES = {
    "delta.checkpointInterval": "1000000",
    "delta.enableExpiredLogCleanup": "false",
    "delta.deletedFileRetentionDuration": "interval 1 days",
    "delta.logRetentionDuration": "interval 36500 days",
}
_TEND_EVERY = 20
_FILES_BEFORE_COMPACTION = 30
_COMPACT_TO = 32 * 1024 * 1024
_NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
_TRIES = 5
_ROWS_FOR_THREADS = 10_000
"""Of a file; starting threads for fewer rows takes longer than reading them."""


class LedgerFiles:
    """The Delta table at ``location``; only the holder of the relay lock writes to it."""

    def __init__(self, location: str, schema: pa.Schema) -> None:
        self.location = location
        self.schema = schema

    def exists(self) -> bool:
        return storage_for(self.location).exists(log_file(self.location, 0))

    def ensure(self) -> None:
        """Create the table if missing."""
        with _readable(self.location):
            create_table_with_add_actions(
                table_uri(self.location),
                Schema.from_arrow(self.schema),
                [],
                mode="ignore",
                storage_options=storage_options(self.location),
                configuration=_PROPERTIES,
            )
        self._make_durable(0)

    def last_batch(self) -> int:
        return self._last_batch(self.open())

    def append(self, rows: pa.Table, batch: int) -> None:
        """Append the batch's rows exactly once."""
        self._write(rows, batch, "append")

    def replace(self, rows: pa.Table, batch: int) -> None:
        """Replace all rows."""
        self._write(rows, batch, "overwrite")

    def live_files(self) -> int:
        return int(self.open().get_add_actions().num_rows)

    def read(self) -> pa.Table:
        """All rows of the latest version."""
        handle = self.open()
        with _readable(self.location):
            return self.read_files(map(unquote, handle.get_add_actions()["path"].to_pylist()))

    def read_files(self, paths: Iterable[str]) -> pa.Table:
        """All rows of these files, whose paths are relative to the table."""
        with _readable(self.location):
            parts = [self._read_file(join(self.location, path)) for path in paths]
            return pa.concat_tables(parts) if parts else self.schema.empty_table()

    def _read_file(self, location: str) -> pa.Table:
        source = readable_file(location)
        with pq.ParquetFile(source, page_checksum_verification=True) as content:
            if content.schema_arrow.names == self.schema.names:
                large = content.metadata.num_rows > _ROWS_FOR_THREADS
                return content.read(use_threads=large).cast(self.schema)
        # An older file lacks columns. This way costs several times as much, and imports pandas.
        source = readable_file(location)
        return pq.read_table(source, schema=self.schema, page_checksum_verification=True)

    def forget_after(self, batch: int, column: str) -> int:
        """Delete rows of incomplete batches; return how many."""
        with _readable(self.location):
            metrics = self.open().delete(f"{column} > {batch}")
        return int(metrics["num_deleted_rows"] or 0)

    def _tend(self, version: int) -> None:
        """Compact and checkpoint when due, staggered so that one batch does not maintain all
        tables."""
        if (version + zlib.crc32(self.location.encode())) % _TEND_EVERY:
            return
        with _readable(self.location):
            handle = self.open()
            if self.live_files() >= _FILES_BEFORE_COMPACTION:
                handle.optimize.compact(
                    target_size=_COMPACT_TO,
                    max_concurrent_tasks=1,
                    post_commithook_properties=_NO_HOOKS,
                )
                handle = self.open()
            handle.create_checkpoint()

    def _write(self, rows: pa.Table, batch: int, mode: Literal["append", "overwrite"]) -> None:
        failure: Exception | None = None
        for _ in range(_TRIES):
            handle = self.open()
            if self._last_batch(handle) >= batch:
                return None
            handle = self._widened(handle)
            add = self._write_file(rows, batch)
            reached("ledger.written")
            failure = self._commit(handle, add, batch, mode)
            reached("ledger.committed")
            if failure is None:
                return self._tend(handle.version() + 1)
        known = store_failure(failure, self.location) if failure is not None else None
        raise known or LedgerUnreadable(
            location=self.location, reason=f"no commit holds: {failure}"
        )

    def _widened(self, handle: DeltaTable) -> DeltaTable:
        """Add columns that are newer than the table."""
        known = {field.name for field in handle.schema().fields}
        new = [field for field in Schema.from_arrow(self.schema).fields if field.name not in known]
        if not new:
            return handle
        with _readable(self.location):
            handle.alter.add_columns(new, post_commithook_properties=_NO_HOOKS)
        return self.open()

    def _write_file(self, rows: pa.Table, batch: int) -> AddAction:
        """Write a file named after the batch, so that a retry overwrites it."""
        name = f"batch-{batch:012d}.parquet"
        written = pa.BufferOutputStream()
        pq.write_table(rows, written, compression="zstd", write_page_checksum=True)
        content = written.getvalue().to_pybytes()
        storage_for(self.location).replace(join(self.location, name), content)
        stats = canonical_json({"numRecords": rows.num_rows})
        return AddAction(name, len(content), {}, int(time.time() * 1000), True, stats)

    def _commit(
        self,
        handle: DeltaTable,
        add: AddAction,
        batch: int,
        mode: Literal["append", "overwrite"],
    ) -> Exception | None:
        """One strict commit; whether it succeeded is read from the table afterwards."""
        try:
            handle.create_write_transaction(
                [add],
                mode,
                Schema.from_arrow(self.schema),
                commit_properties=CommitProperties(
                    app_transactions=[Transaction(LEDGER_APP, batch)], max_commit_retries=0
                ),
                post_commithook_properties=_NO_HOOKS,
            )
        except (DeltaError, OSError) as error:
            return error
        self._make_durable(handle.version() + 1)  # strict: the next version, or an error
        return None

    def _make_durable(self, version: int) -> None:
        storage_for(self.location).make_durable(log_file(self.location, version))

    def open(self) -> DeltaTable:
        """A new handle, which does not follow the table."""
        with _readable(self.location):
            return open_table(self.location)

    def _last_batch(self, handle: DeltaTable) -> int:
        return handle.transaction_version(LEDGER_APP) or 0


@contextmanager
def _readable(location: str) -> Iterator[None]:
    try:
        yield
    except (DeltaError, pa.ArrowException, OSError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        known = store_failure(error, location)
        raise known or LedgerUnreadable(location=location, reason=reason) from error
