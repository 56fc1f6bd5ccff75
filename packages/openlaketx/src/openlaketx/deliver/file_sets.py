"""File sets: a published version as plain files.

A file set is complete before its manifest names it, so a reader that follows the manifest sees one
whole version, at worst an older one.
"""

from __future__ import annotations

import fcntl
import os
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
from lakeguard_sdk.storage.storage import local_path, storage_for
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

    def is_whole(self, root: Path) -> bool:
        """Whether every file exists with its size."""
        return all(
            (root / file.path).is_file() and (root / file.path).stat().st_size == file.size
            for file in self.files
        )


def _read_file_set(file: Path) -> FileSet | None:
    """The parsed file; None if it is missing or unreadable."""
    try:
        return FileSet.from_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _replace_file(file: Path, content: bytes) -> None:
    """Atomic and durable: the new content or the old one, even after a crash."""
    draft = file.with_name(f".{file.name}.draft")
    with draft.open("wb") as writing:
        writing.write(content)
        writing.flush()
        os.fsync(writing.fileno())
    os.replace(draft, file)
    _sync(file.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def files_folder(location: str) -> Path:
    """Next to the table: ``<location>.files``."""
    table = Path(local_path(location.rstrip("/")))
    return table.with_name(f"{table.name}{DELIVERED}")


def deliver_files(plan: RunPlan, reader: Reader) -> FileSet | None:
    """Point the manifest to the currently published version; None if it does already."""
    if published(plan.dataset, reader) is None:
        return None
    root = files_folder(plan.location)
    root.mkdir(parents=True, exist_ok=True)
    with _alone(root):
        shown = published(plan.dataset, reader)
        if shown is None:
            return None
        named = _read_file_set(root / MANIFEST)
        if named is not None and _is(named, shown, plan.format) and named.is_whole(root):
            return None
        made = _earlier_set(root, shown, plan.format) or _made(root, shown, plan, reader)
        _replace_file(root / MANIFEST, made.to_json().encode())
        fault_points.reached("deliver.manifest")
        return made


def _earlier_set(root: Path, shown: ResolvedDataset, form: TargetFormat) -> FileSet | None:
    """The set of an earlier delivery: after a rollback, or after a crash before the manifest."""
    found = _read_file_set(root / f"v{shown.version}" / f"{form}.json")
    whole = found is not None and _is(found, shown, form) and found.is_whole(root)
    return found if whole else None


def _made(root: Path, shown: ResolvedDataset, plan: RunPlan, reader: Reader) -> FileSet:
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
    _replace_file(root / made.record, made.to_json().encode())
    return made


def _is(found: FileSet, shown: ResolvedDataset, form: TargetFormat) -> bool:
    return (found.version, found.table_id, found.format) == (shown.version, shown.table_id, form)


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    """One delivery at a time; the lock is released when its process dies."""
    with (root / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# Writing the rows of a version as files, each with its hash.

ROWS_PER_FILE = 5_000_000
"""Approximate: a file of the table is never split."""


def _write_files(
    shown: ResolvedDataset, form: TargetFormat, root: Path, folder: str
) -> tuple[DeliveredFile, ...]:
    """Writes all rows of the version below ``root``, durably; the order is undefined."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    with duckdb_reader() as reader:
        live = shown_files(shown, reader)
        written = tuple(
            _write(reader, shown, form, root, f"{folder}/part-{number:05d}.{form}", part)
            for number, part in enumerate(_parts(live))
        )
    check_rows(shown, sum(file.rows for file in written), row_count(live))
    _sync(root / folder)
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
    root: Path,
    path: str,
    part: Sequence[LiveFile],
) -> DeliveredFile:
    place = root / path
    origin, parameters = rows_relation(shown, part)
    columns = ", ".join(spelled(column, form) for column in shown.table_schema.columns)
    to = str(place).replace("'", "''")
    rows = reader.row(
        f"COPY (SELECT {columns} FROM {origin}) TO '{to}' ({COPY_OPTIONS[form]})",  # noqa: S608
        parameters,
    )
    _sync(place)
    return DeliveredFile(
        path=path,
        rows=int(rows[0]),
        size=place.stat().st_size,
        sha256=storage_for(str(root)).sha256(str(place)),
    )
