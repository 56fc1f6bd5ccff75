"""Kafka as the source of a governed stream: every row once, and what is left is shown."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from lakeguard_sdk import Client, DatasetName, parse_address
from lakeguard_sdk.core.enums import StreamState
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.streams import StreamStatus
from openlaketx.notebook.task_runner import TaskRunner
from tests.cloud.killed_kafka_stream import NAME, ROWS_AT_ONCE
from tests.support.lakes.kafka_broker import running_broker
from tests.support.projects.projects import make_project
from tests.support.projects.shell import Shell

ROOT = Path(__file__).parents[2]
ROWS = 3 * ROWS_AT_ONCE


def streamed(
    folder: Path, server: str, first: int, killed: int
) -> subprocess.CompletedProcess[str]:
    given = [str(folder), server, str(first), str(ROWS), str(killed)]
    return subprocess.run(
        [sys.executable, "-m", "tests.cloud.killed_kafka_stream", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def reported(client: Client) -> StreamStatus:
    (status,) = client.reader.status()
    (stream,) = status.streams
    return stream


def published(client: Client) -> list[int]:
    found = client.reader.resolve(parse_address(NAME))
    return sorted(row["n"] for row in TaskRunner(client, spark_options={}).rows(found))


def test_every_row_of_a_topic_is_published_once_whenever_the_program_dies(
    tmp_path: Path, shell: Shell
) -> None:
    client = make_project(tmp_path / "lake", Definitions())
    with running_broker(tmp_path) as server:
        killed = streamed(tmp_path, server, 0, killed=2)
        assert killed.returncode == -signal.SIGKILL, (killed.stdout, killed.stderr)
        lost = reported(client)
        shown = shell("status", "--project", tmp_path / "lake").out
        ended = streamed(tmp_path, server, ROWS, killed=0)
        assert ended.returncode == 0, (ended.stdout, ended.stderr)

    assert lost.progress is not None
    (left,) = lost.progress.sources
    assert (lost.progress.batch, left.amount, left.unit) == (0, ROWS - ROWS_AT_ONCE, "offsets")
    assert lost.lost.endswith("is gone")
    assert f"; {ROWS - ROWS_AT_ONCE} offsets behind  (query {lost.query_id})" in shown

    assert published(client) == list(range(2 * ROWS)), "every row, and once"
    versions = client.reader.versions(DatasetName(NAME))
    assert len(versions) == len({row.notes["batch"] for row in versions}), "one a micro-batch"
    last = reported(client)
    assert last.progress is not None
    (left,) = last.progress.sources
    assert (last.query_id, last.state, left.amount) == (lost.query_id, StreamState.ENDED, 0)
    assert client.ledger.verify(replay=True).findings == ()
