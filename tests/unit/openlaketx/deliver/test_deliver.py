"""File sets: whole versions, spelled in one way, named by a manifest that is never half."""

from __future__ import annotations

import csv
import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.errors import UnknownVersion
from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.names import Address, DatasetName
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.reading import ResolvedDataset, VersionRow
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import LoadType, TargetFormat
from openlaketx.deliver import deliver_published
from openlaketx.deliver.file_set import FileSet
from openlaketx.jobs.delivery import deliver_or_tell
from openlaketx.publish import commit_publish
from tests.property.measure.staging import arrow_type
from tests.spark.plans import DATASET, parquet, plan, schema
from tests.unit.openlaketx.governed import DATASET_ID, Governed, create_governed
from tests.worlds.deaths import dying_at

DECLARED = schema(
    **{
        "id": "long", "s": "string", "p": "decimal(38,18)", "d": "double", "f": "float",
        "raw": "binary", "day": "date", "at": "timestamp", "local": "timestamp_ntz",
        "ok": "boolean", "b": "byte", "it's a \"name\"": "integer",
    }
)  # fmt: skip
LATE = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
EARLY = datetime(1, 1, 1, tzinfo=UTC)
FULL_ROW: dict[str, Any] = {
    "id": 2**63 - 1, "s": 'q"uo,te\nline\r\né💥', "p": Decimal("-0.000000000000000001"),
    "d": 1e308, "f": 0.1, "raw": b"\x00\xff", "day": date(1, 1, 1), "at": LATE,
    "local": EARLY.replace(tzinfo=None), "ok": True, "b": -128, "it's a \"name\"": 7,
}  # fmt: skip
ROWS = [
    FULL_ROW,
    dict.fromkeys(DECLARED.names),
    {**dict.fromkeys(DECLARED.names), "s": "", "raw": b"", "d": float("nan"), "f": float("inf")},
    {**FULL_ROW, "id": -1, "s": " NULL ", "d": float("-inf"), "ok": False},
]
FORMATS = [TargetFormat.PARQUET, TargetFormat.CSV, TargetFormat.JSONL]


@dataclass
class World:
    """A governed table, versions by hand, and the reader that tells which one is published."""

    lake: Path
    declared: TableSchema = field(default_factory=lambda: DECLARED)
    commits: dict[int, int] = field(default_factory=dict)
    published: int | None = None

    def __post_init__(self) -> None:
        location = str(self.lake / "bronze" / "orders")
        self.table = Governed(location, create_governed(location, self.declared))

    @property
    def files(self) -> Path:
        return self.lake / "bronze" / "orders.files"

    def publish(self, *batches: list[dict[str, Any]], load: LoadType = LoadType.FULL) -> int:
        version = len(self.commits) + 1
        staged = [self._stage(version, n, rows) for n, rows in enumerate(batches)]
        intent = self.table.intent(*staged, load=load, table_schema=self.declared)
        self.commits[version] = commit_publish(intent)
        self.table.published(self.commits[version])
        self.published = version
        return version

    def _stage(self, version: int, number: int, rows: list[dict[str, Any]]) -> StagedFile:
        path = f"runs/run_{version}/part-{number}.parquet"
        file = Path(self.table.location, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        kinds = pa.schema([(c.name, arrow_type(c.type)) for c in self.declared.columns])
        pq.write_table(pa.Table.from_pylist(rows, kinds), file)
        facts = file.stat()
        return StagedFile(
            path=path,
            size=facts.st_size,
            rows=len(rows),
            modified_ms=facts.st_mtime_ns // 1_000_000,
            stats=f'{{"numRecords":{len(rows)}}}',
        )

    def plan(self, form: TargetFormat) -> RunPlan:
        return plan(self.lake, parquet(), self.declared, format=form)

    def deliver(self, form: TargetFormat) -> FileSet | None:
        return deliver_published(self.plan(form), cast(Reader, self))

    def manifest(self) -> FileSet:
        found = FileSet.from_json((self.files / "manifest.json").read_bytes())
        for file in found.files:
            content = (self.files / file.path).read_bytes()
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
        return found

    def resolve(self, address: Address) -> ResolvedDataset:
        if self.published is None:
            raise UnknownVersion(dataset=address.dataset, version=0)
        return ResolvedDataset(
            dataset=address.dataset,
            dataset_id=DATASET_ID,
            version=self.published,
            location=self.table.location,
            table_id=self.table.table_id,
            commit=self.commits[self.published],
            table_schema=self.declared,
        )

    def versions(self, name: DatasetName) -> Sequence[VersionRow]:
        return [
            VersionRow(
                dataset_id=DATASET_ID, version=version, snapshot_ref="", schema_hash="",
                row_count=0, promoted_at=LATE, promoted_by="tests", table_rows=0,
                run_id=f"run_{version}", decision_id=f"dec_{version}",
                published=version == self.published, inputs=(),
            )
            for version in self.commits
        ]  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "it's [a] lake {é}")


