"""Governed tables in memory: the plainest thing that keeps the protocol of a move."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from lakeguard.lake.log_entries import OddEntry
from lakeguard.lake.log_repair import RecordedLog
from lakeguard.lake.port import LiveFile, Origin
from lakeguard.lake.table_view import Approved, files_difference
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.enums import CommitKind, LoadType, MoveKind
from lakeguard_sdk.errors import BaseChanged, ForeignTable
from lakeguard_sdk.model.delta_log import (
    Commit,
    CommitAuthor,
    CommittedFile,
    commit_kind,
)
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.model.table_operations import AdoptableTable
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.file_records import FileRecord
from lakeguard_sdk.types.schema import TableSchema


class MemoryTables:
    """A log of commits per location. Committing is strict: on the head that was seen, or not."""

    def __init__(self) -> None:
        self.logs: dict[str, list[Commit]] = {}
        self.schemas: dict[str, TableSchema] = {}

    def exists(self, location: str) -> bool:
        return location in self.logs

    def ensure(
        self,
        dataset_id: str,
        location: str,
        schema: TableSchema,
        partition_by: tuple[str, ...] = (),
    ) -> str:
        if location not in self.logs:
            self.logs[location] = []
            author = CommitAuthor(dataset_id=dataset_id, kind=CommitKind.CREATE)
            created = (_table_id(location), partition_by)
            self._append(location, -1, author, seq=0, changes=True, created=created)
            reached("table.created")
        first = self.logs[location][0]
        ours = first.author is not None and first.author.dataset_id == dataset_id
        if not ours or first.partition_by != partition_by:
            raise ForeignTable(location=location, dataset=dataset_id, difference="not ours")
        return str(first.table_id)

    def origin(self, location: str) -> Origin:
        first = self.logs[location][0]
        author = None if first.author is None else first.author.dataset_id
        return Origin(str(first.table_id), first.partition_by or (), author)

    def make_foreign(self, location: str, schema: TableSchema) -> None:
        """Somebody makes a table, empty and unpartitioned."""
        self.logs[location] = []
        self.schemas[location] = schema
        self._append(location, -1, None, changes=True, created=(_table_id(location), ()))

    def examine(self, location: str, version: int | None = None) -> AdoptableTable:
        head = self.head_version(location) if version is None else version
        shown = self._as_added(location, self.files_at(location, head))
        origin = self.origin(location)
        return AdoptableTable(
            location=location,
            table_id=origin.table_id,
            commit=head,
            table_schema=self.schemas[location],
            partition_by=origin.partition_by,
            files=tuple(shown),
            rows=sum(self._rows_at(location, head).values()),
            seq=self._seq(location),
        )

    def adopt(self, intent: Intent) -> int:
        head = self.head_version(intent.location)
        if (self._seq(intent.location) or 0) != intent.seq - 1 or head != intent.base_commit:
            raise BaseChanged(dataset=intent.dataset, expected=intent.base_commit, found=head)
        reached("adopt.before_commit")
        landed = self._append(
            intent.location,
            head,
            CommitAuthor.of(intent, CommitKind.ADOPT),
            seq=intent.seq,
            changes=True,
            created=(intent.table_id, intent.partition_by),
        )
        reached("adopt.committed")
        if landed is None:
            raise BaseChanged(dataset=intent.dataset, expected=head, found="another commit")
        return landed

    def commit_at(self, location: str, version: int) -> Commit | None:
        log = self.logs.get(location, [])
        return log[version] if 0 <= version < len(log) else None

    def commit_body(self, location: str, version: int) -> bytes | None:
        return None

    def head_version(self, location: str) -> int:
        return len(self.logs[location]) - 1

    def require_readable(self, location: str) -> None:
        """A log in memory is."""

    def _rows_at(self, location: str, version: int) -> Mapping[str, int]:
        shown = self._as_added(location, self.files_at(location, version))
        return {file.path: json.loads(file.stats).get("numRecords", -1) for file in shown}

    def live_at(self, location: str, version: int) -> Sequence[LiveFile]:
        rows = self._rows_at(location, version)
        shown = self._as_added(location, self.files_at(location, version))
        return [LiveFile(file.path, file.size, rows[file.path], file.partition) for file in shown]

    def damage(
        self,
        location: str,
        version: int,
        *,
        rows: int | None = None,
        records: Sequence[FileRecord] | None = None,
    ) -> str | None:
        return None

    def keeps_properties(self, location: str, version: int) -> bool:
        return True

    def commits_since(self, location: str, version: int) -> Sequence[Commit]:
        return self.logs.get(location, [])[version + 1 :]

    def checkpoint_mark(self, location: str, version: int) -> str | None:
        return None

    def has_files(self, location: str, sizes: Mapping[str, int]) -> bool:
        return True

    def read_log(
        self, location: str, recorded: Mapping[int, str], since: int = 0, *, by_mark: bool = False
    ) -> RecordedLog:
        found = {commit.version: commit.sha256 for commit in self.logs.get(location, [])}
        return RecordedLog(
            altered=[v for v in recorded if v in found and found[v] != recorded[v]],
            missing=[v for v in recorded if v not in found],
            with_schema={},
            odd=[],
            head=len(found) - 1,
            derived=False,
        )

    def shown_difference(self, location: str, version: int, approved: Approved) -> str | None:
        return files_difference(self.files_at(location, version), approved.files.keys())

    def repair_log(
        self, location: str, bodies: Mapping[int, bytes], odd: Iterable[OddEntry], last: int
    ) -> Sequence[str]:
        raise AssertionError("a log in memory is not damaged")

    def read_from_commits(self, location: str) -> bool:
        return False

    def fence(self, intent: Intent) -> Commit:
        for _ in range(20):
            later = self.commits_since(intent.location, intent.base_commit)
            holder = next((commit for commit in later if commit.seq == intent.seq), None)
            if holder is not None:
                return holder
            head = self.head_version(intent.location)
            reached("fence.before_commit")
            if self._last_seq(intent) == intent.seq - 1:
                self._append(
                    intent.location, head, CommitAuthor.of(intent, CommitKind.FENCE), seq=intent.seq
                )
            reached("fence.committed")
        raise BaseChanged(dataset=intent.dataset, expected=f"seq {intent.seq - 1}", found="another")

    def restore(self, intent: Intent) -> int:
        assert intent.target_commit is not None
        head = self.head_version(intent.location)
        if self._seq(intent.location) != intent.seq - 1 or head != intent.base_commit:
            raise BaseChanged(dataset=intent.dataset, expected=intent.base_commit, found=head)
        wanted = self.files_at(intent.location, intent.target_commit)
        shown = self.files_at(intent.location, head)
        reached("restore.before_commit")
        landed = self._append(
            intent.location,
            head,
            CommitAuthor.of(intent, CommitKind.RESTORE),
            seq=intent.seq,
            adds=self._as_added(intent.location, wanted - shown),
            removes=shown - wanted,
            changes=True,
        )
        reached("restore.committed")
        if landed is None:
            raise BaseChanged(dataset=intent.dataset, expected=head, found="another commit")
        return landed

    def publish(self, intent: Intent) -> int:
        """The data plane's half of the protocol, on the same log."""
        head = self.head_version(intent.location)
        moved = any(
            commit.data_changing
            for commit in self.commits_since(intent.location, intent.base_commit)
        )
        if self._seq(intent.location) != intent.seq - 1 or moved:
            raise BaseChanged(dataset=intent.dataset, expected=intent.base_commit, found=head)
        removes = frozenset(intent.removes)
        if intent.load is LoadType.FULL:
            removes = self.files_at(intent.location, head)
        reached("publish.before_commit")
        landed = self._append(
            intent.location,
            head,
            CommitAuthor.of(intent, commit_kind(intent)),
            seq=intent.seq,
            adds=intent.adds,
            removes=removes,
            changes=True,
            neutral=intent.kind is MoveKind.COMPACTION,
        )
        reached("publish.committed")
        if landed is None:
            raise BaseChanged(dataset=intent.dataset, expected=head, found="another commit")
        return landed

    def write_foreign(self, location: str, path: str) -> None:
        """Somebody appends a file without asking."""
        self._append(location, self.head_version(location), None, adds=[_file(path)], changes=True)

    def files_at(self, location: str, version: int) -> frozenset[str]:
        files: frozenset[str] = frozenset()
        for commit in self.logs[location][: version + 1]:
            files = (files - set(commit.removes)) | set(commit.adds)
        return files

    def _as_added(self, location: str, paths: frozenset[str]) -> list[CommittedFile]:
        """Files as they were added: a restore says of them what was said before."""
        added = {file.path: file for commit in self.logs[location] for file in commit.added}
        return [added[path] for path in sorted(paths)]

    def _last_seq(self, intent: Intent) -> int | None:
        seq = self._seq(intent.location)
        return 0 if seq is None and intent.kind is MoveKind.ADOPTION else seq

    def _seq(self, location: str) -> int | None:
        return next((c.seq for c in reversed(self.logs[location]) if c.seq is not None), None)

    def _append(
        self,
        location: str,
        seen: int,
        author: CommitAuthor | None,
        *,
        seq: int | None = None,
        adds: Sequence[StagedFile | CommittedFile] = (),
        removes: frozenset[str] = frozenset(),
        changes: bool = False,
        neutral: bool = False,
        created: tuple[str | None, tuple[str, ...] | None] = (None, None),
    ) -> int | None:
        log = self.logs[location]
        if len(log) != seen + 1:
            return None
        added = tuple(
            CommittedFile(path=f.path, size=f.size, stats=f.stats, partition=f.partition)
            for f in adds
        )
        body = [len(log), seq, [file.to_data() for file in added], sorted(removes)]
        log.append(
            Commit(
                version=len(log),
                sha256=content_hash([*body, None if author is None else author.to_data()]),
                operation="WRITE",
                seq=seq,
                author=author,
                added=added,
                removes=tuple(sorted(removes)),
                data_changing=changes,
                table_id=created[0],
                table_schema=None,
                partition_by=created[1],
                claims_neutral=neutral,
            )
        )
        return len(log) - 1


def _file(path: str) -> StagedFile:
    return StagedFile(path=path, size=1, rows=1, modified_ms=1, stats='{"numRecords": 1}')


def _table_id(location: str) -> str:
    """As short as a real one, however long the way to its folder."""
    return f"t-{hashlib.sha256(location.encode()).hexdigest()[:32]}"
