"""The real command with a real Spark, killed at every point; the next command leaves all whole."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk import DatasetName, connect
from lakeguard_sdk.core.enums import RunStatus
from tests.faults.test_killed import RUN

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
NAME = DatasetName("bronze.orders")
HEADER = "order_id,ordered_at,customer_email,country,amount,status"


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
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shops") / "shop"
    assert command(folder.parent, "never", "init", str(folder), "--example").returncode == 0
    assert command(folder, "never", "apply").returncode == 0
    return folder


def test_commands_killed_at_one_point_after_the_other(shop: Path) -> None:
    """A file arrives before each command, and each goes on from what the one before it left."""
    points = sorted(RUN, key=lambda point: point != "table.created")  # the first run reaches it
    for number, point in enumerate(points, start=1):
        order = f"{2000 + number},2026-02-{number:02}T08:00:00Z,ada@example.com,de,1.50,paid"
        (shop / "data" / f"orders-2026-02-{number:02}.csv").write_text(f"{HEADER}\n{order}\n")
        killed = command(shop, point, "run", NAME)
        assert killed.returncode == -signal.SIGKILL, (point, killed.stdout, killed.stderr)

    again = command(shop, "never", "run", NAME, "--json")
    assert again.returncode == 0, (again.stdout, again.stderr)
    client = connect(shop)
    versions = sorted(client.reader.versions(NAME), key=lambda version: version.version)
    numbers = [version.version for version in versions]
    assert numbers == list(range(1, json.loads(again.stdout)["published"] + 1))
    assert versions[-1].table_rows == 10 + len(points), "every row, and once"
    runs = client.reader.runs(NAME)
    assert {run.status for run in runs} == {RunStatus.SUCCESS, RunStatus.FAILED}
    assert sorted(run.version for run in runs if run.version is not None) == numbers
    assert len({(run.task_id, run.attempt) for run in runs}) == len(runs)
    assert client.ledger.verify(replay=True).findings == ()
