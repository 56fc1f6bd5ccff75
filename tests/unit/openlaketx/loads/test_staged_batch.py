"""What another process staged is collected as files, or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.loads.staged_batch import INCOMING, collect_batch
from tests.support.lakes.forged_parquet import TEXT, Forged, forged
from tests.support.lakes.plans import csv, plan, schema

BY_KEY = Load(type=LoadType.INCREMENTAL, keys=("a",))


def staged(lake: Path, folder: Path) -> RunPlan:
    (folder / INCOMING).mkdir(parents=True)
    (folder / INCOMING / "_SUCCESS").touch()
    pq.write_table(pa.table({"a": ["x"]}), folder / INCOMING / "part-0.parquet")
    return plan(lake, csv("in/*.csv"), schema(a="string"), load=BY_KEY)


def test_files_in_the_run_folder_are_collected(tmp_path: Path) -> None:
    made = staged(tmp_path, tmp_path / "bronze/orders/runs/run_1")
    files, _ = collect_batch(made, LocalStorage())
    assert files.rows == 1


def test_a_linked_run_folder_is_refused(tmp_path: Path) -> None:
    made = staged(tmp_path, tmp_path / "elsewhere")
    run = tmp_path / "bronze/orders/runs/run_1"
    run.parent.mkdir(parents=True)
    run.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StagingFailed, match="neither a regular file nor a folder"):
        collect_batch(made, LocalStorage())


def test_a_file_with_another_name_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "bronze/orders/runs/run_1"
    made = staged(tmp_path, run)
    (tmp_path / "elsewhere.parquet").hardlink_to(next(run.rglob("*.parquet")))
    with pytest.raises(StagingFailed, match="has another name"):
        collect_batch(made, LocalStorage())


def test_checksum_files_are_removed(tmp_path: Path) -> None:
    run = tmp_path / "bronze/orders/runs/run_1"
    made = staged(tmp_path, run)
    (file,) = run.rglob("*.parquet")
    for name in (file.name, "_SUCCESS"):
        (file.parent / f".{name}.crc").write_bytes(b"crc")
    collect_batch(made, LocalStorage())
    assert {path.name for path in file.parent.iterdir()} == {"_SUCCESS", file.name}


def test_a_range_of_another_size_does_not_end_the_process(tmp_path: Path) -> None:
    """Arrow aborts where it is asked for it."""

    def short(file: Forged) -> None:
        for field in (1, 2, 5, 6):
            file.data[12][1][field] = (TEXT, b"\1")

    run = tmp_path / "bronze/orders/runs/run_1"
    staged(tmp_path, run)
    made = plan(tmp_path, csv("in/*.csv"), schema(a="long"), load=BY_KEY)
    forged(next(run.rglob("*.parquet")), pa.table({"a": [7]}), short)
    with pytest.raises(StagingFailed, match="a has a range of another type"):
        collect_batch(made, LocalStorage())


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" * 4, b"x" * 99])
def test_a_file_that_is_no_parquet_file_is_refused(tmp_path: Path, content: bytes) -> None:
    run = tmp_path / "bronze/orders/runs/run_1"
    made = staged(tmp_path, run)
    next(run.rglob("*.parquet")).write_bytes(content)
    with pytest.raises(StagingFailed, match="it is not a plain Parquet file"):
        collect_batch(made, LocalStorage())
