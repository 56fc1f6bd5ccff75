"""A program that streams, killed at one point after the other: every row is published once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName, parse_address
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.definitions import Definitions
from openlaketx.notebook.task_runner import TaskRunner
from tests.faults.killed_stream import COMMITTED, NAME
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.soak

ROOT = Path(__file__).parents[2]
EVENTS = DatasetName(NAME)
FILES, ROWS = 10, 3
POINTS = (("stage.written", 2), (COMMITTED, 1), ("stream.published", 2))


def streamed(folder: Path, point: str, batch: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.killed_stream", str(folder), point, str(batch)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def published(client: Client) -> list[int]:
    found = client.reader.resolve(parse_address(NAME))
    return [row["n"] for row in TaskRunner(client, spark_options={}).rows(found)]


def test_every_row_is_published_once_whenever_the_program_dies(tmp_path: Path) -> None:
    client = make_project(tmp_path / "lake", Definitions())
    landing = tmp_path / "landing"
    landing.mkdir()
    for file in range(FILES):
        lines = (json.dumps({"n": file * ROWS + row}) for row in range(ROWS))
        (landing / f"{file:03}.json").write_text("\n".join(lines) + "\n")
    for point, batch in POINTS:
        killed = streamed(tmp_path, point, batch)
        assert killed.returncode == -signal.SIGKILL, (point, killed.stdout, killed.stderr)
    ended = streamed(tmp_path, "never", 1)
    assert ended.returncode == 0, (ended.stdout, ended.stderr)

    assert published(client) == list(range(FILES * ROWS)), "every row, and once"
    versions = sorted(row.version for row in client.reader.versions(EVENTS))
    assert versions == list(range(1, FILES + 1)), "one for each micro-batch"
    runs = client.reader.runs(EVENTS)
    assert {run.status for run in runs} == {RunStatus.SUCCESS, RunStatus.FAILED}
    assert len({run.task_id for run in runs}) == FILES
    assert client.ledger.verify(replay=True).findings == ()
