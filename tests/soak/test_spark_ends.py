"""A JVM that ends below a run: the run says so, and the next one gets another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.storage import fault_points
from tests.support.projects.csv_files import BRONZE, CsvProject

pytestmark = [pytest.mark.spark, pytest.mark.soak]


def test_a_run_tells_that_spark_ended_and_the_next_one_works(tmp_path: Path) -> None:
    """In a process of its own: the suite's one Spark must live on."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.soak.test_spark_ends", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


def kill_jvm(point: str) -> None:
    from pyspark import SparkContext

    if point == "stage.written":
        process = SparkContext._gateway.proc
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def main(folder: Path) -> None:
    project = CsvProject(folder)
    project.bronze("{type: INCREMENTAL, keys: [id]}")
    project.apply()
    project.land("1", "id,day", "1,2026-01-01")
    forget = fault_points.listen(kill_jvm)
    ended = project.work(project.submit(BRONZE))
    forget()
    assert ended.status is RunStatus.FAILED
    assert ended.error is not None
    assert ended.error.code == "LG-5013", ended.error
    assert "Spark exited" in ended.error.message
    again = project.work(project.submit(BRONZE))
    assert (again.status, again.version) == (RunStatus.SUCCESS, 1), again.error


if __name__ == "__main__":
    main(Path(sys.argv[1]))