def test_the_manifest_names_the_version_and_who_allowed_it(world: World) -> None:
    world.publish(ROWS[:2], ROWS[2:])
    made = world.deliver(TargetFormat.CSV)
    assert made == world.manifest()
    assert (made.dataset, made.dataset_id, made.version, made.rows) == (DATASET, DATASET_ID, 1, 4)
    assert (made.run_id, made.decision_id, made.commit) == ("run_1", "dec_1", 1)
    assert (made.table_schema, made.format) == (DECLARED, TargetFormat.CSV)
    assert [(file.path, file.rows) for file in made.files] == [("v1/part-00000.csv", 4)]
    assert world.deliver(TargetFormat.CSV) is None, "it is delivered already"


def test_parquet_has_every_value_in_its_type(world: World) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.PARQUET)
    found = pq.read_table(world.files / "v1" / "part-00000.parquet")
    assert found.column_names == list(DECLARED.names)
    for column in DECLARED.columns:
        assert found.schema.field(column.name).type == arrow_type(column.type)
    wanted = pa.Table.from_pylist(ROWS, found.schema).to_pylist()
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, wanted))


def test_csv_is_spelled_in_one_way(world: World) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.CSV)
    text = (world.files / "v1" / "part-00000.csv").read_bytes().decode("utf-8")
    header, *rows = csv.reader(text.splitlines(keepends=True), strict=True)
    assert header == list(DECLARED.names)
    told = {row[0] + row[1]: row for row in rows}
    assert told["9223372036854775807" + FULL_ROW["s"]] == [
        "9223372036854775807", FULL_ROW["s"], "-0.000000000000000001", "1e+308", "0.1", "AP8=",
        "0001-01-01", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000", "true",
        "-128", "7",
    ]  # fmt: skip
    assert told["-1 NULL "][3] == "-Infinity"
    assert f"{',' * 11}\n" in text, "NULL is nothing"
    assert ',"",,NaN,Infinity,"",,,,,,\n' in text, "an empty text is quoted"


def test_jsonl_is_one_object_a_line(world: World) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.JSONL)
    lines = (world.files / "v1" / "part-00000.jsonl").read_text("utf-8").split("\n")
    assert lines.pop() == ""
    told = [json.loads(line, parse_float=str, parse_constant=pytest.fail) for line in lines]
    assert all(list(row) == list(DECLARED.names) for row in told)
    assert {
        "id": 2**63 - 1, "s": FULL_ROW["s"], "p": "-0.000000000000000001", "d": "1e308",
        "f": "0.1", "raw": "AP8=", "day": "0001-01-01", "at": "9999-12-31T23:59:59.999999Z",
        "local": "0001-01-01T00:00:00.000000", "ok": True, "b": -128, "it's a \"name\"": 7,
    } in told  # fmt: skip
    assert dict.fromkeys(DECLARED.names) in told
    special = next(row for row in told if row["s"] == "")
    assert (special["d"], special["f"], special["raw"]) == ("NaN", "Infinity", "")


@pytest.mark.parametrize("form", FORMATS)
def test_a_version_of_no_rows_is_delivered_too(world: World, form: TargetFormat) -> None:
    assert world.deliver(form) is None, "nothing is published"
    assert not world.files.exists()
    world.publish()
    world.deliver(form)
    (file,) = world.manifest().files
    assert file.rows == 0
    if form is TargetFormat.PARQUET:
        assert pq.read_schema(world.files / file.path).names == list(DECLARED.names)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("point", ["deliver.written", "deliver.manifest"])
