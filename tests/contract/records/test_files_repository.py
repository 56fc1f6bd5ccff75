"""The suite of repositories over files: a local folder, an object log, and the fake in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.records.checks import KnownKinds
from lakeguard.records.compatibility import is_new_version
from lakeguard.records.files.local_log import LocalLog
from lakeguard.records.files.object_log import ObjectLog
from lakeguard.records.files.repository import FilesRepository, open_repository
from lakeguard_sdk.records.repository import MetadataRepository
from lakeguard_sdk.testing.memory_repository import MemoryRepository
from lakeguard_sdk.testing.repository_contract import TENANT, RepositoryContract


class OfFiles(RepositoryContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> Iterator[None]:
        self.root = tmp_path / "metadata" / "default"
        self.opened: list[FilesRepository] = []
        yield
        for each in self.opened:
            each.close()

    def open_repository(self) -> MetadataRepository:
        self.opened.append(self.open_files())
        return self.opened[-1]

    def open_files(self) -> FilesRepository:
        return open_repository(str(self.root), TENANT)

    def damage(self) -> bool:
        for each in self.opened:
            each.close()
        newest = max((self.root / "log").glob("*.jsonl"))
        content = bytearray(newest.read_bytes())
        content[content.rindex(b'"rows":') + 7] ^= 1
        newest.write_bytes(content)
        return True


class TestFiles(OfFiles):
    pass


class TestSmallSegments(OfFiles):
    """Every append begins another segment."""

    def open_files(self) -> FilesRepository:
        return FilesRepository(str(self.root), TENANT, LocalLog(self.root / "log", 1))


class TestObjects(OfFiles):
    """The log of an object store, in a folder."""

    def open_files(self) -> FilesRepository:
        return FilesRepository(str(self.root), TENANT, ObjectLog(str(self.root / "log")))


class TestMemory(RepositoryContract):
    @pytest.fixture(autouse=True)
    def _repository(self) -> None:
        self.repository = MemoryRepository(TENANT, KnownKinds, is_new_version)

    def open_repository(self) -> MetadataRepository:
        return self.repository
