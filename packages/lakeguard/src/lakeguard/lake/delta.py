"""Governed tables on Delta Lake, by delta-rs: creation, fences and restores, without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import DeltaError
from deltalake.transaction import create_table_with_add_actions

from lakeguard_sdk.commits import (
    PUBLISH_APP,
    TABLE_PROPERTIES,
    Commit,
    CommitAuthor,
    commits_since,
    log_file,
    read_commit,
)
from lakeguard_sdk.errors import BaseMoved, ForeignTable
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.run import Intent
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.storage import local_path, storage_for

_FENCE_TRIES = 20


class DeltaTables:
    """The control plane's committer. Each commit is made from a fresh handle and read back."""

    def exists(self, location: str) -> bool:
        return storage_for(location).exists(log_file(location, 0))

    def ensure(self, dataset_id: str, location: str, schema: TableSchema) -> str:
        if not self.exists(location):
            self._create(dataset_id, location, schema)
        first = read_commit(storage_for(location), location, 0)
        if first is None or first.author is None or first.author.dataset_id != dataset_id:
            raise ForeignTable(
                location=location, dataset=dataset_id, difference="it was created by someone else"
            )
        return str(first.table_id)

    def commit_at(self, location: str, version: int) -> Commit | None:
        return read_commit(storage_for(location), location, version)

    def head_version(self, location: str) -> int:
        return DeltaTable(local_path(location)).version()

    def same_files(self, location: str, one: int, other: int) -> bool:
        path = local_path(location)
        first, second = DeltaTable(path, version=one), DeltaTable(path, version=other)
        properties = first.metadata().configuration
        return set(first.file_uris()) == set(second.file_uris()) and all(
            properties.get(key) == value for key, value in TABLE_PROPERTIES.items()
        )

    def commits_since(self, location: str, version: int) -> Sequence[Commit]:
        return list(commits_since(storage_for(location), location, version))

    def fence(self, intent: Intent) -> Commit:
        for _ in range(_FENCE_TRIES):
            holder = self._holder(intent)
            if holder is not None:
                return holder
            self._try_fence(intent)
        raise BaseMoved(
            dataset=intent.dataset, expected=f"a quiet table for seq {intent.seq}", found="writers"
        )

    def restore(self, intent: Intent) -> int:
        if intent.target_commit is None:
            raise ValueError(f"intent {intent.intent_id} is not a rollback")
        handle = DeltaTable(local_path(intent.location))
        seq = handle.transaction_version(PUBLISH_APP)
        if seq != intent.seq - 1 or handle.version() != intent.base_commit:
            raise BaseMoved(
                dataset=intent.dataset,
                expected=f"commit {intent.base_commit}, seq {intent.seq - 1}",
                found=f"commit {handle.version()}, seq {seq}",
            )
        reached("restore.before_commit")
        failure: Exception | None = None
        try:
            handle.restore(intent.target_commit, commit_properties=_properties(intent, "restore"))
        except DeltaError as error:  # an error does not mean "not committed": the log decides
            failure = error
        reached("restore.committed")
        commit = self._landed(intent, intent.base_commit + 1)
        if commit is None:
            raise BaseMoved(
                dataset=intent.dataset, expected=f"commit {intent.base_commit}", found=failure
            )
        return commit.version

    def _create(self, dataset_id: str, location: str, schema: TableSchema) -> None:
        author = CommitAuthor(dataset_id=dataset_id, kind="create")
        try:
            create_table_with_add_actions(
                local_path(location),
                Schema.from_json(schema.delta_json()),
                [],
                mode="error",
                configuration=dict(TABLE_PROPERTIES),
                commit_properties=CommitProperties(
                    custom_metadata=author.custom_metadata(),
                    app_transactions=[Transaction(PUBLISH_APP, 0)],
                    max_commit_retries=0,
                ),
            )
        except DeltaError:  # somebody created it first: the caller looks at whose it is
            if not self.exists(location):
                raise
        storage_for(location).make_durable(log_file(location, 0))
        reached("table.created")

    def _holder(self, intent: Intent) -> Commit | None:
        """The commit that carries the intent's number, if one does."""
        later = self.commits_since(intent.location, intent.base_commit)
        return next((commit for commit in later if commit.seq == intent.seq), None)

    def _try_fence(self, intent: Intent) -> None:
        handle = DeltaTable(local_path(intent.location))
        if handle.transaction_version(PUBLISH_APP) != intent.seq - 1:
            return
        reached("fence.before_commit")
        with suppress(DeltaError):  # lost, or landed and then failed: the log tells
            handle.create_write_transaction(
                [], "append", handle.schema(), commit_properties=_properties(intent, "fence")
            )
        reached("fence.committed")
        if read_commit(storage_for(intent.location), intent.location, handle.version() + 1):
            storage_for(intent.location).make_durable(
                log_file(intent.location, handle.version() + 1)
            )

    def _landed(self, intent: Intent, version: int) -> Commit | None:
        commit = read_commit(storage_for(intent.location), intent.location, version)
        if commit is None or commit.seq != intent.seq or commit.author is None:
            return None
        if commit.author.intent_id != intent.intent_id:
            return None
        storage_for(intent.location).make_durable(log_file(intent.location, version))
        return commit


def _properties(intent: Intent, kind: str) -> CommitProperties:
    return CommitProperties(
        custom_metadata=CommitAuthor.of(intent, kind).custom_metadata(),
        app_transactions=[Transaction(PUBLISH_APP, intent.seq)],
        max_commit_retries=0,
    )
