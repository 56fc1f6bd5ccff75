"""File sets: whole versions, spelled in one way, named by a manifest that is never half."""

from __future__ import annotations

import csv
import json
import shutil
import threading
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard_sdk.core.enums import LoadType, TargetFormat
from lakeguard_sdk.errors import DeliveryFailed
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.ports import Reader
from openlaketx.extract.files.manifest import reserved_problem
from openlaketx.pipeline.after_publish import deliver_or_report
from openlaketx.publish import commit_publish
from tests.property.measure.staging import arrow_type
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.plans import DATASET, schema
from tests.support.lakes.published_tables import LATE, PublishedTable
from tests.unit.openlaketx.governed import DATASET_ID, Governed, create_governed

DECLARED = schema(
    **{
        "id": "long", "s": "string", "p": "decimal(38,18)", "d": "double", "f": "float",
        "raw": "binary", "day": "date", "at": "timestamp", "local": "timestamp_ntz",
        "ok": "boolean", "b": "byte", "it's a \"name\"": "integer",
    }
)  # fmt: skip
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


@pytest.fixture
def world(tmp_path: Path) -> PublishedTable:
    return PublishedTable(tmp_path / "it's [a] lake {é}", DECLARED)


def test_the_manifest_names_the_version_and_who_allowed_it(world: PublishedTable) -> None:
    world.publish(ROWS[:2], ROWS[2:])
    made = world.deliver(TargetFormat.CSV)
    assert made == world.manifest()
    assert (made.dataset, made.dataset_id, made.version, made.rows) == (DATASET, DATASET_ID, 1, 4)
    assert (made.run_id, made.decision_id, made.commit) == ("run_1", "dec_1", 1)
    assert (made.table_schema, made.format) == (DECLARED, TargetFormat.CSV)
    assert [(file.path, file.rows) for file in made.files] == [("v1/part-00000.csv", 4)]
    assert world.deliver(TargetFormat.CSV) is None, "it is delivered already"


def test_parquet_has_every_value_in_its_type(world: PublishedTable) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.PARQUET)
    found = pq.read_table(world.files / "v1" / "part-00000.parquet")
    assert found.column_names == list(DECLARED.names)
    for column in DECLARED.columns:
        assert found.schema.field(column.name).type == arrow_type(column.type)
    wanted = pa.Table.from_pylist(ROWS, found.schema).to_pylist()
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, wanted))


def test_csv_is_spelled_in_one_way(world: PublishedTable) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.CSV)
    text = (world.files / "v1" / "part-00000.csv").read_bytes().decode("utf-8")
    header, *rows = csv.reader(text.splitlines(keepends=True), strict=True)
    assert header == list(DECLARED.names)
    described = {row[0] + row[1]: row for row in rows}
    assert described["9223372036854775807" + FULL_ROW["s"]] == [
        "9223372036854775807", FULL_ROW["s"], "-0.000000000000000001", "1e+308", "0.1", "AP8=",
        "0001-01-01", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000", "true",
        "-128", "7",
    ]  # fmt: skip
    assert described["-1 NULL "][3] == "-Infinity"
    assert f"{',' * 11}\n" in text, "NULL is nothing"
    assert ',"",,NaN,Infinity,"",,,,,,\n' in text, "an empty text is quoted"


def test_jsonl_is_one_object_a_line(world: PublishedTable) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.JSONL)
    lines = (world.files / "v1" / "part-00000.jsonl").read_text("utf-8").split("\n")
    assert lines.pop() == ""
    document = [json.loads(line, parse_float=str, parse_constant=pytest.fail) for line in lines]
    assert all(list(row) == list(DECLARED.names) for row in document)
    assert {
        "id": 2**63 - 1, "s": FULL_ROW["s"], "p": "-0.000000000000000001", "d": "1e308",
        "f": "0.1", "raw": "AP8=", "day": "0001-01-01", "at": "9999-12-31T23:59:59.999999Z",
        "local": "0001-01-01T00:00:00.000000", "ok": True, "b": -128, "it's a \"name\"": 7,
    } in document  # fmt: skip
    assert dict.fromkeys(DECLARED.names) in document
    special = next(row for row in document if row["s"] == "")
    assert (special["d"], special["f"], special["raw"]) == ("NaN", "Infinity", "")


@pytest.mark.parametrize("form", FORMATS)
def test_a_version_of_no_rows_is_delivered_too(world: PublishedTable, form: TargetFormat) -> None:
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
    world: PublishedTable, form: TargetFormat, point: str
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
    world: PublishedTable, form: TargetFormat
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


def test_another_format_does_not_touch_what_a_reader_holds(world: PublishedTable) -> None:
    world.publish(ROWS)
    old = world.deliver(TargetFormat.CSV)
    assert old is not None
    new = world.deliver(TargetFormat.JSONL)
    assert new is not None
    assert world.manifest().format is TargetFormat.JSONL
    assert old.is_whole(str(world.files))
    assert world.deliver(TargetFormat.CSV) == old


def test_a_file_that_was_lost_is_delivered_again(world: PublishedTable) -> None:
    world.publish(ROWS)
    first = world.deliver(TargetFormat.CSV)
    (world.files / "v1" / "part-00000.csv").unlink()
    assert world.deliver(TargetFormat.CSV) is not None
    assert first is not None
    assert world.manifest().rows == first.rows