def test_a_delivery_that_dies_leaves_a_whole_manifest(
    world: World, form: TargetFormat, point: str
) -> None:
    world.publish(ROWS[:1])
    world.deliver(form)
    world.publish(ROWS)
    with dying_at(point):
        world.deliver(form)
    assert world.manifest().version == (1 if point == "deliver.written" else 2)
    assert (world.files / "v2").is_dir()
    world.deliver(form)
    assert (world.manifest().version, world.manifest().rows) == (2, 4)


@pytest.mark.parametrize("form", FORMATS)
def test_a_rollback_is_delivered_by_the_next_run_as_it_was(
    world: World, form: TargetFormat
) -> None:
    world.publish(ROWS[:1])
    first = world.deliver(form)
    world.publish(ROWS[1:2], load=LoadType.APPEND)
    assert world.deliver(form) is not None
    assert world.manifest().rows == 2
    world.published = 1
    before = {file: file.stat().st_mtime_ns for file in (world.files / "v1").iterdir()}
    assert world.deliver(form) == first
    assert world.manifest() == first
    assert before == {file: file.stat().st_mtime_ns for file in (world.files / "v1").iterdir()}
    assert (world.files / "v2").is_dir(), "readers of it may still be at work"


def test_another_format_does_not_touch_what_a_reader_holds(world: World) -> None:
    world.publish(ROWS)
    old = world.deliver(TargetFormat.CSV)
    assert old is not None
    new = world.deliver(TargetFormat.JSONL)
    assert new is not None
    assert world.manifest().format is TargetFormat.JSONL
    assert old.is_whole(world.files)
    assert world.deliver(TargetFormat.CSV) == old


def test_a_file_that_was_lost_is_delivered_again(world: World) -> None:
    world.publish(ROWS)
    first = world.deliver(TargetFormat.CSV)
    (world.files / "v1" / "part-00000.csv").unlink()
    assert world.deliver(TargetFormat.CSV) is not None
    assert first is not None
    assert world.manifest().rows == first.rows


@pytest.mark.parametrize("torn", [b"", b'{"version": 1', b"[]"])
def test_a_torn_manifest_is_written_anew(world: World, torn: bytes) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.CSV)
    (world.files / "manifest.json").write_bytes(torn)
    assert world.deliver(TargetFormat.CSV) is not None
    assert world.manifest().version == 1


def test_a_slow_delivery_does_not_undo_a_newer_one(world: World) -> None:
    world.publish(ROWS[:1])
    threads = [threading.Thread(target=world.deliver, args=(TargetFormat.JSONL,)) for _ in range(4)]
    for thread in threads[:2]:
        thread.start()
    world.publish(ROWS)
    for thread in threads[2:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.manifest().version == 2


def test_a_failure_is_told_and_tried_again(world: World, caplog: pytest.LogCaptureFixture) -> None:
    world.publish(ROWS)
    (file,) = Path(world.table.location, "runs", "run_1").iterdir()
    content = file.read_bytes()
    file.unlink()
    told: list[tuple[str, dict[str, Any]]] = []

    def tell(stage: str, facts: dict[str, Any]) -> None:
        told.append((stage, facts))

    deliver_or_tell(world.plan(TargetFormat.CSV), cast(Reader, world), tell)
    assert [stage for stage, _ in told] == ["deliver", "undelivered"]
    assert "part-0.parquet" in told[1][1]["reason"]
    assert "bronze.orders is published, but not delivered" in caplog.text
    assert not (world.files / "manifest.json").exists()
    file.write_bytes(content)
    told.clear()
    deliver_or_tell(world.plan(TargetFormat.CSV), cast(Reader, world), tell)
    assert [stage for stage, _ in told] == ["deliver"]
    assert world.manifest().version == 1


def test_a_table_without_a_format_of_its_own_delivers_nothing(world: World) -> None:
    world.publish(ROWS)
    assert world.deliver(TargetFormat.DELTA) is None
    assert not world.files.exists()
