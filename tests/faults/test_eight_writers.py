"""Eight processes on one State and one table, half of them killed on the way."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.core.enums import RunStatus
from tests.faults import writer
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import KINDS
from tests.support.lakes.published_by_hand import run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project, states_of

WRITERS = 8


@pytest.mark.parametrize("kind", KINDS)
def test_eight_writers_lose_nothing_and_repeat_nothing(kind: str, tmp_path: Path) -> None:
    with states_of(kind):
        numbers_project(tmp_path)
        processes = [
            NEWBORN.Process(target=writer.main, args=(str(tmp_path), who)) for who in range(WRITERS)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join(timeout=300)
        codes = [process.exitcode for process in processes]
        assert set(codes) <= {0, -signal.SIGKILL}, codes
        assert -signal.SIGKILL in codes

        client = connect(tmp_path)
        client.operations.reap()
        assert run_by_hand(client, [9_999]).status is RunStatus.SUCCESS
        runs = client.reader.runs(limit=1000)
        published = [run for run in runs if run.version is not None]
        assert len(shown(tmp_path)) == len(published) == len(set(shown(tmp_path)))
        versions = sorted(row.version for row in client.reader.versions(NUMBERS))
        assert versions == list(range(1, len(versions) + 1))
        report = client.ledger.verify(replay=True)
        assert report.findings == ()
