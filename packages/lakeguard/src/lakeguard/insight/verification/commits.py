"""COMMIT: every change of a governed table has a decision, and the table shows all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from lakeguard.insight.verification.files import side_by_side
from lakeguard.insight.verification.row_equality import why_not_neutral
from lakeguard.lake.compacted_commits import compacted_difference
from lakeguard.lake.log_entries import LogFolder, commit_name, log_folder, odd_entries
from lakeguard.lake.port import GovernedTables
from lakeguard.lake.table_view import (
    LOG_ERRORS,
    Approved,
    Shown,
    ShownFile,
    as_shown,
    columns_difference,
    columns_of,
    differences,
    partition_difference,
    read_view,
)
from lakeguard.ledger.known_moves import Governed, Move, Numbers, ShownFiles
from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.core.enums import MoveKind
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.delta_log import TABLE_PROPERTIES, Commit, parse_commit
from lakeguard_sdk.model.verification import Finding, FindingKind
from lakeguard_sdk.storage.storage import is_remote, join, readable_file, storage_for

_PART = 2_000


@dataclass
class LogReading:
    """Compares one table's log with the State."""

    location: str
    governed: Governed
    commits: int = 0
    last: int = -1
    """The last commit that was read."""
    compare: bool = False
    """Whether rows before and after compactions are compared again."""
    moving: bool = False
    """A move is in progress: the head is about to be recorded."""
    schema: str = ""
    """The schema as last set by a known commit."""
    foreign: list[tuple[Commit, str]] = field(default_factory=list)
    unreadable: set[int] = field(default_factory=set)
    """Commits that are reported as odd entries of the log."""

    @cached_property
    def _files(self) -> ShownFiles:
        return ShownFiles(self.governed.moves)

    @cached_property
    def _numbers(self) -> Numbers:
        return self.governed.numbers

    @property
    def shown(self) -> dict[str, ShownFile]:
        """The files that the commits read so far add up to."""
        return self._files.files

    def findings(self, tables: GovernedTables) -> Iterator[Finding]:
        """Check every commit in order, then the head."""
        if not tables.exists(self.location):
            yield self._table_finding("expected a Delta table, found none")
            return
        odd = odd_entries(LogFolder(self.location, self.governed.by_commit.keys() | self._created))
        found = [self._table_finding(str(entry)) for entry in odd]
        self.unreadable = {entry.commit for entry in odd if entry.commit is not None}
        found += self._commits()
        undone = max((m.commit for m in self.governed.moves if _restores(m)), default=-1)
        for commit, why in self.foreign:
            if commit.version > undone:
                found.append(self._finding(commit.version, _ungoverned(commit, why)))
        yield from found
        if not found and not self.moving:
            yield from self._pointer()
            yield from self._head(tables)

    def _commits(self) -> Iterator[Finding]:
        known = self.governed.by_commit
        first = self.governed.first
        self.schema = first.schema if first else ""
        for version, data in self._log(max(known, default=0)):
            self.commits += 1
            self.last = version
            move = known.get(version)
            if version in self.unreadable:
                continue
            if data is None:
                yield self._finding(version, "expected in the log, found no file")
            elif version == 0 and self.governed.adopted is None:
                yield from self._creation(data)
            elif move is not None and hash_bytes(data) == move.sha256 and move.committed:
                yield from self._compaction(move, data)
                self._show(move, data)
            elif move is not None and hash_bytes(data) != move.sha256:
                yield self._altered(version, move.sha256, data)
            else:
                yield from self._unknown(version, data)

    def _log(self, recorded: int) -> Iterator[tuple[int, bytes | None]]:
        """Every commit file since the table became governed; None for a missing one with a later
        successor. Commits before an adoption are not checked."""
        start = self.governed.adopted or 0
        while True:
            part = range(start, start + _PART)
            found = list(side_by_side(self._read, part))
            last = max((version for version, data in found if data is not None), default=-1)
            ends = last < part[-1] and recorded <= part[-1]
            upto = max(last, recorded) if ends else part[-1]
            yield from (pair for pair in found if pair[0] <= upto)
            if ends:
                return
            start += _PART

    def _read(self, version: int) -> bytes | None:
        """None without a regular file."""
        name = commit_name(version)
        if self._listed is not None and name not in self._listed:
            return None
        file = join(log_folder(self.location), name)
        storage = storage_for(file)
        return storage.read_bytes(file) if storage.is_regular(file) else None

    @cached_property
    def _listed(self) -> frozenset[str] | None:
        """The names of a log in an object store, where looking for each would cost a request."""
        if not is_remote(self.location):
            return None
        return frozenset(storage_for(self.location).names_in(log_folder(self.location)))

    @property
    def _created(self) -> set[int]:
        """The commit that made the table, unless somebody else did."""
        return {0} if self.governed.adopted is None else set()

    def _creation(self, data: bytes) -> Iterator[Finding]:
        try:
            first = parse_commit(0, data)
        except ValueError as error:
            yield self._finding(0, f"not readable: {error}")
            return
        author = first.author.dataset_id if first.author else "somebody else"
        if author != self.governed.dataset_id or first.table_id != self.governed.table_id:
            expected = f"table {self.governed.table_id} of dataset {self.governed.dataset_id}"
            found = f"table {first.table_id} of {author}"
            yield self._finding(0, f"expected {expected}, found {found}")
        elif first.added or first.seq != 0:
            yield self._finding(0, "expected an empty table at number 0, found data")
        elif (recorded := self.governed.created_sha256) and hash_bytes(data) != recorded:
            yield self._altered(0, recorded, data)
        else:
            yield from self._created_as(first)

    def _altered(self, version: int, recorded: str, data: bytes) -> Finding:
        difference = f"expected {recorded}, found {hash_bytes(data)}"
        return self._finding(version, f"the commit file was altered: {difference}")

    def _created_as(self, created: Commit) -> Iterator[Finding]:
        """The schema of the first version, unless its commit set the columns."""
        first = self.governed.first
        if first is None:
            self.schema = created.table_schema or ""
        elif created.partition_by != first.partition_by:
            yield self._finding(
                0, partition_difference(first.partition_by, created.partition_by or ())
            )
        elif not _sets_schema(self._read(first.commit) or b""):
            expected, found = columns_of(first.schema), columns_of(created.table_schema or "")
            if expected != found:
                yield self._finding(0, columns_difference(expected, found))

    def _unknown(self, version: int, data: bytes) -> Iterator[Finding]:
        """A commit without a version: a fence, a move in progress, or an unknown writer."""
        try:
            commit = parse_commit(version, data)
        except (ValueError, KeyError) as error:
            yield self._finding(version, f"not readable: {error}")
            return
        if not self._numbers.allow(commit):
            self.foreign.append((commit, f"it carries number {commit.seq} of no move"))
            return
        if not commit.data_changing:
            return
        if commit.author is not None and commit.author.intent_id in self.governed.under_way:
            self.moving = True
            return
        adds = [ShownFile(f.path, f.size, f.stats, f.partition) for f in commit.added]
        why = why_not_neutral(self.location, version, data, self.shown)
        why = why or _why_not_true(self.location, self.schema, adds)
        if why is not None:
            self.foreign.append((commit, why))
            return
        self._files.change(commit.removes, adds)

    def _compaction(self, move: Move, data: bytes) -> Iterator[Finding]:
        """Compare merged files while they still exist."""
        compared = {*move.removes, *(file.path for file in move.adds)}
        merges = move.kind == MoveKind.COMPACTION.value
        if not merges or not self.compare or compared & self.governed.removed:
            return
        why = why_not_neutral(self.location, move.commit, data, self.shown)
        if why is not None:
            yield self._finding(move.commit, f"a compaction that changes rows: {why}")

    def _show(self, move: Move, data: bytes) -> None:
        if _sets_schema(data):
            commit = parse_commit(move.commit, data)
            self.schema = commit.table_schema or self.schema
        self._files.apply(move)

    def _pointer(self) -> Iterator[Finding]:
        moved = [move.commit for move in self.governed.moves if move.committed]
        expected = moved[-1] if moved else None
        if self.governed.published != expected:
            difference = f"commit {self.governed.published}, the last move made commit {expected}"
            found = self._table_finding(f"the published pointer names {difference}")
            yield found.model_copy(update={"next_command": "lakeguard rebuild --replace"})

    def _head(self, tables: GovernedTables) -> Iterator[Finding]:
        """What readers see, who start at the last checkpoint."""
        try:
            head = read_view(self.location)
            tables.require_readable(self.location)
        except TableUnreadable as error:
            yield self._table_finding(f"not readable: {error}")
            return
        if head.version > self.last:
            self.moving = True
            return
        for difference in self._differences(head):
            yield self._finding(head.version, difference)
        try:
            compacted = compacted_difference(self.location)
        except LOG_ERRORS as error:
            compacted = f"compacted commits are not readable: {error}"
        if compacted is not None:
            yield self._table_finding(compacted)

    def _differences(self, head: Shown) -> Iterator[str]:
        if not head.keeps_properties:
            expected = ", ".join(sorted(TABLE_PROPERTIES))
            yield f"expected the properties set at creation ({expected})"
        first = self.governed.first
        partition_by = None if first is None else first.partition_by
        yield from differences(head, Approved(self.shown, self.schema, partition_by))

    def _finding(self, version: int, message: str) -> Finding:
        place = f"{self.governed.location} commit {version}"
        return Finding(kind=FindingKind.COMMIT, place=place, message=message)

    def _table_finding(self, message: str) -> Finding:
        return Finding(kind=FindingKind.COMMIT, place=self.governed.location, message=message)


