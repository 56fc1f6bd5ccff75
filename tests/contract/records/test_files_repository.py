"""The suite of repositories over files: a local folder, an object log, and the fake in memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.records.checks import KnownKinds
from lakeguard.records.files.local_log import LocalLog
from lakeguard.records.files.object_log import ObjectLog
from lakeguard.records.files.repository import FilesRepository, open_repository
from lakeguard.records.kinds import is_new_version
from lakeguard_sdk.errors import RecordsDamaged, UnknownCursor
from lakeguard_sdk.records.repository import MetadataRepository
from lakeguard_sdk.testing.memory_repository import MemoryRepository
from lakeguard_sdk.testing.record_samples import FLIGHTS, volume
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


def test_a_cursor_of_another_log_is_refused(tmp_path: Path) -> None:
    one, two = (open_repository(str(tmp_path / name), TENANT) for name in "ab")
    with one, two:
        one.bulk_store([volume("run-1"), volume("run-2")])
        two.bulk_store([volume("run-3"), volume("run-4")])
        cursor = one.tail(limit=1).cursor
        assert one.tail(cursor).records == (volume("run-2"),)
        with pytest.raises(UnknownCursor):
            two.tail(cursor)


def test_the_layout_is_that_of_the_seed(tmp_path: Path) -> None:
    with open_repository(str(tmp_path), TENANT) as repository:
        repository.store(volume("run-123"))
        assert repository.rebuild_index() == 1
    found = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*"))
    folder = "records/ingestion_volume/warehouse.public.flights"
    short_id = volume("run-123").record_id()[4:20]
    assert found == [
        "index.json",
        "log/00000001.jsonl",
        "records/.written.json",
        f"{folder}/2026-01-01T00:00:00.000000Z_run-123.{short_id}.json",
    ]
    index = json.loads((tmp_path / "index.json").read_text())
    (artifact,) = index["artifacts"]
    assert artifact["table"] == "flights"
    assert artifact["kinds"]["ingestion_volume"]["latest"] == {
        "produced_at": "2026-01-01T00:00:00.000000Z",
        "version": 1,
        "place": "00000001.jsonl, byte 0",
    }


def test_a_process_that_closes_leaves_a_file_for_each_record(tmp_path: Path) -> None:
    with open_repository(str(tmp_path), TENANT) as repository:
        repository.bulk_store([volume("run-1"), volume("run-2")])
    assert len(list((tmp_path / "records").rglob("*_run-*.json"))) == 2


def test_a_damaged_file_of_a_record_is_named_and_written_again(tmp_path: Path) -> None:
    with open_repository(str(tmp_path), TENANT) as repository:
        repository.store(volume())
        repository.rebuild_index()
        (file,) = (tmp_path / "records").rglob("*_run-*.json")
        file.write_bytes(file.read_bytes().replace(b'"rows":1', b'"rows":2'))
        assert repository.damaged_files() == [str(file)]
        assert repository.latest(FLIGHTS, "ingestion_volume") == volume()
        repository.rebuild_index()
        assert repository.damaged_files() == []


@pytest.mark.parametrize("loss", ["last segment", "middle segment", "end of the log"])
def test_a_log_that_lost_lines_is_named(loss: str, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def opened() -> FilesRepository:
        return FilesRepository(str(tmp_path), TENANT, LocalLog(log, 1))

    with opened() as repository:
        for number in range(4):
            repository.store(volume(f"run-{number}"))
        repository.save_index()
    if loss == "end of the log":
        last = log / "00000004.jsonl"
        last.write_bytes(last.read_bytes()[:-20])
    else:
        (log / f"0000000{4 if loss == 'last segment' else 2}.jsonl").unlink()
    with pytest.raises(RecordsDamaged, match=r"0000000[24]\.jsonl"):
        opened()


class TestMemory(RepositoryContract):
    @pytest.fixture(autouse=True)
    def _repository(self) -> None:
        self.repository = MemoryRepository(TENANT, KnownKinds, is_new_version)

    def open_repository(self) -> MetadataRepository:
        return self.repository
