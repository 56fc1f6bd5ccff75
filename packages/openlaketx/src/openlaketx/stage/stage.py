"""Writes staged files under the table's root, into one folder per attempt."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakeguard_sdk.errors import LakeGuardError, StagedFilesChanged, StagingFailed
from lakeguard_sdk.model.partitions import PARTITION_KEY
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.model.table_operations import CompactionPlan
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.file_records import footer_digest
from lakeguard_sdk.storage.storage import FileMark, Storage, is_remote, join
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.locations import spark_is_here, spark_path
from openlaketx.engine.machine import cores
from openlaketx.engine.spark.errors import SPARK_ERRORS, causes, reason
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.engine.spark.types import quoted_name
from openlaketx.extract import Batch
from openlaketx.stage.candidate import SUCCESS, Candidate, check_finished, collect_folder
from openlaketx.stage.store_write import write_to_store

_OPTIONS = {
    "compression": "snappy",
    "parquet.writer.version": "v1",  # file_layout accepts no other pages and no filters
    "parquet.bloom.filter.enabled": "false",
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
}

_ROWS_TO_REWRITE = 1_000_000

Result = TypeVar("Result")
Explain = Callable[[Exception], LakeGuardError]


def stage(
    frame: DataFrame,
    batch: Batch,
    plan: RunPlan,
    storage: Storage,
    *,
    schema: TableSchema | None = None,
    folder: str = "",
) -> Candidate:
    """Write the rows of the run, verify every file, and check that the origin has not changed."""
    schema = schema or plan.table_schema
    candidate = write_files(frame, plan, schema, batch.explain, storage, folder=folder)
    batch.confirm()
    fault_points.reached("stage.written")
    return candidate


def write_files(
    frame: DataFrame,
    plan: RunPlan,
    schema: TableSchema,
    explain: Explain,
    storage: Storage,
    *,
    folder: str,
) -> Candidate:
    """Write into a folder of the run; the row count must match Spark's."""
    kinds = write_kinds(frame, plan, schema, explain, storage, folder=folder, kind=None)
    return kinds[""]


def write_kinds(
    frame: DataFrame,
    plan: RunPlan,
    schema: TableSchema,
    explain: Explain,
    storage: Storage,
    *,
    folder: str,
    kind: str | None,
    kinds: tuple[str, ...] = ("",),
) -> dict[str, Candidate]:
    """One write; if ``kind`` names a column, the files of each kind are separate."""
    staging = join(plan.staging, folder) if folder else plan.staging
    place = join(plan.location, staging)
    if storage.has_files(place):
        raise StagingFailed(dataset=plan.dataset, reason=f"{staging} already exists")
    laid_out, folders = _laid_out(frame, plan, kind)
    try:
        written = _write(laid_out, place, folders, plan, storage)
    except SPARK_ERRORS as error:
        raise _explained(error, place, explain, plan) from None
    check_finished(place, plan.dataset, storage)
    found = {
        name: collect_folder(
            plan.location,
            join(staging, f"{kind}={name}") if kind else staging,
            schema,
            plan.dataset,
            storage,
            plan.partition_by,
            redacted_statistics=plan.redacted_statistics,
        )
        for name in kinds
    }
    found_rows = sum(candidate.rows for candidate in found.values())
    if written is not None and written != found_rows:
        raise StagingFailed(
            dataset=plan.dataset,
            reason=f"Spark wrote {written} rows, but the files have {found_rows}",
        )
    return found


def _laid_out(frame: DataFrame, plan: RunPlan, kind: str | None) -> tuple[DataFrame, list[str]]:
    """Partitioned by a hash, because folder names cannot hold every value, case or NULL.

    If two partitions share a hash, the footers reveal it and the run fails.
    """
    folders = [kind] if kind else []
    if plan.partition_by:
        values = [frame[quoted_name(name)] for name in plan.partition_by]
        hashed = F.hex(F.xxhash64(*(part for value in values for part in (value, value.isNull()))))
        frame = runtime_of(frame).rebalanced(frame.withColumn(PARTITION_KEY, hashed), PARTITION_KEY)
        folders.append(PARTITION_KEY)
    return frame, folders


def _most_rows(plan: RunPlan) -> int:
    """Smaller files for keyed loads, which rewrite every file with a change."""
    return _ROWS_TO_REWRITE if plan.load.keys else 0


def _write(
    frame: DataFrame, place: str, folders: list[str], plan: RunPlan, storage: Storage
) -> int | None:
    """The number of rows written; None if Spark does not count them."""
    if is_remote(place) and not spark_is_here():
        rows = write_to_store(frame, place, folders, _most_rows(plan), storage)
        storage.create(join(place, SUCCESS), b"")
        return rows
    with runtime_of(frame).counting(frame, plan.ticket.run_id) as counted:
        writer = counted.frame.write.mode("error").options(**_OPTIONS)
        writer = writer.option("maxRecordsPerFile", _most_rows(plan))
        (writer.partitionBy(*folders) if folders else writer).parquet(spark_path(place))
    return counted.rows()


