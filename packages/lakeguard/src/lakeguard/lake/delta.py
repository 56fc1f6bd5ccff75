"""Governed tables on Delta Lake through delta-rs: creation, adoption, fences and restores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import create_table_with_add_actions

from lakeguard.lake.compacted_commits import compacted_difference
from lakeguard.lake.log_entries import OddEntry, checkpoint_file
from lakeguard.lake.log_repair import (
    RecordedLog,
    read_recorded,
    remove_derived_files,
    repair_log,
)
from lakeguard.lake.port import LiveFile, Origin
from lakeguard.lake.seen_commits import SeenCommits
from lakeguard.lake.table_view import (
    LOG_ERRORS,
    Approved,
    differences,
    open_table,
    read_view,
    unreadable,
)
from lakeguard_sdk.core.enums import CommitKind, MoveKind
from lakeguard_sdk.errors import BaseChanged, ForeignTable, LakeGuardError, TableUnreadable
from lakeguard_sdk.model.delta_log import (
    PUBLISH_APP,
    TABLE_PROPERTIES,
    Commit,
    CommitAuthor,
    carries_out,
    commits_since,
    log_file,
    read_commit,
    read_commit_file,
)
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.model.table_operations import AdoptableTable
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.file_records import FileRecord, first_damage
from lakeguard_sdk.storage.storage import join, storage_for, storage_options, table_uri
from lakeguard_sdk.storage.store_errors import store_failure
from lakeguard_sdk.types.schema import TableSchema

_FENCE_TRIES = 20
_FILE = ("path", "size_bytes", "num_records", "partition")


class DeltaTables:
    """The control plane's committer. Each commit uses a fresh handle and is read back."""

    def exists(self, location: str) -> bool:
        """After log cleanup the first commit is gone, but there is a checkpoint."""
        storage = storage_for(location)
        return storage.exists(log_file(location, 0)) or storage.exists(
            join(location, "_delta_log", "_last_checkpoint")
        )

    def origin(self, location: str) -> Origin:
        first = self.commit_at(location, 0)
        if first is not None and first.author is not None:
            return Origin(str(first.table_id), first.partition_by or (), first.author.dataset_id)
        with _readable(location):
            metadata = self._open(location).metadata()
        return Origin(str(metadata.id), tuple(metadata.partition_columns), None)

    def examine(self, location: str, version: int | None = None) -> AdoptableTable:
        from lakeguard.lake.adoptable import examine  # needs pyarrow; few tables are adopted

        return examine(location, version)

    def adopt(self, intent: Intent) -> int:
        handle = self._open(intent.location)
        with _readable(intent.location):
            seq = _last_seq(handle, intent)
        if seq != intent.seq - 1 or handle.version() != intent.base_commit:
            raise _moved(intent, f"commit {handle.version()}, seq {seq}")
        reached("adopt.before_commit")
        failure: Exception | None = None
        try:
            handle.alter.set_table_properties(
                dict(TABLE_PROPERTIES), commit_properties=_properties(intent, CommitKind.ADOPT)
            )
        except (DeltaError, OSError) as error:  # no proof that it was not committed
            failure = error
        reached("adopt.committed")
        return self._landed(intent, CommitKind.ADOPT, failure)

    def ensure(
        self,
        dataset_id: str,
        location: str,
        schema: TableSchema,
        partition_by: tuple[str, ...] = (),
    ) -> str:
        first = self.commit_at(location, 0)
        if first is None and not self.exists(location):
            self._create(dataset_id, location, schema, partition_by)
            first = self.commit_at(location, 0)
        difference = None
        if first is None or first.author is None or first.author.dataset_id != dataset_id:
            difference = "it was created by another writer"
        elif first.partition_by != partition_by:
            difference = f"it is partitioned by ({', '.join(first.partition_by or ())})"
        if first is None or difference is not None:
            raise ForeignTable(location=location, dataset=dataset_id, difference=difference)
        return str(first.table_id)

    def commit_at(self, location: str, version: int) -> Commit | None:
        with _readable(location):
            return read_commit(storage_for(location), location, version)

    def commit_body(self, location: str, version: int) -> bytes | None:
        return read_commit_file(storage_for(location), location, version)

    def head_version(self, location: str) -> int:
        return self._open(location).version()

    def require_readable(self, location: str) -> None:
        with _readable(location):
            handle = self._open(location)
            handle.transaction_version(PUBLISH_APP)
            handle.get_add_actions()

    def files_at(self, location: str, version: int) -> frozenset[str]:
        (paths,) = self._entries(location, version, _FILE[:1])
        return frozenset(map(unquote, paths))

    def live_at(self, location: str, version: int) -> Sequence[LiveFile]:
        with _readable(location):
            actions = self._open(location, version).get_add_actions(flatten=False)
            names = [name for name in _FILE if name in actions.schema.names]
            rows = zip(*(actions[name].to_pylist() for name in names), strict=True)
        found = (_live(dict(zip(names, row, strict=True))) for row in rows)
        return sorted(found, key=lambda file: file.path)

    def damage(
        self,
        location: str,
        version: int,
        *,
        rows: int | None = None,
        records: Sequence[FileRecord] | None = None,
    ) -> str | None:
        encoded, sizes, counts = self._entries(location, version, _FILE[:3])
        shown = sum(count or 0 for count in counts)
        if rows is not None and shown != rows:
            return f"its log shows {shown:,} rows instead of {rows:,}"
        storage = storage_for(location)
        paths = [unquote(path) for path in encoded]
        there = storage.sizes(location, paths)
        for path, size in zip(paths, sizes, strict=True):
            if path not in there:
                return f"file {path} is missing"
            if there[path] != size:
                return f"file {path} has a different size than in the log"
        found = None if records is None else first_damage(location, sorted(paths), records)
        return None if found is None else f"file {found[0]}: {found[1]}"

    def keeps_properties(self, location: str, version: int) -> bool:
        with _readable(location):
            properties = self._open(location, version).metadata().configuration
        return all(properties.get(key) == value for key, value in TABLE_PROPERTIES.items())

    def commits_since(self, location: str, version: int) -> Sequence[Commit]:
        with _readable(location):
            return list(commits_since(storage_for(location), location, version))

    def checkpoint_mark(self, location: str, version: int) -> str | None:
        try:
            return str(storage_for(location).mark(checkpoint_file(location, version)))
        except OSError:
            return None

    @cached_property
    def _seen(self) -> SeenCommits:
        return SeenCommits()

    def read_log(
        self, location: str, recorded: Mapping[int, str], since: int = 0, *, by_mark: bool = False
    ) -> RecordedLog:
        with _readable(location):
            return read_recorded(location, recorded, since, self._seen if by_mark else None)

    def has_files(self, location: str, sizes: Mapping[str, int]) -> bool:
        return storage_for(location).sizes(location, sizes.keys()) == dict(sizes)

    def shown_difference(self, location: str, version: int, approved: Approved) -> str | None:
        with _readable(location):
            found = next(differences(read_view(location, version), approved), None)
            return found or compacted_difference(location)

    def repair_log(
        self, location: str, bodies: Mapping[int, bytes], odd: Iterable[OddEntry], last: int
    ) -> Sequence[str]:
        return repair_log(location, bodies, odd, last)

    def read_from_commits(self, location: str) -> bool:
        return remove_derived_files(location)

    def fence(self, intent: Intent) -> Commit:
        failure: Exception | None = None
        for _ in range(_FENCE_TRIES):
            holder = self._holder(intent)
            if holder is not None:
                storage_for(intent.location).make_durable(log_file(intent.location, holder.version))
                return holder
            failure = self._try_fence(intent)
        raise _failed(intent, f"fence failed: {failure}", failure)

    def restore(self, intent: Intent) -> int:
        if intent.target_commit is None:
            raise ValueError(f"intent {intent.intent_id} is not a rollback")
        handle = self._open(intent.location)
        with _readable(intent.location):
            seq = handle.transaction_version(PUBLISH_APP)
        if seq != intent.seq - 1 or handle.version() != intent.base_commit:
            raise _moved(intent, f"commit {handle.version()}, seq {seq}")
        reached("restore.before_commit")
        failure: Exception | None = None
        try:
            handle.restore(
                intent.target_commit, commit_properties=_properties(intent, CommitKind.RESTORE)
            )
        except (DeltaError, OSError) as error:  # no proof that it was not committed
            failure = error
        reached("restore.committed")
        return self._landed(intent, CommitKind.RESTORE, failure)

    def _landed(self, intent: Intent, kind: CommitKind, failure: Exception | None) -> int:
        """The version of the attempted commit, now durable; raises if the log does not have it."""
        landed = self.commit_at(intent.location, intent.base_commit + 1)
        if landed is None:
            raise _failed(intent, str(failure), failure)
        if not carries_out(landed, intent, kind):
            raise _moved(intent, f"commit {landed.version} ({landed.operation})")
        storage_for(intent.location).make_durable(log_file(intent.location, landed.version))
        return landed.version

    def _open(self, location: str, version: int | None = None) -> DeltaTable:
        with _readable(location):
            return open_table(location, version)

    def _entries(self, location: str, version: int, names: Sequence[str]) -> list[list[Any]]:
        """What the log says of the files of a version, by column."""
        with _readable(location):
            actions = self._open(location, version).get_add_actions(flatten=True)
            return [list(actions[name].to_pylist()) for name in names]

    def _create(
        self, dataset_id: str, location: str, schema: TableSchema, partition_by: tuple[str, ...]
    ) -> None:
        author = CommitAuthor(dataset_id=dataset_id, kind=CommitKind.CREATE)
        try:
            create_table_with_add_actions(
                table_uri(location),
                Schema.from_json(schema.delta_json()),
                [],
                mode="error",
                storage_options=storage_options(location),
                partition_by=list(partition_by),
                configuration=dict(TABLE_PROPERTIES),
                commit_properties=CommitProperties(
                    custom_metadata=author.custom_metadata(),
                    app_transactions=[Transaction(PUBLISH_APP, 0)],
                    max_commit_retries=0,
                ),
            )
        except (DeltaError, OSError) as error:  # the caller checks whose a table is that exists
            if not self.exists(location):
                raise store_failure(error, location) or error from None
        storage = storage_for(location)
        for place in (log_file(location, 0), join(location, "_delta_log"), location):
            storage.make_durable(place)
        reached("table.created")

    def _holder(self, intent: Intent) -> Commit | None:
        """The commit with the intent's sequence number, if there is one."""
        later = self.commits_since(intent.location, intent.base_commit)
        return next((commit for commit in later if commit.seq == intent.seq), None)

    def _try_fence(self, intent: Intent) -> Exception | None:
        """One attempt; its error does not say whether the commit landed."""
        handle = self._open(intent.location)
        with _readable(intent.location):
            seq = _last_seq(handle, intent)
        if seq != intent.seq - 1:
            return None
        reached("fence.before_commit")
        failure: Exception | None = None
        try:
            handle.create_write_transaction(
                [],
                "append",
                handle.schema(),
                commit_properties=_properties(intent, CommitKind.FENCE),
            )
        except (DeltaError, OSError) as error:
            failure = error
        reached("fence.committed")
        return failure


