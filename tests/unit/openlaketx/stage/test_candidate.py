"""A candidate has exactly the files of the write, all as declared."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.stage.candidate import Candidate, collect

SCHEMA = TableSchema(
    columns=(
        Column(name="n", type="long"),
        Column(name="v", type="string"),
        Column(name="at", type="timestamp"),
        Column(name="p", type="decimal(9,2)"),
    )
)
ARROW = pa.schema(
    [
        ("n", pa.int64()),
        ("v", pa.string()),
        ("at", pa.timestamp("us", "UTC")),
        ("p", pa.decimal128(9, 2)),
    ]
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "run_1"
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    return folder


def write(run: Path, name: str, table: pa.Table, **options: object) -> None:
    pq.write_table(table, run / name, store_decimal_as_integer=True, **options)


def rows(count: int, schema: pa.Schema = ARROW) -> pa.Table:
    columns = [pa.nulls(count, field.type) for field in schema]
    return pa.table(columns, schema=schema)


def collected(run: Path) -> Candidate:
    location = str(run.parents[1])
    return collect(location, "runs/run_1", SCHEMA, "silver.t", LocalStorage())


def test_files_with_rows_are_listed_with_their_facts(run: Path) -> None:
    write(run, "part-1.parquet", rows(3))
    write(run, "part-0.parquet", rows(2))
    write(run, "part-2.parquet", rows(0))
    (run / ".part-1.parquet.crc").write_text("x")
    found = collected(run)
    assert [file.path for file in found.files] == [
        "runs/run_1/part-0.parquet",
        "runs/run_1/part-1.parquet",
    ]
    assert found.rows == 5
    stat = (run / "part-0.parquet").stat()
    assert (found.files[0].size, found.files[0].rows) == (stat.st_size, 2)
    assert found.files[0].modified_ms == stat.st_mtime_ns // 1_000_000


def test_a_write_that_did_not_finish_is_refused(run: Path) -> None:
    write(run, "part-0.parquet", rows(2))
    (run / "_SUCCESS").unlink()
    with pytest.raises(StagingFailed, match="success marker"):
        collected(run)


def linked_file(run: Path) -> None:
    (run / "part-0.parquet").rename(run.parent / "elsewhere.parquet")
    (run / "part-0.parquet").symlink_to(run.parent / "elsewhere.parquet")


def broken_link(run: Path) -> None:
    (run / "part-1.parquet").symlink_to(run / "missing")


def linked_folder(run: Path) -> None:
    (run / "more").symlink_to(run.parent)


def linked_run(run: Path) -> None:
    run.rename(run.with_name("moved"))
    run.symlink_to(run.with_name("moved"))


def pipe(run: Path) -> None:
    os.mkfifo(run / "part-1.parquet")


@pytest.mark.parametrize("change", [linked_file, broken_link, linked_folder, linked_run, pipe])
def test_links_and_pipes_among_the_files_are_refused(
    run: Path, change: Callable[[Path], None]
) -> None:
    """They would be left out: the run would publish fewer rows than were written."""
    write(run, "part-0.parquet", rows(2))
    change(run)
    with pytest.raises(StagingFailed, match="neither a regular file nor a folder"):
        collected(run)


def test_a_file_that_is_not_parquet_is_refused(run: Path) -> None:
    (run / "part-0.parquet").write_text("no")
    with pytest.raises(StagingFailed, match=r"part-0\.parquet is not readable"):
        collected(run)


def changed(**fields: pa.DataType | None) -> pa.Schema:
    kept = {field.name: field.type for field in ARROW} | fields
    return pa.schema([(name, kind) for name, kind in kept.items() if kind is not None])


@pytest.mark.parametrize(
    ("schema", "about"),
    [
        (changed(v=None), "instead of n, v, at, p"),
        (changed(x=pa.string()), "n, v, at, p, x"),
        (pa.schema([ARROW.field(1), ARROW.field(0), *list(ARROW)[2:]]), "v, n"),
        (pa.schema([ARROW.field(0), pa.field("V", pa.string()), *list(ARROW)[2:]]), "n, V"),
        (changed(n=pa.int32()), "column n is integer"),
        (changed(v=pa.binary()), "column v is binary"),
        (changed(at=pa.timestamp("us")), "column at is timestamp_ntz"),
        (changed(at=pa.timestamp("ns", "UTC")), "column at"),
        (changed(p=pa.decimal128(10, 2)), r"column p is decimal\(10,2\)"),
        (changed(v=pa.list_(pa.string())), r"column v is array<string> \(BYTE_ARRAY\)"),
    ],
    ids=["missing", "more", "order", "case", "int", "binary", "ntz", "ns", "decimal", "nested"],
)
def test_another_footer_than_declared_is_refused(run: Path, schema: pa.Schema, about: str) -> None:
    write(run, "part-0.parquet", rows(1, schema))
    with pytest.raises(StagingFailed, match=about):
        collected(run)


def test_old_int96_timestamps_are_refused(run: Path) -> None:
    write(run, "part-0.parquet", rows(1), use_deprecated_int96_timestamps=True)
    with pytest.raises(StagingFailed, match="INT96"):
        collected(run)


def test_an_empty_batch_has_no_file(run: Path) -> None:
    write(run, "part-0.parquet", rows(0))
    assert collected(run).files == ()


def test_a_file_that_a_broken_write_left_is_refused(run: Path) -> None:
    write(run, "part-0.parquet", rows(2))
    left = run / "_temporary" / "0"
    left.mkdir(parents=True)
    write(left, "part-1.parquet", rows(1))
    with pytest.raises(StagingFailed, match="broken write"):
        collected(run)
