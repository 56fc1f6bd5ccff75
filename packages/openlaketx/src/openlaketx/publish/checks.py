"""Everything that delta-rs does not check before it commits."""

from __future__ import annotations

from collections import Counter

from deltalake import DeltaTable

from lakeguard_sdk.commits import PUBLISH_APP, TABLE_PROPERTIES, commits_since
from lakeguard_sdk.errors import (
    BaseMoved,
    ForeignTable,
    MoveError,
    StagedFilesChanged,
    TableUnreadable,
)
from lakeguard_sdk.partitions import partition_difference
from lakeguard_sdk.run import Intent
from lakeguard_sdk.storage import Storage, join
from lakeguard_sdk.words import LoadType
from openlaketx.engine.delta_table import live_files, protocol_problem, schema_of


def check_before_commit(intent: Intent, table: DeltaTable, storage: Storage) -> None:
    """Raises unless this handle shows the table on which the decision was made."""
    _check_identity(intent, table)
    _check_position(intent, table, storage)
    _check_schema(intent, table)
    _check_files(intent, table)
    _check_staged(intent, storage)


def _check_identity(intent: Intent, table: DeltaTable) -> None:
    metadata = table.metadata()
    if str(metadata.id) != intent.table_id:
        raise _foreign(intent, f"it is table {metadata.id} and not {intent.table_id}")
    if problem := protocol_problem(table):
        raise _foreign(intent, problem)
    for key, value in TABLE_PROPERTIES.items():
        if metadata.configuration.get(key) != value:
            raise _foreign(intent, f"{key} is {metadata.configuration.get(key)} and not {value}")
    if tuple(metadata.partition_columns) != intent.partition_by:
        found, wanted = ", ".join(metadata.partition_columns), ", ".join(intent.partition_by)
        raise _foreign(intent, f"it is partitioned by ({found}) and not by ({wanted})")


def _check_position(intent: Intent, table: DeltaTable, storage: Storage) -> None:
    """The last move is the one before this, and nobody changed data since the base."""
    last = table.transaction_version(PUBLISH_APP)
    if last != intent.seq - 1:
        raise _moved(intent, f"move {intent.seq - 1} to be the last", f"move {last}")
    try:
        since = list(commits_since(storage, intent.location, intent.base_commit))
    except ValueError as error:
        raise TableUnreadable(
            dataset=intent.dataset, location=intent.location, reason=f"its log is torn: {error}"
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
    """Only what replaces the whole table brings a schema of its own."""
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
        raise _foreign(intent, f"column {odd} is not as the dataset declares it")


def _check_files(intent: Intent, table: DeltaTable) -> None:
    """Adds are new, removes are live; a full load removes all, an append nothing."""
    live = set(live_files(table))
    adds = Counter(file.path for file in intent.adds)
    again = live.intersection(adds) or {path for path, times in adds.items() if times > 1}
    if again:
        raise _moved(intent, f"{min(again)} to be new", "it is in the table already")
    unknown = set(intent.removes) - live
    if unknown:
        raise _moved(intent, f"{min(unknown)} to be live", "it is not in the table")
    kept = live - set(intent.removes)
    if intent.load is LoadType.FULL and kept:
        raise _moved(intent, "the removal of every live file", f"{min(kept)} would stay")
    if intent.load is LoadType.APPEND and intent.removes:
        raise _moved(intent, "an append that removes nothing", f"{intent.removes[0]} to be removed")


def _check_staged(intent: Intent, storage: Storage) -> None:
    """Every file is of one partition, and the one that was measured, by size and time."""
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


def _foreign(intent: Intent, difference: str) -> MoveError:
    return ForeignTable(location=intent.location, dataset=intent.dataset, difference=difference)


def _moved(intent: Intent, expected: str, found: str) -> MoveError:
    return BaseMoved(dataset=intent.dataset, expected=expected, found=found)