def _restores(move: Move) -> bool:
    """Commits before a restore are no longer visible."""
    return move.committed and move.target_commit is not None


def _ungoverned(commit: Commit, why: str) -> str:
    return f"{commit.operation or 'an unknown operation'} without a decision: {why}"


def _sets_schema(data: bytes) -> bool:
    return b'"metaData"' in data


# File statistics of foreign commits: readers skip files by them, so they must be true.

_MILLISECOND = timedelta(milliseconds=1)
"""Engines write timestamp statistics in whole milliseconds, and readers allow for it."""


def _why_not_true(location: str, schema: str, files: Sequence[ShownFile]) -> str | None:
    """The first wrong size or statistic of a file; None if all hold for its rows."""
    try:
        for file in files:
            place = join(location, file.path)
            if storage_for(place).facts(place).size != file.size:
                return f"the size of {file.path} is not {file.size:,}"
            wrong = _wrong(place, _claims(schema, file)) if file.stats else None
            if wrong is not None:
                return f"the statistics of {file.path} are not those of its rows: {wrong}"
    except (OSError, pa.ArrowException, DeltaError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        return f"its statistics cannot be compared: {reason}"
    return None


def _claims(schema: str, file: ShownFile) -> dict[str, pa.Scalar]:
    """Statistics parsed with the type of the column, as a reader does."""
    (row,) = as_shown(schema, file.partition, [file]).to_batches()
    return {name: row.column(name)[0] for name in row.schema.names}


def _wrong(location: str, claims: dict[str, pa.Scalar]) -> str | None:
    file = pq.ParquetFile(readable_file(location))
    rows = file.metadata.num_rows
    if claims["num_records"].as_py() not in (None, rows):
        return "num_records"
    for name in file.schema_arrow.names:
        recorded = {key: claims.get(f"{key}.{name}") for key in ("null_count", "min", "max")}
        if any(value is not None and value.is_valid for value in recorded.values()):
            wrong = _wrong_of(file.read(columns=[name])[name], recorded)
            if wrong:
                return f"{wrong}.{name}"
    return None


def _wrong_of(values: pa.ChunkedArray, recorded: dict[str, pa.Scalar | None]) -> str | None:
    nulls, least, most = (_value(recorded[key]) for key in ("null_count", "min", "max"))
    if nulls not in (None, values.null_count):
        return "null_count"
    for key, bound in (("min", least), ("max", most)):
        claim = recorded[key]
        if bound is None or claim is None:
            continue
        found = pc.min_max(values.cast(claim.type, safe=False))[key].as_py()
        slack = _MILLISECOND if pa.types.is_timestamp(claim.type) and key == "max" else None
        highest = bound + slack if slack else bound
        if found is not None and (found < bound if key == "min" else found > highest):
            return key
    return None


def _value(recorded: pa.Scalar | None) -> Any:
    return None if recorded is None else recorded.as_py()
