"""File sets: a published version as plain files.

A file set is complete before its manifest names it, so a reader that follows the manifest sees one
whole version, at worst an older one.
"""

from __future__ import annotations

import fcntl
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field, ValidationError

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.reserved_places import DELIVERED, MANIFEST
from lakeguard_sdk.storage.storage import FileMark, is_remote, join, local_path, storage_for
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.deliver.published_rows import (
    check_rows,
    row_count,
    rows_relation,
    shown_files,
)
from openlaketx.deliver.published_version import published, version_of
from openlaketx.deliver.text_formats import COPY_OPTIONS, spelled
from openlaketx.engine.delta_table import LiveFile
from openlaketx.engine.duckdb_reader import DuckdbReader, duckdb_reader
from openlaketx.engine.locations import writable_path
from openlaketx.stage.run_staging import delivery_staging

# A file set: the rows of one version as files, and the manifest that names them.


class DeliveredFile(FrozenModel):
    """``path`` is relative to the folder of the manifest."""

    path: str
    rows: int
    size: int
    sha256: str


class FileSet(FrozenModel):
    """The manifest: the version, its decision, and every file."""

    dataset: DatasetName
    dataset_id: str
    version: int
    format: TargetFormat
    table_id: str
    commit: int
    run_id: str
    decision_id: str
    rows: int
    table_schema: TableSchema = Field(alias="schema")
    files: tuple[DeliveredFile, ...]

    @property
    def folder(self) -> str:
        return f"v{self.version}"

    @property
    def record(self) -> str:
        """The set's own copy of its manifest, written when the set is complete."""
        return f"{self.folder}/{self.format}.json"

    def is_whole(self, root: str) -> bool:
        """Whether every file exists with its size."""
        try:
            storage = storage_for(root)
            sizes = (storage.facts(join(root, file.path)).size for file in self.files)
            return all(size == file.size for size, file in zip(sizes, self.files, strict=True))
        except FileNotFoundError:
            return False


def _read_file_set(location: str) -> FileSet | None:
    """The parsed file; None if it is missing or unreadable."""
    try:
        return FileSet.from_json(storage_for(location).read_bytes(location))
    except (FileNotFoundError, ValidationError):
        return None


def files_folder(location: str) -> str:
    """Next to the table: ``<location>.files``."""
    return f"{location.rstrip('/')}{DELIVERED}"


def deliver_files(plan: RunPlan, reader: Reader) -> FileSet | None:
    """Point the manifest to the currently published version; None if it does already."""
    if published(plan.dataset, reader) is None:
        return None
    root = files_folder(plan.location)
    manifest = join(root, MANIFEST)
    storage_for(root).make_folder(root)
    with _alone(root):
        while True:
            seen = _mark_in_store(manifest)
            shown = published(plan.dataset, reader)
            if shown is None:
                return None
            named = _read_file_set(manifest)
            if named is not None and _is(named, shown, plan.format) and named.is_whole(root):
                return None
            made = _earlier_set(root, shown, plan.format) or _made(root, shown, plan, reader)
            if _replaced(manifest, made, seen):
                fault_points.reached("deliver.manifest")
                return made


def _mark_in_store(manifest: str) -> FileMark | None:
    """None if there is no manifest, or if it is in a folder, whose lock is held."""
    try:
        return storage_for(manifest).mark(manifest) if is_remote(manifest) else None
    except FileNotFoundError:
        return None


def _replaced(manifest: str, made: FileSet, seen: FileMark | None) -> bool:
    """False if another delivery has written it since it was seen."""
    storage, content = storage_for(manifest), made.to_json().encode()
    if not is_remote(manifest):
        storage.replace(manifest, content)
        return True
    if seen is None:
        return storage.create(manifest, content)
    return storage.update(manifest, content, seen)


def _earlier_set(root: str, shown: ResolvedDataset, form: TargetFormat) -> FileSet | None:
    """The set of an earlier delivery: after a rollback, or after a crash before the manifest."""
    found = _read_file_set(join(root, f"v{shown.version}", f"{form}.json"))
    whole = found is not None and _is(found, shown, form) and found.is_whole(root)
    return found if whole else None


def _made(root: str, shown: ResolvedDataset, plan: RunPlan, reader: Reader) -> FileSet:
    version, _ = version_of(shown, reader)
    files = _write_files(shown, plan.format, root, f"v{shown.version}")
    made = FileSet(
        dataset=shown.dataset,
        dataset_id=shown.dataset_id,
        version=shown.version,
        format=plan.format,
        table_id=shown.table_id,
        commit=shown.commit,
        run_id=version.run_id,
        decision_id=version.decision_id,
        rows=sum(file.rows for file in files),
        table_schema=shown.table_schema,
        files=files,
    )
    fault_points.reached("deliver.written")
    storage_for(root).replace(join(root, made.record), made.to_json().encode())
    return made


def _is(found: FileSet, shown: ResolvedDataset, form: TargetFormat) -> bool:
    return (found.version, found.table_id, found.format) == (shown.version, shown.table_id, form)


@contextmanager
def _alone(root: str) -> Iterator[None]:
    """One delivery at a time; the lock is released when its process dies.

    In an object store several may meet: each writes files of its own, and one replaces the
    manifest that it has seen.
    """
    if is_remote(root):
        yield
        return
    with Path(local_path(root), ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Writing the rows of a version as files, each with its hash.

ROWS_PER_FILE = 5_000_000
"""Approximate: a file of the table is never split."""


def _write_files(
    shown: ResolvedDataset, form: TargetFormat, root: str, folder: str
) -> tuple[DeliveredFile, ...]:
    """Writes all rows of the version below ``root``, durably; the order is undefined."""
    with delivery_staging(join(root, folder)), duckdb_reader() as reader:
        writable_path(join(root, folder)).mkdir(parents=True, exist_ok=True)
        live = shown_files(shown, reader)
        own = f"-{secrets.token_hex(4)}" if is_remote(root) else ""
        written = tuple(
            _write(reader, shown, form, root, f"{folder}/part-{number:05d}{own}.{form}", part)
            for number, part in enumerate(_parts(live))
        )
        check_rows(shown, sum(file.rows for file in written), row_count(live))
        for file in written:
            storage_for(root).make_durable(join(root, file.path))
    return written


def _parts(files: Sequence[LiveFile]) -> Iterator[list[LiveFile]]:
    """At least one, so that an empty version is delivered too."""
    part: list[LiveFile] = []
    rows = 0
    for file in files:
        if part and rows + (file.rows or 0) > ROWS_PER_FILE:
            yield part
            part, rows = [], 0
        part.append(file)
        rows += file.rows or 0
    yield part


def _write(
    reader: DuckdbReader,
    shown: ResolvedDataset,
    form: TargetFormat,
    root: str,
    path: str,
    part: Sequence[LiveFile],
) -> DeliveredFile:
    place = writable_path(join(root, path))
    origin, parameters = rows_relation(shown, part)
    columns = ", ".join(spelled(column, form) for column in shown.table_schema.columns)
    to = str(place).replace("'", "''")
    rows = reader.row(
        f"COPY (SELECT {columns} FROM {origin}) TO '{to}' ({COPY_OPTIONS[form]})",  # noqa: S608
        parameters,
    )
    return DeliveredFile(
        path=path,
        rows=int(rows[0]),
        size=place.stat().st_size,
        sha256=storage_for(root).sha256(join(root, path)),
    )
