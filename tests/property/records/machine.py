"""A files repository beside a plain list of records, with all that may happen to a folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lakeguard.records.checks import KnownKinds
from lakeguard.records.files.local_log import LocalLog
from lakeguard.records.files.log import RecordLog
from lakeguard.records.files.log_lines import write_line
from lakeguard.records.files.object_log import ObjectLog
from lakeguard.records.files.repository import FilesRepository
from lakeguard.records.kinds import is_new_version
from lakeguard_sdk.errors import LakeGuardError, RecordsDamaged
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord
from lakeguard_sdk.records.repository import MetadataRepository
from lakeguard_sdk.testing.memory_repository import MemoryRepository
from lakeguard_sdk.testing.record_samples import (
    AIRLINES,
    FLIGHTS,
    TENANT,
    VOLUME,
    at,
    read_pages,
    read_tail,
    volume,
)

RECORDS = st.builds(
    lambda run, rows, hours, target, version: volume(
        run, rows, hours=hours, target=target, version=version
    ),
    st.sampled_from(["run-1", "run-2", "run-3", None]),
    st.integers(0, 1),
    st.integers(0, 3),
    st.sampled_from([FLIGHTS, AIRLINES]),
    st.sampled_from([1, 1, 1, 2, 3]),
)
BATCHES = st.lists(RECORDS, min_size=1, max_size=4)
SEGMENT_BYTES = 1500
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""In memory: what is durable is for ``tests/faults``."""


def answers(repository: MetadataRepository) -> Iterator[Callable[[], Any]]:
    """All questions."""
    for target in (FLIGHTS, AIRLINES):
        yield lambda target=target: repository.latest(target, VOLUME)  # type: ignore[misc]
        yield lambda target=target: list(  # type: ignore[misc]
            repository.history(target, VOLUME, since=at(1), limit=3)
        )
    for order in ("produced_at", "-produced_at"):
        for every in (False, True):
            query = MetadataQuery(order=order, every_version=every, page_size=3)
            yield lambda query=query: read_pages(repository, query)  # type: ignore[misc]
    yield lambda: read_tail(repository)[0]


