"""A file set: the rows of one version as files, and the manifest that names them."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import Field, ValidationError

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import TargetFormat

MANIFEST = "manifest.json"


class DeliveredFile(Noun):
    """``path`` is relative to the folder of the manifest."""

    path: str
    rows: int
    size: int
    sha256: str


class FileSet(Noun):
    """What a manifest says: which version this is, who allowed it, and every file of it."""

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
        """Where the set's own copy of its manifest lies; written once all of it is there."""
        return f"{self.folder}/{self.format}.json"

    def is_whole(self, root: Path) -> bool:
        """Whether every file is there, by size."""
        return all(
            (root / file.path).is_file() and (root / file.path).stat().st_size == file.size
            for file in self.files
        )


def read_file_set(file: Path) -> FileSet | None:
    """What the file says; None where there is none, or none that can be read."""
    try:
        return FileSet.from_json(file.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def replace_file(file: Path, content: bytes) -> None:
    """The whole new content or the whole old one, whenever the machine stops."""
    draft = file.with_name(f".{file.name}.draft")
    with draft.open("wb") as writing:
        writing.write(content)
        writing.flush()
        os.fsync(writing.fileno())
    os.replace(draft, file)
    sync(file.parent)


def sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
