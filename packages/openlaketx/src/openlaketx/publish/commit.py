"""Commits publishes and compactions: the second step of a move.

One commit, without retries, from a fresh handle on which everything was checked. The log is read
afterwards in any case: an error does not prove that nothing was committed, nor success that it was.
"""

from __future__ import annotations

import time
from collections import Counter

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction

from lakeguard_sdk.core.enums import LoadType, MoveKind
from lakeguard_sdk.errors import (
    BaseChanged,
    CommitMismatch,
    ForeignTable,
    MoveError,
    StagedFilesChanged,
    TableUnreadable,
)
from lakeguard_sdk.model.delta_log import (
    PUBLISH_APP,
    TABLE_PROPERTIES,
    CommitAuthor,
    carries_out,
    commit_kind,
    commits_since,
    engine_reason,
    log_file,
    read_commit,
)
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.partitions import partition_difference
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.storage import Storage, join, storage_for
from lakeguard_sdk.storage.store_errors import store_failure
from openlaketx.engine.delta_table import (
    delta_schema,
    live_paths,
    open_table,
    protocol_problem,
    schema_of,
)


def commit_publish(intent: Intent, storage: Storage | None = None) -> int:
    """The version of the intent's commit, durable and read back.

    Raises ``BaseChanged`` if the table is not at the intent's base or another writer won; changes
    of other writers are never merged.
    """
    storage = storage or storage_for(intent.location)
    try:
        table = open_table(intent.location)
        _check_before_commit(intent, table, storage)
    except (DeltaError, OSError) as problem:
        raise store_failure(problem, intent.location) or TableUnreadable(
            dataset=intent.dataset, location=intent.location, reason=engine_reason(problem)
        ) from None
    version = table.version() + 1
    fault_points.reached("publish.before_commit")
    error = _commit(intent, table)
    fault_points.reached("publish.committed")
    _confirm(intent, version, storage, error)
    storage.make_durable(log_file(intent.location, version))
    fault_points.reached("publish.synced")
    return version


def _commit(intent: Intent, table: DeltaTable) -> Exception | None:
    """Tries once, never rebases; returns the error, which does not prove a failure."""
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
    """An overwrite removes every live file by itself; other loads list them."""
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


# The log is the only proof of a commit.


def _confirm(intent: Intent, version: int, storage: Storage, error: Exception | None) -> None:
    """Raises unless ``version`` is this intent's commit with exactly its adds and removes."""
    commit = read_commit(storage, intent.location, version)
    if commit is None:
        known = store_failure(error, intent.location) if error is not None else None
        if known is not None:
            raise known from None
        message = str(error).splitlines()[0] if error and str(error) else "no error message"
        raise CommitMismatch(
            dataset=intent.dataset,
            commit=version,
            difference=f"the commit was not written ({message})",
        )
    if not carries_out(commit, intent, commit_kind(intent)):
        raise BaseChanged(
            dataset=intent.dataset,
            expected=f"commit {version} to be move {intent.seq}",
            found=f"{commit.operation or 'a commit'} of another writer",
        )
    for word, found, wanted in (
        ("adds", commit.adds, tuple(file.path for file in intent.adds)),
        ("removes", commit.removes, intent.removes),
    ):
        if sorted(found) != sorted(wanted):
            odd = min({*found} ^ {*wanted}, default="the same file twice")
            raise CommitMismatch(
                dataset=intent.dataset, commit=version, difference=f"it {word} other files: {odd}"
            )


# Checks that delta-rs does not make before it commits.


def _check_before_commit(intent: Intent, table: DeltaTable, storage: Storage) -> None:
    """Raises unless this handle shows the table that the decision was made on."""
    _check_identity(intent, table)
    _check_position(intent, table, storage)
    _check_schema(intent, table)
    _check_files(intent, table)
    _check_staged(intent, storage)


def _check_identity(intent: Intent, table: DeltaTable) -> None:
    metadata = table.metadata()
    if str(metadata.id) != intent.table_id:
        raise _changed(intent, f"it is table {metadata.id} and not {intent.table_id}")
    if problem := protocol_problem(table):
        raise _changed(intent, problem)
    for key, value in TABLE_PROPERTIES.items():
        if metadata.configuration.get(key) != value:
            raise _changed(intent, f"{key} is {metadata.configuration.get(key)} and not {value}")
    if tuple(metadata.partition_columns) != intent.partition_by:
        found, wanted = ", ".join(metadata.partition_columns), ", ".join(intent.partition_by)
        raise _changed(intent, f"it is partitioned by ({found}) and not by ({wanted})")


