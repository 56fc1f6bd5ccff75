"""The real command with a real Spark, killed at every point; the next command leaves all whole."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk import DatasetName, connect
from lakeguard_sdk.core.enums import RunStatus
from tests.faults.test_killed import LANDED, RUN

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
NAME = DatasetName("bronze.orders")


def command(folder: Path, point: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *(sys.executable, "-m", "tests.faults.killed_command", "SIGKILL", point),
            *("--project", str(folder), *words),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake before its first run, and one whose second batch has arrived."""
    folder = tmp_path_factory.mktemp("shops")
    assert command(folder, "never", "init", str(folder / "new"), "--example").returncode == 0
    assert command(folder / "new", "never", "apply").returncode == 0
    shutil.copytree(folder / "new", folder / "grown")
    assert command(folder / "grown", "never", "run", NAME).returncode == 0
    late = folder / "grown" / "incoming" / "orders-2026-01-07.csv"
    late.rename(folder / "grown" / "data" / late.name)
    return folder


@pytest.mark.parametrize("point", RUN)
def test_a_killed_command(point: str, shops: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    shutil.copytree(shops / ("new" if point == "table.created" else "grown"), folder)
    killed = command(folder, point, "run", NAME)
    assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)

    again = command(folder, "never", "run", NAME, "--json")
    assert again.returncode == 0, (again.stdout, again.stderr)
    published = json.loads(again.stdout)["published"]
    client = connect(folder)
    versions = sorted(client.reader.versions(NAME), key=lambda version: version.version)
    assert [version.version for version in versions] == list(range(1, len(versions) + 1))
    assert published == len(versions) == (1 if point == "table.created" else 2)
    assert versions[-1].table_rows == (10 if point == "table.created" else 13)
    runs = client.reader.runs(NAME)
    failed = [run for run in runs if run.status is RunStatus.FAILED]
    expected = 0 if point in (*LANDED, "task.submitted") else 1
    assert len(failed) == expected
    assert len({(run.task_id, run.attempt) for run in runs}) == len(runs)