def is_governed(location: str) -> bool:
    """Whether the table has commits of LakeGuard, of this lake or another."""
    try:
        return open_table(location).transaction_version(PUBLISH_APP) is not None
    except DeltaError:  # a damaged log; who created the table can still be read
        first = read_commit(storage_for(location), location, 0)
        return first is not None and first.author is not None


def _failed(intent: Intent, reason: str, failure: Exception | None) -> LakeGuardError:
    """Of a commit that is not in the log."""
    known = store_failure(failure, intent.location) if failure is not None else None
    return known or TableUnreadable(dataset=intent.dataset, location=intent.location, reason=reason)


@contextmanager
def _readable(location: str) -> Iterator[None]:
    """Maps engine errors and torn commits to ``TableUnreadable``."""
    try:
        yield
    except LOG_ERRORS as error:
        raise unreadable(location, error) from error


def _live(row: dict[str, Any]) -> LiveFile:
    values = row.get("partition") or {}
    return LiveFile(
        path=unquote(row["path"]),
        size=row["size_bytes"],
        rows=-1 if row.get("num_records") is None else row["num_records"],
        partition={name: _spelled(value) for name, value in values.items()},
    )


def _spelled(value: object) -> str | None:
    """As in the log: every type that may partition a table has one spelling."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _last_seq(handle: DeltaTable, intent: Intent) -> int | None:
    """An adoption takes the first number on a table that was never governed."""
    seq = handle.transaction_version(PUBLISH_APP)
    return 0 if seq is None and intent.kind is MoveKind.ADOPTION else seq


def _moved(intent: Intent, found: str) -> BaseChanged:
    expected = f"commit {intent.base_commit}, seq {intent.seq - 1}"
    return BaseChanged(dataset=intent.dataset, expected=expected, found=found)


def _properties(intent: Intent, kind: CommitKind) -> CommitProperties:
    return CommitProperties(
        custom_metadata=CommitAuthor.of(intent, kind).custom_metadata(),
        app_transactions=[Transaction(PUBLISH_APP, intent.seq)],
        max_commit_retries=0,
    )
