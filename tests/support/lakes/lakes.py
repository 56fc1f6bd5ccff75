"""Two lakes with one face: in memory, and real Delta tables with real committers."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

from lakeguard.lake.delta import DeltaTables
from lakeguard.lake.port import GovernedTables
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.storage.file_records import footer_digest
from lakeguard_sdk.storage.storage import (
    is_remote,
    join,
    readable_file,
    storage_for,
    storage_options,
)
from openlaketx.publish.commit import commit_publish
from tests.support.fakes.memory_tables import MemoryTables


class _Hash(Protocol):
    def hexdigest(self) -> str: ...


class Lake(Protocol):
    """Stages, publishes and reads files of one long column; lets a stranger write."""

    tables: GovernedTables

    def stage(self, location: str, path: str, numbers: list[int]) -> StagedFile: ...
    def contents(self, location: str, path: str) -> list[int]: ...
    def publish(self, intent: Intent) -> int: ...
    def write_foreign(self, location: str, numbers: list[int]) -> None: ...
    def files(self, location: str, version: int) -> tuple[str, ...]: ...
    def numbers(self, location: str, version: int) -> Counter[int]: ...


class MemoryLake:
    def __init__(self) -> None:
        self.memory = MemoryTables()
        self.tables: GovernedTables = self.memory
        self.held: dict[str, list[int]] = {}

    def stage(self, location: str, path: str, numbers: list[int]) -> StagedFile:
        self.held[path] = numbers
        return _staged(path, 1, len(numbers), 1, hashlib.sha256(str(numbers).encode()))

    def contents(self, location: str, path: str) -> list[int]:
        return self.held[path]

    def publish(self, intent: Intent) -> int:
        return self.memory.publish(intent)

    def write_foreign(self, location: str, numbers: list[int]) -> None:
        path = f"foreign-{len(self.held)}"
        self.held[path] = numbers
        self.memory.write_foreign(location, path)

    def files(self, location: str, version: int) -> tuple[str, ...]:
        return tuple(sorted(self.memory.files_at(location, version)))

    def numbers(self, location: str, version: int) -> Counter[int]:
        shown: Counter[int] = Counter()
        for path in self.memory.files_at(location, version):
            shown.update(self.held[path])
        return shown


class DeltaLake:
    """Delta tables in a folder, or in an object store."""

    def __init__(self) -> None:
        self.tables: GovernedTables = DeltaTables()

    def stage(self, location: str, path: str, numbers: list[int]) -> StagedFile:
        place, written = join(location, path), pa.BufferOutputStream()
        pq.write_table(_table(numbers), written)
        content = written.getvalue().to_pybytes()
        storage = storage_for(place)
        if is_remote(place):
            storage.replace(place, content)
        else:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            Path(place).write_bytes(content)
        facts, reported = storage.facts(place), hashlib.sha256(content)
        staged = _staged(path, facts.size, len(numbers), facts.modified_ms, reported)
        return staged.model_copy(update={"footer": footer_digest(place)})

    def contents(self, location: str, path: str) -> list[int]:
        return list(pq.read_table(readable_file(join(location, path)))["n"].to_pylist())

    def publish(self, intent: Intent) -> int:
        return commit_publish(intent)

    def write_foreign(self, location: str, numbers: list[int]) -> None:
        options = storage_options(location)
        write_deltalake(location, _table(numbers), mode="append", storage_options=options)

    def files(self, location: str, version: int) -> tuple[str, ...]:
        return tuple(sorted(self.tables.files_at(location, version)))

    def numbers(self, location: str, version: int) -> Counter[int]:
        shown: Counter[int] = Counter()
        for path in self.files(location, version):
            shown.update(self.contents(location, path))
        return shown


def _table(numbers: list[int]) -> pa.Table:
    return pa.table({"n": pa.array(numbers, pa.int64())})


def _staged(path: str, size: int, rows: int, modified_ms: int, content: _Hash) -> StagedFile:
    return StagedFile(
        path=path,
        size=size,
        rows=rows,
        modified_ms=modified_ms,
        stats=f'{{"numRecords":{rows}}}',
        sha256=content.hexdigest(),
    )
