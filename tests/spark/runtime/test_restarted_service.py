"""A build over HTTP outlasts restarts of its service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import RunStatus
from openlaketx.worker import create_worker
from tests.support.projects.csv_files import BRONZE, CsvProject

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
PATIENCE = 60
CALL = "import sys; from lakeguard.cli.main import call; sys.exit(call(sys.argv[1:]))"


@dataclass
class ServiceProcess:
    """``lakeguard serve``, again and again at the same address."""

    folder: Path
    place: str = "127.0.0.1:0"
    process: subprocess.Popen[str] | None = field(default=None, init=False)

    def start(self) -> str:
        words = ["serve", "--listen", self.place, "--project", str(self.folder)]
        self.process = subprocess.Popen(
            [sys.executable, "-c", CALL, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        url = self.process.stdout.readline().split()[-1]
        self.place = url.removeprefix("http://")
        return url

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            finally:
                self.process.kill()
                self.process.communicate()
            self.process = None


@pytest.fixture
def service(tmp_path: Path) -> Iterator[ServiceProcess]:
    project = CsvProject(tmp_path)
    project.bronze("APPEND")
    project.land("a", "id,day", "1,2026-01-01", "2,2026-01-02")
    project.apply()
    project.client.close()
    found = ServiceProcess(tmp_path)
    yield found
    found.stop()


def test_a_build_outlasts_restarts_of_its_service(service: ServiceProcess) -> None:
    client = connect(service.start())
    seen: list[str] = []

    def restart(stage: str, _: dict[str, Any]) -> None:
        """Before these stages call the service, it stops; it is back once it was missed."""
        seen.append(stage)
        if stage in ("schema", "decide", "publish"):
            service.stop()
        if stage == "unavailable":
            service.start()

    worker = create_worker(client.for_worker(), spark_options={}, progress=restart)
    task = client.operations.submit(DatasetName(BRONZE), "test")
    result = worker.run_task(task)
    assert (result.status, result.error) == (RunStatus.SUCCESS, None)
    assert seen.count("unavailable") == 3
    assert [each.version for each in client.reader.versions(DatasetName(BRONZE))] == [1]
    (row,) = client.reader.runs(DatasetName(BRONZE))
    assert (row.run_id, row.status) == (result.run_id, RunStatus.SUCCESS)
