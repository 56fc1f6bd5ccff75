"""The candidate of a run: an explicit list of files, described by their footers."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.delta_log import CommittedFile
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.partitions import PARTITION_KEY
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.checksum_files import is_checksum_file
from lakeguard_sdk.storage.storage import (
    FileFacts,
    Storage,
    below,
    join,
    readable_file,
)
from lakeguard_sdk.types.schema import TableSchema, leaf_types
from openlaketx.engine.parquet_types import UnsupportedColumn, physical_type, table_schema
from openlaketx.stage.file_stats import delta_stats
from openlaketx.stage.footer_ranges import column_range, leaf_indexes

# Partition of a staged file, verified by its footer.


class NoPartition(ValueError):
    """The rows of a file span several partitions, or one that Delta cannot represent."""


def _partition_values(
    footer: pq.FileMetaData, declared: TableSchema, partition_by: tuple[str, ...]
) -> dict[str, str | None]:
    """The single value of each partition column, as encoded in the Delta log; None is NULL."""
    return {name: _value(footer, declared, name) for name in partition_by}


def _value(footer: pq.FileMetaData, declared: TableSchema, name: str) -> str | None:
    data_type = str(declared.type_of(name))
    place = leaf_indexes(declared)[name]
    found = column_range([footer], place, raw=data_type != "boolean")
    if found.nulls is None or not found.bounded:
        raise NoPartition(f"partition column {name} has a value that is too long")
    if found.nulls == found.values:
        return None
    if found.nulls or found.lowest != found.highest:
        raise NoPartition(f"one file has several values of {name}")
    text = _text(found.lowest, data_type, name)
    if not text:
        raise NoPartition(
            f"partition column {name} has an empty string, which Delta reads as NULL:"
            " use another value, or NULL"
        )
    return text


def _text(value: Any, data_type: str, name: str) -> str:
    if data_type == "boolean":
        return "true" if value else "false"
    if data_type in ("integer", "long"):
        return str(int(value))
    try:
        if data_type == "date":
            return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
        return str(value, "utf-8")
    except (OverflowError, UnicodeDecodeError):
        raise NoPartition(f"partition column {name} has a value that cannot be written") from None


SUCCESS = "_SUCCESS"


@dataclass(frozen=True)
class Candidate:
    """Files with at least one row each, and their footers in the same order."""

    location: str
    files: tuple[StagedFile, ...]
    footers: tuple[pq.FileMetaData, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    def joined(self, *others: Candidate) -> Candidate:
        """These files and those of other candidates of the same table."""
        files = [file for one in (self, *others) for file in one.files]
        footers = [footer for one in (self, *others) for footer in one.footers]
        return Candidate(self.location, tuple(files), tuple(footers))

    def without(self, paths: Container[str]) -> Candidate:
        """The files that are not in ``paths``."""
        pairs = zip(self.files, self.footers, strict=True)
        left = [pair for pair in pairs if pair[0].path not in paths]
        files, footers = (tuple(pair[at] for pair in left) for at in (0, 1))
        return Candidate(self.location, files, footers)

    def with_hashes(self, hashes: Sequence[str], footers: Sequence[str]) -> Candidate:
        """The same files, each with the hashes of its content and of its footer."""
        found = zip(self.files, hashes, footers, strict=True)
        files = tuple(
            file.model_copy(update={"sha256": sha256, "footer": footer})
            for file, sha256, footer in found
        )
        return replace(self, files=files)


def collect(
    location: str,
    staging: str,
    declared: TableSchema,
    dataset: str,
    storage: Storage,
    partition_by: tuple[str, ...] = (),
    *,
    redacted_statistics: Container[str] = (),
) -> Candidate:
    """The files of a finished write; fails the run for any irregularity."""
    check_finished(join(location, staging), dataset, storage)
    return collect_folder(
        location,
        staging,
        declared,
        dataset,
        storage,
        partition_by,
        redacted_statistics=redacted_statistics,
    )


def check_finished(folder: str, dataset: str, storage: Storage) -> None:
    if not storage.exists(join(folder, SUCCESS)):
        raise StagingFailed(dataset=dataset, reason="the write has no success marker")


def refuse_irregular(folder: str, dataset: str, storage: Storage) -> None:
    """Fail the run for a link or pipe, whose rows would be left out, and for a hard link, which can
    be written under its other name."""
    found = next(storage.irregular_under(folder), None)
    if found is not None:
        reason = f"{found} has another name, or is neither a regular file nor a folder"
        raise StagingFailed(dataset=dataset, reason=reason)


def remove_checksum_files(folder: str, storage: Storage) -> None:
    """Remove those that a build left: Spark cannot read a file that does not agree with its own."""
    for facts in storage.files_under(folder):
        if is_checksum_file(facts.path.rpartition("/")[2]):
            storage.remove(facts.path, folder)


def collect_folder(
    location: str,
    staging: str,
    declared: TableSchema,
    dataset: str,
    storage: Storage,
    partition_by: tuple[str, ...] = (),
    *,
    redacted_statistics: Container[str] = (),
) -> Candidate:
    """The files of one folder of a finished write; none if the folder does not exist.

    Their statistics omit the values of columns in ``redacted_statistics``.
    """
    folder = join(location, staging)
    refuse_irregular(folder, dataset, storage)
    files, footers = [], []
    for facts in storage.files_under(folder):
        name = below(facts.path, folder)
        *folders, last = name.split("/")
        if last.startswith((".", "_")):
            continue
        if [part.partition("=")[0] for part in folders] != [PARTITION_KEY] * bool(partition_by):
            raise StagingFailed(dataset=dataset, reason=f"{facts.path} was left by a broken write")
        footer = _footer(facts, name, dataset)
        _check_schema(footer, declared, name, dataset)
        if footer.num_rows:
            try:
                partition = _partition_values(footer, declared, partition_by)
            except NoPartition as error:
                raise StagingFailed(dataset=dataset, reason=str(error)) from None
            stats = delta_stats(
                footer, declared, leave_out=partition, redacted_statistics=redacted_statistics
            )
            files.append(_staged(facts, join(staging, name), footer.num_rows, stats, partition))
            footers.append(footer)
    return Candidate(location, tuple(files), tuple(footers))


def _footer(facts: FileFacts, name: str, dataset: str) -> pq.FileMetaData:
    try:
        return pq.read_metadata(readable_file(facts.path))
    except (pa.ArrowException, OSError) as error:
        raise StagingFailed(dataset=dataset, reason=f"{name} is not readable: {error}") from None


def _check_schema(footer: pq.FileMetaData, declared: TableSchema, name: str, dataset: str) -> None:
    try:
        found = table_schema(footer)
    except UnsupportedColumn as error:
        raise StagingFailed(dataset=dataset, reason=f"{name}: {error}") from None
    if found.names != declared.names:
        raise StagingFailed(
            dataset=dataset,
            reason=f"{name} has columns {', '.join(found.names)}"
            f" instead of {', '.join(declared.names)}",
        )
    physical = _physical_types(footer)
    for column, live in zip(declared.columns, found.columns, strict=True):
        held = [next(physical) for _ in leaf_types(live.type)]
        if live.type != column.type or held != list(map(physical_type, leaf_types(column.type))):
            raise StagingFailed(
                dataset=dataset,
                reason=f"{name}: column {column.name} is {live.type} ({', '.join(held)})"
                f" instead of {column.type}",
            )


def _physical_types(footer: pq.FileMetaData) -> Iterator[str]:
    """One per leaf: a nested column has several."""
    schema = footer.schema
    return (schema.column(index).physical_type for index in range(len(schema)))


def _staged(
    facts: FileFacts,
    path: str,
    rows: int,
    stats: str,
    partition: dict[str, str | None],
) -> StagedFile:
    return StagedFile(
        path=path,
        size=facts.size,
        rows=rows,
        modified_ms=facts.modified_ms,
        stats=stats,
        partition=partition,
    )


# Files of an existing table, checked against log and footer.

_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


def shown_file(file: CommittedFile, plan: RunPlan, storage: Storage) -> StagedFile:
    """The file without its hash; ``StagingFailed`` if it contradicts the table's log."""
    place = join(plan.location, file.path)
    try:
        footer = pq.read_metadata(readable_file(place))
        problem = _problem(footer, file, plan.table_schema)
    except (pa.ArrowException, OSError, UnsupportedColumn) as error:
        problem = next(iter(str(error).splitlines()), type(error).__name__)
    if problem is not None:
        raise StagingFailed(dataset=plan.dataset, reason=f"{file.path}: {problem}")
    facts = storage.facts(place)
    return StagedFile(
        path=file.path,
        size=facts.size,
        rows=footer.num_rows,
        modified_ms=facts.modified_ms,
        stats=file.stats,
        partition=file.partition,
    )


def _problem(footer: Any, file: CommittedFile, schema: TableSchema) -> str | None:
    """Columns in the file must have the table's types; missing ones are NULL, or in the log."""
    if set(_OLD_CALENDAR) & set(footer.metadata or {}):
        return "its dates use the legacy Julian calendar; rewrite it"
    expected = json.loads(file.stats)["numRecords"]
    if expected != footer.num_rows:
        return f"it has {footer.num_rows} rows instead of {expected} in the table's log"
    for column in table_schema(footer).columns:
        wanted = schema.type_of(column.name)
        if wanted not in (None, column.type) and column.name not in file.partition:
            return f"column {column.name} is {column.type} instead of {wanted} in the table's log"
    return None