def _explained(error: Exception, folder: str, explain: Explain, plan: RunPlan) -> LakeGuardError:
    """An error about staged files only if the root cause names them; Spark mentions them anyway."""
    if spark_path(folder) in causes(error)[-1]:
        return StagingFailed(dataset=plan.dataset, reason=reason(error))
    return explain(error)


# Sealing: every file is synced and hashed before the decision.


def seal(
    candidate: Candidate,
    plan: RunPlan | CompactionPlan,
    storage: Storage,
    *,
    synced: Container[str] = (),
) -> Future[Candidate]:
    """The candidate with its hashes, once all files are on disk; runs in the background.

    The content of files in ``synced`` is on disk already.
    """
    return in_background(lambda: _seal(candidate, plan, storage, synced))


def in_background(work: Callable[[], Result]) -> Future[Result]:
    """The result of ``work``, which a thread of its own does."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="files")
    try:
        return pool.submit(work)
    finally:
        pool.shutdown(wait=False)


def _seal(
    candidate: Candidate,
    plan: RunPlan | CompactionPlan,
    storage: Storage,
    synced: Container[str],
) -> Candidate:
    """Hashing is CPU-bound and syncing I/O-bound, so they run in parallel."""
    places = [join(plan.location, file.path) for file in candidate.files]
    with ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="hash") as hashing:
        hashes = hashing.map(storage.sha256, places)
        _sync([file.path for file in candidate.files], plan, storage, synced)
        return candidate.with_hashes(list(hashes), list(map(footer_digest, places)))


def _sync(
    paths: list[str],
    plan: RunPlan | CompactionPlan,
    storage: Storage,
    synced: Container[str],
) -> None:
    """Sync every file, and every folder that contains one, up to the table's root."""
    folders = {plan.staging.strip("/")}
    for path in paths:
        if path not in synced or is_remote(plan.location):  # synced here, not uploaded
            storage.make_durable(join(plan.location, path))
        folders.add(path.rpartition("/")[0])
    above = {
        "/".join(parts[:depth])
        for parts in (folder.split("/") for folder in folders)
        for depth in range(len(parts) + 1)
    }
    for folder in sorted(above, reverse=True):
        storage.make_durable(join(plan.location, folder) if folder else plan.location)


# Marks: staged files stay as they were measured.

_TICK_SECONDS = 0.02
"""Longer than a tick of the clock that stamps files: a later write gets a later time."""
_SYNCS = 8
"""Files synced at once: they share commits of the file system's journal."""


@dataclass(frozen=True)
class FileMarks:
    """Identity, size and change time of files. No program can set a change time back.

    Equal marks mean unchanged bytes, unlike an equal size and modification time. If the files are
    ``shared``, this includes stores through memory that a process mapped before: a store changes
    the time only where the page is clean, so files are synced once they are marked.
    """

    location: str
    marks: Mapping[str, FileMark]
    shared: bool = False
    """Another process may have the files open, or mapped into its memory."""

    @classmethod
    def of(
        cls, location: str, paths: Iterable[str], storage: Storage, *, shared: bool = False
    ) -> FileMarks:
        """Marks of these files; what is read after this call is what the marks stand for."""
        places = {path: join(location, path) for path in paths}
        marks = {path: storage.mark(place) for path, place in places.items()}
        if shared and places:
            _wait_for_tick(max(mark.changed_ns for mark in marks.values()))
            marks = {path: storage.mark(place) for path, place in places.items()}
            # Not before the marks: a store in between would make its page dirty again, unnoticed.
            with ThreadPoolExecutor(max_workers=_SYNCS, thread_name_prefix="sync") as pool:
                list(pool.map(storage.sync_content, places.values()))
        return cls(location, marks, shared)

    @property
    def synced(self) -> frozenset[str]:
        """The files whose content is on disk."""
        return frozenset(self.marks) if self.shared else frozenset()

    def of_files(self, paths: Iterable[str], storage: Storage) -> FileMarks:
        """Marks of these files: those taken earlier where there are any."""
        paths = list(paths)
        new = [path for path in paths if path not in self.marks]
        marks = {
            **self.marks,
            **FileMarks.of(self.location, new, storage, shared=self.shared).marks,
        }
        return replace(self, marks={path: marks[path] for path in paths})

    def check(self, dataset: str, storage: Storage) -> None:
        """``StagedFilesChanged`` if a file was written, replaced or removed."""
        for path, mark in self.marks.items():
            try:
                same = storage.mark(join(self.location, path)) == mark
            except OSError:
                same = False
            if not same:
                raise StagedFilesChanged(
                    dataset=dataset, path=path, difference="it was changed after it was staged"
                )


def _wait_for_tick(changed_ns: int) -> None:
    """Wait until a write gets another change time than this one."""
    passed = (time.time_ns() - changed_ns) / 1e9
    time.sleep(min(max(_TICK_SECONDS - passed, 0), _TICK_SECONDS))
