"""The candidate of a run: exactly these files, as their own footers describe them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.partitions import PARTITION_KEY
from lakeguard_sdk.schema import TableSchema, leaf_types
from lakeguard_sdk.storage import FileFacts, Storage, join, local_path
from openlaketx.engine.parquet_types import UnsupportedColumn, physical_type, table_schema
from openlaketx.stage.file_stats import delta_stats
from openlaketx.stage.partition_values import NoPartition, partition_values

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
        """These files and those of others, of the same table."""
        files = [file for one in (self, *others) for file in one.files]
        footers = [footer for one in (self, *others) for footer in one.footers]
        return Candidate(self.location, tuple(files), tuple(footers))

    def without(self, paths: Container[str]) -> Candidate:
        """The files that are not among these."""
        pairs = zip(self.files, self.footers, strict=True)
        kept = [pair for pair in pairs if pair[0].path not in paths]
        files, footers = (tuple(pair[at] for pair in kept) for at in (0, 1))
        return Candidate(self.location, files, footers)

    def with_hashes(self, hashes: Sequence[str]) -> Candidate:
        """The same files, each with the hash of its content."""
        pairs = zip(self.files, hashes, strict=True)
        files = tuple(file.model_copy(update={"sha256": told}) for file, told in pairs)
        return replace(self, files=files)


def collect(
    location: str,
    staging: str,
    declared: TableSchema,
    dataset: str,
    storage: Storage,
    partition_by: tuple[str, ...] = (),
    *,
    unstated: Container[str] = (),
) -> Candidate:
    """The explicit list of what a finished write left; whatever looks wrong fails the run."""
    check_finished(join(location, staging), dataset, storage)
    return collect_folder(
        location, staging, declared, dataset, storage, partition_by, unstated=unstated
    )


def check_finished(folder: str, dataset: str, storage: Storage) -> None:
    if not storage.exists(join(folder, SUCCESS)):
        raise StagingFailed(dataset=dataset, reason="the write left no success marker")


def collect_folder(
    location: str,
    staging: str,
    declared: TableSchema,
    dataset: str,
    storage: Storage,
    partition_by: tuple[str, ...] = (),
    *,
    unstated: Container[str] = (),
) -> Candidate:
    """The files of one folder of a finished write; none where the folder is not there.

    Their statistics tell no value of the columns in ``unstated``.
    """
    folder = join(location, staging)
    files, footers = [], []
    for facts in storage.files_under(folder):
        name = facts.path.removeprefix(f"{local_path(folder)}/")
        *folders, last = name.split("/")
        if last.startswith((".", "_")):
            continue
        if [part.partition("=")[0] for part in folders] != [PARTITION_KEY] * bool(partition_by):
            raise StagingFailed(dataset=dataset, reason=f"{facts.path} was left by a broken write")
        footer = _footer(facts, name, dataset)
        _check_schema(footer, declared, name, dataset)
        if footer.num_rows:
            try:
                partition = partition_values(footer, declared, partition_by)
            except NoPartition as error:
                raise StagingFailed(dataset=dataset, reason=str(error)) from None
            stats = delta_stats(footer, declared, leave_out=partition, unstated=unstated)
            files.append(_staged(facts, join(staging, name), footer.num_rows, stats, partition))
            footers.append(footer)
    return Candidate(location, tuple(files), tuple(footers))


def _footer(facts: FileFacts, name: str, dataset: str) -> pq.FileMetaData:
    try:
        return pq.read_metadata(local_path(facts.path))
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
    """Of each leaf: a nested column has several."""
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