@pytest.mark.parametrize("torn", [b"", b'{"version": 1', b"[]"])
def test_a_torn_manifest_is_written_anew(world: PublishedTable, torn: bytes) -> None:
    world.publish(ROWS)
    world.deliver(TargetFormat.CSV)
    (world.files / "manifest.json").write_bytes(torn)
    assert world.deliver(TargetFormat.CSV) is not None
    assert world.manifest().version == 1


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("newer", [[{"id": 2, "more": 5}], []])
def test_files_older_than_a_column_have_null_there(
    tmp_path: Path, form: TargetFormat, newer: list[dict[str, Any]]
) -> None:
    world = PublishedTable(tmp_path, schema(id="long", more="integer"))
    world.publish([{"id": 1}], *([newer] if newer else []))
    made = world.deliver(form)
    assert made.rows == 1 + len(newer)
    (file,) = (world.files / delivered.path for delivered in world.manifest().files)
    if form is TargetFormat.PARQUET:
        found = pq.read_table(file)
        assert found.schema.field("more").type == pa.int32()
        assert sorted(map(str, found.to_pylist())) == sorted(
            map(str, [{"id": 1, "more": None}, *newer])
        )
    else:
        lines = file.read_text().splitlines()
        assert ("1," if form is TargetFormat.CSV else '{"id":1,"more":null}') in lines


def test_a_value_that_only_the_log_has_is_never_read_as_null(tmp_path: Path) -> None:
    location = str(tmp_path / "bronze" / "orders")
    world = PublishedTable(tmp_path / "other", schema(id="long", region="string"))
    world.table = Governed(
        location, create_governed(location, world.declared, partition_by=("region",))
    )
    path = world.table.stage("runs/run_1/part.parquet", [1]).path
    part = {"region": "north"}
    file = Path(location, path)
    pq.write_table(pa.table({"id": [1]}), file)
    facts = {"size": file.stat().st_size, "modified_ms": file.stat().st_mtime_ns // 1_000_000}
    staged = StagedFile(
        path=path, rows=1, stats='{"numRecords":1}', partition=part, sha256="", **facts
    )
    intent = world.table.intent(
        staged, load=LoadType.FULL, table_schema=world.declared, partition_by=("region",)
    )
    world.commits[1] = commit_publish(intent)
    world.schemas[1], world.published = world.declared, 1
    with pytest.raises(DeliveryFailed, match="1 of its files lack the partition column region"):
        world.deliver(TargetFormat.CSV)


def test_what_a_file_of_another_writer_leaves_to_the_log_is_delivered(tmp_path: Path) -> None:
    location = str(tmp_path / "elsewhere" / "orders")
    for number, region in ((1, "north"), (2, None)):
        rows = pa.table({"id": [number], "region": pa.array([region], pa.string())})
        write_deltalake(location, rows, mode="append", partition_by=["region"])
    world = PublishedTable(tmp_path / "other", schema(id="long", region="string"))
    world.table = Governed(location, str(DeltaTable(location).metadata().id))
    world.commits[1], world.schemas[1], world.published = 1, world.declared, 1
    world.deliver(TargetFormat.CSV)
    (file,) = (world.files / delivered.path for delivered in world.manifest().files)
    assert sorted(file.read_text().splitlines()) == ["1,north", "2,", "id,region"]


def test_a_slow_delivery_does_not_undo_a_newer_one(world: PublishedTable) -> None:
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


def test_a_failure_is_told_and_tried_again(
    world: PublishedTable, caplog: pytest.LogCaptureFixture
) -> None:
    world.publish(ROWS)
    (file,) = Path(world.table.location, "runs", "run_1").iterdir()
    content = file.read_bytes()
    file.unlink()
    reported: list[tuple[str, dict[str, Any]]] = []

    def tell(stage: str, facts: dict[str, Any]) -> None:
        reported.append((stage, facts))

    deliver_or_report(world.plan(TargetFormat.CSV), cast(Reader, world), tell)
    assert [stage for stage, _ in reported] == ["deliver", "undelivered"]
    assert "part-0.parquet" in reported[1][1]["reason"]
    assert reported[1][1]["dataset"] == "bronze.orders"
    assert caplog.text == "", "who was told reads no log"
    deliver_or_report(world.plan(TargetFormat.CSV), cast(Reader, world), None)
    assert "bronze.orders is published, but not delivered" in caplog.text
    assert not (world.files / "manifest.json").exists()
    file.write_bytes(content)
    reported.clear()
    deliver_or_report(world.plan(TargetFormat.CSV), cast(Reader, world), tell)
    assert [stage for stage, _ in reported] == ["deliver"]
    assert world.manifest().version == 1


def test_a_table_without_a_format_of_its_own_delivers_nothing(world: PublishedTable) -> None:
    world.publish(ROWS)
    assert world.deliver(TargetFormat.DELTA) is None
    assert not world.files.exists()


@pytest.mark.parametrize("form", FORMATS)
def test_a_source_reads_neither_delivered_files_nor_a_copy_of_them(
    form: TargetFormat, world: PublishedTable, tmp_path: Path
) -> None:
    world.publish(ROWS)
    world.deliver(form)
    for name, folder in (("whole", world.files), ("one", world.files / "v1")):
        copy = tmp_path / "elsewhere" / name
        shutil.copytree(folder, copy)
        found = reserved_problem(f"{copy}/**/*.{form}", [], str(tmp_path / "other"))
        assert found is not None
        assert f"`parents: [{DATASET}]`" in found