class RepositoryMachine(RuleBasedStateMachine):
    """Every step leaves the answers of the model, or an error that names the damage."""

    def make_log(self) -> RecordLog:
        return LocalLog(self.root / "log", SEGMENT_BYTES)

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="records", dir=FAST))
        self.model = MemoryRepository(TENANT, KnownKinds, is_new_version)
        self.cursor, self.tailed = "", list[MetadataRecord]()
        self.repositories = [self.open(), self.open()]

    def open(self) -> FilesRepository:
        return FilesRepository(str(self.root), TENANT, self.make_log())

    def teardown(self) -> None:
        for each in self.repositories:
            each.close()
        shutil.rmtree(self.root)

    @rule(batch=BATCHES, which=st.integers(0, 1))
    def store(self, batch: list[MetadataRecord], which: int) -> None:
        outcomes = []
        for each in (self.repositories[which], self.model):
            try:
                outcomes.append(list(each.bulk_store(batch)))
            except LakeGuardError as error:
                outcomes.append(str(error))  # type: ignore[arg-type]
        assert outcomes[0] == outcomes[1]

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.repositories[which].close()
        self.repositories[which] = self.open()

    @rule(which=st.integers(0, 1))
    def save_the_index(self, which: int) -> None:
        self.repositories[which].save_index()

    @rule(which=st.integers(0, 1), places=st.booleans())
    def lose_a_projection(self, which: int, places: bool) -> None:
        shutil.rmtree(self.root / "records", ignore_errors=True)
        (self.root / "index.json").unlink(missing_ok=True)
        if places:
            shutil.rmtree(self.root / "index", ignore_errors=True)
        self.reopen(which)

    @rule(which=st.integers(0, 1))
    def rebuild(self, which: int) -> None:
        count = self.repositories[which].rebuild_index()
        assert count == len(read_tail(self.model)[0])
        assert len(list((self.root / "records").rglob("*-*.json"))) == count
        assert self.repositories[which].damaged_files() == []

    @rule(limit=st.integers(1, 4))
    def go_on_with_the_tail(self, limit: int) -> None:
        page = self.repositories[0].tail(self.cursor, limit)
        self.tailed += page.records
        self.cursor = page.cursor
        assert self.tailed == read_tail(self.model)[0][: len(self.tailed)]

    @precondition(lambda self: self.files("index.json", "index/*"))
    @rule(data=st.data())
    def damage_the_index(self, data: st.DataObject) -> None:
        """The log is read instead."""
        with self.changed_byte(data, "index.json", "index/*"):
            self.reopen(0)
            self.same_answers(self.repositories[0])

    @precondition(lambda self: self.files("log/*.jsonl"))
    @rule(data=st.data(), batch=BATCHES)
    def damage_the_log(self, data: st.DataObject, batch: list[MetadataRecord]) -> None:
        with self.changed_byte(data, "log/*.jsonl"):
            try:
                opened = self.open()
            except RecordsDamaged:
                return
            for asked, expected in zip(answers(opened), answers(self.model), strict=True):
                try:
                    assert asked() == expected()
                except RecordsDamaged:
                    continue
            self.store_in_damaged(opened, batch)
            opened.close()

    def store_in_damaged(self, opened: FilesRepository, batch: list[MetadataRecord]) -> None:
        """What was stored before stays, whatever is stored now."""
        try:
            opened.bulk_store(batch)
        except LakeGuardError:
            return
        self.model.bulk_store(batch)

    @invariant()
    def answer_alike(self) -> None:
        for each in self.repositories:
            self.same_answers(each)

    def same_answers(self, repository: MetadataRepository) -> None:
        for asked, expected in zip(answers(repository), answers(self.model), strict=True):
            assert asked() == expected()

    def files(self, *patterns: str) -> list[Path]:
        found = (path for pattern in patterns for path in self.root.glob(pattern))
        return sorted(path for path in found if path.stat().st_size)

    @contextmanager
    def changed_byte(self, data: st.DataObject, *patterns: str) -> Iterator[None]:
        path = data.draw(st.sampled_from(self.files(*patterns)))
        at_byte = data.draw(st.integers(0, path.stat().st_size - 1))
        change = data.draw(st.integers(1, 255))
        self.turn(path, at_byte, change)
        try:
            yield
        finally:
            if path.exists():
                self.turn(path, at_byte, change)

    def turn(self, path: Path, at_byte: int, change: int) -> None:
        with path.open("r+b") as file:
            file.seek(at_byte)
            found = file.read(1)[0]
            file.seek(at_byte)
            file.write(bytes([found ^ change]))


class LocalMachine(RepositoryMachine):
    torn: tuple[Path, int] | None = None
    """The file that ends with part of an append, and its size."""

    @precondition(lambda self: self.files("log/*.jsonl"))
    @rule(data=st.data(), records=st.integers(1, 3))
    def tear_an_append(self, data: st.DataObject, records: int) -> None:
        """A writer dies within its append: some bytes of its batch are there."""
        newest = self.files("log/*.jsonl")[-1]
        if self.torn == (newest, newest.stat().st_size):
            return
        sequence = len(read_tail(self.model)[0]) + 1
        lines = []
        for number in range(records):
            record = volume(f"torn-{number}")
            left = records - number - 1
            lines.append(write_line(sequence + number, left, record.record_id(), record.text))
        added = b"".join(lines)
        with newest.open("ab") as file:
            file.write(added[: data.draw(st.integers(1, len(added) - 1))])
        self.torn = (newest, newest.stat().st_size)


class ObjectMachine(RepositoryMachine):
    def make_log(self) -> RecordLog:
        return ObjectLog(str(self.root / "log"))
