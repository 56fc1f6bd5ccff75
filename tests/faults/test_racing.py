"""Real processes at once on one table: every row arrives, none twice."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from lakeguard_sdk import connect
from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.published_by_hand import run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

PUBLISHERS, RUNS = 3, 4
NEWBORN = multiprocessing.get_context("forkserver")


def publish_some(folder: str, first: int) -> None:
    """Publish RUNS numbers, each in a run of its own, however often the table is busy."""
    client = connect(folder)
    for number in range(first, first + RUNS):
        while (result := run_by_hand(client, [number])).status is not RunStatus.SUCCESS:
            assert result.error is not None
            assert result.error.retryable, result.error


def test_publishers_exclude_each_other_and_lose_nothing(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    processes = [
        NEWBORN.Process(target=publish_some, args=(str(tmp_path), 100 * who))
        for who in range(PUBLISHERS)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=300)
    assert [process.exitcode for process in processes] == [0] * PUBLISHERS
    wanted = [100 * who + run for who in range(PUBLISHERS) for run in range(RUNS)]
    assert shown(tmp_path) == wanted
    versions = sorted(version.version for version in client.reader.versions(NUMBERS))
    assert versions == list(range(1, PUBLISHERS * RUNS + 1))
