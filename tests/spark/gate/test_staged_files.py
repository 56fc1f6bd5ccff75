"""Files that a build staged are published as they were measured, or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.storage.checksum_files import checksum_file
from openlaketx.pipeline import run_dataset
from openlaketx.stage import in_background
from tests.support.projects.code_builds import NAME, code_project, run_code
from tests.support.projects.folders import run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return code_project(tmp_path / "lake")


REWRITE = """
import glob, os, threading, time

def rewrite(place, pause):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not glob.glob(place + "/runs/*/_SUCCESS"):
        time.sleep(0.001)
    time.sleep(pause)
    for file in glob.glob(place + "/runs/*/*.parquet"):
        before = os.stat(file)
        with open(file, "r+b") as content:
            first = content.read(1)
            content.seek(0)
            content.write(first)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

def build(spark, inputs):
    threading.Thread(target=rewrite, args=({place!r}, {pause!r}), daemon=True).start()
    return inputs["bronze.raw"].where("n > 0")
"""


def test_a_file_rewritten_after_it_was_measured_is_noticed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread restores size and modification time; the decision waits for it."""
    place = str(Path(client.lake, "silver", "made"))
    changed = []

    def wait_for_write(*given: Any) -> Any:
        files = list(Path(place).glob("runs/*/*.parquet"))
        before = [file.stat().st_ctime_ns for file in files]
        until = time.monotonic() + 20
        while time.monotonic() < until and before == [f.stat().st_ctime_ns for f in files]:
            time.sleep(0.01)
        changed.append(before != [f.stat().st_ctime_ns for f in files])
        return real(*given)

    real = run_dataset._evidence
    monkeypatch.setattr(run_dataset, "_evidence", wait_for_write)
    code = REWRITE.replace("{place!r}", repr(place)).replace("{pause!r}", "3")
    result = run_code(client, code)
    assert changed == [True]
    assert result.error is not None
    assert result.error.code == "LG-4006"
    assert "it was changed after it was staged" in result.error.message


MAPPED = """
import glob, mmap, os, threading, time
from openlaketx.isolation.batch_builder import LocalBuilder

def hold(file, told):
    with open(file, "r+b") as content:
        memory = mmap.mmap(content.fileno(), 0)
    memory[4:5] = memory[4:5]
    def store():
        while not os.path.exists(told + "/go"):
            time.sleep(0.01)
        memory[4:5] = b"!"
        open(told + "/done", "w").close()
    threading.Thread(target=store, daemon=True).start()

def build(spark, inputs):
    real = LocalBuilder.stage
    def stage(self, plan, verdict):
        LocalBuilder.stage = real
        staged = real(self, plan, verdict)
        hold(glob.glob({place!r} + "/runs/*/*.parquet")[0], {told!r})
        return staged
    LocalBuilder.stage = stage
    return inputs["bronze.raw"].where("n > 0")
"""


def test_a_store_into_mapped_memory_after_measuring_is_noticed(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The thread stores once measures are taken; a slow disk syncs and hashes only then."""

    def stored(work: Callable[[], Any]) -> Any:
        until = time.monotonic() + 20
        while not (tmp_path / "done").exists() and time.monotonic() < until:
            time.sleep(0.01)
        return work()

    def measure(*given: Any) -> Any:
        measured = real_measure(*given)
        (tmp_path / "go").touch()
        return stored(lambda: measured)

    def seal(*given: Any, **named: Any) -> Any:
        return in_background(lambda: stored(lambda: real_seal(*given, **named).result()))

    real_measure, real_seal = run_dataset.take_measures, run_dataset.seal
    monkeypatch.setattr(run_dataset, "take_measures", measure)
    monkeypatch.setattr(run_dataset, "seal", seal)
    place = str(Path(client.lake, "silver", "made"))
    code = MAPPED.replace("{place!r}", repr(place)).replace("{told!r}", repr(str(tmp_path)))
    result = run_code(client, code)
    assert (tmp_path / "done").exists()
    assert result.error is not None
    assert (result.error.code, result.version) == ("LG-4006", None)


SIDECAR = """
import glob, os
from openlaketx.isolation.batch_builder import LocalBuilder

def build(spark, inputs):
    real = LocalBuilder.stage
    def stage(self, plan, verdict):
        LocalBuilder.stage = real
        staged = real(self, plan, verdict)
        for file in glob.glob({place!r} + "/runs/*/*.parquet"):
            folder, name = os.path.split(file)
            with open(os.path.join(folder, "." + name + ".crc"), "r+b") as sums:
                sums.seek(8)
                sums.write(b"!!!!")
        return staged
    LocalBuilder.stage = stage
    return inputs["bronze.raw"].where("n > 0")
"""


def test_wrong_checksum_files_are_not_published(client: Client, spark: SparkSession) -> None:
    place = str(Path(client.lake, "silver", "made"))
    result = run_code(client, SIDECAR.replace("{place!r}", repr(place)))
    assert (result.error, result.version) == (None, 1)
    rows = spark.read.format("delta").load(place).collect()
    assert sorted(row.n for row in rows) == [1, 2]


def test_a_wrong_checksum_file_of_an_input_is_damage(client: Client) -> None:
    (file,) = Path(client.lake, "bronze", "raw", "runs").glob("*/*.parquet")
    beside = checksum_file(str(file))
    sums = bytearray(beside.read_bytes())
    sums[-1] ^= 1
    beside.write_bytes(sums)
    result = run(client, NAME)
    assert result.error is not None
    assert result.error.code == "LG-5022"
    assert f"its checksum file {beside.name} is wrong" in result.error.message
    client.operations.undo(DatasetName("bronze.raw"), "a file that nobody needs")
    assert run(client, NAME).version == 1