def _check_position(intent: Intent, table: DeltaTable, storage: Storage) -> None:
    """The last move is the one before this, and no data changed since the base."""
    last = table.transaction_version(PUBLISH_APP)
    if last != intent.seq - 1:
        raise _moved(intent, f"move {intent.seq - 1} to be the last", f"move {last}")
    try:
        since = list(commits_since(storage, intent.location, intent.base_commit))
    except (ValueError, OSError) as error:
        raise TableUnreadable(
            dataset=intent.dataset, location=intent.location, reason=f"its log is corrupt: {error}"
        ) from None
    seen = [commit for commit in since if commit.version <= table.version()]
    if intent.base_commit + len(seen) != table.version():
        raise _moved(intent, f"commits after {intent.base_commit}", f"commit {table.version()}")
    changed = next((commit for commit in seen if commit.data_changing), None)
    if changed is not None:
        raise _moved(
            intent,
            f"commit {intent.base_commit} to be the last that changed data",
            f"commit {changed.version} ({changed.operation})",
        )


def _check_schema(intent: Intent, table: DeltaTable) -> None:
    """Only a load that replaces the whole table may change the schema."""
    features = table.protocol().writer_features or []
    if intent.table_schema.has_local_times and "timestampNtz" not in features:
        raise _foreign(intent, "it was created without a timestamp_ntz column, and takes none")
    if intent.load is LoadType.FULL:
        return
    try:
        found = schema_of(table)
    except ValueError as error:
        raise _foreign(intent, str(error)) from None
    if set(found.columns) != set(intent.table_schema.columns):
        odd = min(column.name for column in {*found.columns} ^ {*intent.table_schema.columns})
        raise _foreign(intent, f"column {odd} differs from the declared column")


def _check_files(intent: Intent, table: DeltaTable) -> None:
    """Adds are new, removes are live; a full load removes all files, an append none."""
    live = live_paths(table)
    adds = Counter(file.path for file in intent.adds)
    again = live.intersection(adds) or {path for path, times in adds.items() if times > 1}
    if again:
        raise _moved(intent, f"{min(again)} to be new", "it is in the table already")
    unknown = set(intent.removes) - live
    if unknown:
        raise _moved(intent, f"{min(unknown)} to be live", "it is not in the table")
    remaining = live - set(intent.removes)
    if intent.load is LoadType.FULL and remaining:
        raise _moved(intent, "the removal of every live file", f"{min(remaining)} would stay")
    if intent.load is LoadType.APPEND and intent.removes:
        raise _moved(intent, "an append that removes nothing", f"{intent.removes[0]} to be removed")


def _check_staged(intent: Intent, storage: Storage) -> None:
    """Every file belongs to one partition and is unchanged since it was measured, by size and
    time."""
    for file in intent.adds:
        odd = partition_difference(file.partition, intent.partition_by, intent.table_schema)
        if odd is not None:
            raise StagedFilesChanged(dataset=intent.dataset, path=file.path, difference=odd)
        location = join(intent.location, file.path)
        if not storage.exists(location):
            raise StagedFilesChanged(
                dataset=intent.dataset, path=file.path, difference="it is not there"
            )
        facts = storage.facts(location)
        if (facts.size, facts.modified_ms) != (file.size, file.modified_ms):
            raise StagedFilesChanged(
                dataset=intent.dataset,
                path=file.path,
                difference=f"{facts.size} bytes at {facts.modified_ms}"
                f" instead of {file.size} at {file.modified_ms}",
            )


def _changed(intent: Intent, difference: str) -> TableUnreadable:
    """Somebody else changed the table since its number was taken."""
    reason = f"its log was changed: {difference}"
    return TableUnreadable(dataset=intent.dataset, location=intent.location, reason=reason)


def _foreign(intent: Intent, difference: str) -> MoveError:
    return ForeignTable(location=intent.location, dataset=intent.dataset, difference=difference)


def _moved(intent: Intent, expected: str, found: str) -> MoveError:
    return BaseChanged(dataset=intent.dataset, expected=expected, found=found)
