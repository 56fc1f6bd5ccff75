"""The committer of publishes and compactions: step two of a move.

One strict commit from a fresh handle on which everything was checked. Whatever the call says,
the log is read afterwards: an error does not mean "not committed", nor silence "committed".
"""

from __future__ import annotations

import time

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction

from lakeguard_sdk import faultpoints
from lakeguard_sdk.commits import PUBLISH_APP, CommitAuthor, commit_kind, log_file
from lakeguard_sdk.errors import ForeignTable
from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.run import Intent
from lakeguard_sdk.storage import Storage, storage_for
from lakeguard_sdk.words import LoadType, MoveKind
from openlaketx.engine.delta_table import delta_schema, open_table
from openlaketx.publish.checks import check_before_commit
from openlaketx.publish.log import confirm


def commit_publish(intent: Intent, storage: Storage | None = None) -> int:
    """The version of the commit that carries out the intent, on disk and read back.

    Raises ``BaseMoved`` where the table is not what the intent started from or another writer
    won; nothing of another writer is ever absorbed.
    """
    storage = storage or storage_for(intent.location)
    table = _open(intent)
    check_before_commit(intent, table, storage)
    version = table.version() + 1
    faultpoints.reached("publish.before_commit")
    error = _commit(intent, table)
    faultpoints.reached("publish.committed")
    confirm(intent, version, storage, error)
    storage.make_durable(log_file(intent.location, version))
    faultpoints.reached("publish.synced")
    return version


def _open(intent: Intent) -> DeltaTable:
    try:
        return open_table(intent.location)
    except (TableNotFoundError, DeltaError) as error:
        raise ForeignTable(
            location=intent.location, dataset=intent.dataset, difference=str(error)
        ) from None


def _commit(intent: Intent, table: DeltaTable) -> Exception | None:
    """Tries once, never rebases; says what was raised, which proves nothing by itself."""
    author = CommitAuthor.of(intent, commit_kind(intent))
    try:
        table.create_write_transaction(
            _actions(intent),
            "overwrite" if intent.load is LoadType.FULL else "append",
            delta_schema(intent.table_schema),
            partition_by=list(intent.partition_by),
            commit_properties=CommitProperties(
                custom_metadata=author.custom_metadata(),
                max_commit_retries=0,
                app_transactions=[Transaction(PUBLISH_APP, intent.seq)],
            ),
        )
    except (DeltaError, OSError, ValueError) as error:
        return error
    return None


def _actions(intent: Intent) -> list[AddAction | RemoveAction]:
    """An overwrite removes every live file by itself; any other load says which."""
    changes = intent.kind is not MoveKind.COMPACTION
    actions: list[AddAction | RemoveAction] = [_add(file, changes) for file in intent.adds]
    if intent.load is not LoadType.FULL:
        now = time.time_ns() // 1_000_000
        actions += [
            RemoveAction(path=path, data_change=changes, deletion_timestamp=now)
            for path in intent.removes
        ]
    return actions


def _add(file: StagedFile, changes: bool) -> AddAction:
    return AddAction(
        path=file.path,
        size=file.size,
        partition_values=file.partition,
        modification_time=file.modified_ms,
        data_change=changes,
        stats=file.stats,
    )
