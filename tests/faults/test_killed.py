"""Processes killed with SIGKILL at every named point; the next command leaves all whole."""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sqlalchemy import create_engine, text

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import FilesRemoved
from lakeguard_sdk.storage.fault_points import POINTS
from tests.faults import killed_process
from tests.support.lakes.published_by_hand import compact_by_hand, run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

NEWBORN = multiprocessing.get_context("forkserver")
"""Real processes that start with everything imported and nothing else."""
NEWBORN.set_forkserver_preload(["tests.faults.killed_process"])
FENCE = ("reap.judged", "fence.before_commit", "fence.committed")
RESTORE = ("restore.before_commit", "restore.committed")
MAINTENANCE = ("maintain.recorded", "maintain.removed")
ELSEWHERE = (
    "apply.", "state.", "relay.", "ledger.", "file.", "rebuild.", "deliver.", "adopt.",
    "notification.", "quarantine.", "task.claimed", "task.canceling", "job.", "graph.",
    "trigger.", "report.", "stream.", "records.",
)  # fmt: skip
"""No steps of these moves: ``test_killed_apply``, ``test_killed_relay``, ``test_killed_adoption``,
``tests/spark``, ``test_killed_alerts``, ``test_killed_events``,
``tests/contract/quarantine``, ``tests/unit/openlaketx``, ``test_dispatch_killed``,
``test_workers_killed``, ``test_killed_dispatcher``, ``test_killed_stream``,
``test_killed_records``."""
COMPACTION = (
    "run.opened",
    "compact.written",
    "decision.recorded",
    "intent.recorded",
    "publish.before_commit",
    "publish.committed",
    "publish.synced",
    "complete.before",
    "complete.recorded",
)
RUN = tuple(
    point
    for point in POINTS
    if point not in (*FENCE, *RESTORE, *MAINTENANCE, "compact.written")
    and not point.startswith(ELSEWHERE)
)
ROLLBACK = (
    "run.opened",
    "decision.recorded",
    "intent.recorded",
    *RESTORE,
    "complete.before",
    "complete.recorded",
)
LANDED = ("publish.committed", "publish.synced", "complete.before", "complete.recorded")


def kill_at(folder: Path, point: str, act: str) -> None:
    process = NEWBORN.Process(target=killed_process.main, args=(str(folder), point, act))
    process.start()
    process.join(timeout=120)
    assert process.exitcode == -signal.SIGKILL, point


def assert_whole(client: Client, folder: Path) -> None:
    """One row per attempt, versions without gaps, and the table shows the published one."""
    engine = create_engine(f"sqlite:///{folder}/.lakeguard/state.db")
    with engine.connect() as connection:
        attempts = connection.scalar(text("SELECT count(*) FROM task_attempts"))
        ended = connection.scalar(text("SELECT count(DISTINCT run_id) FROM run_history"))
        rows = connection.scalar(text("SELECT count(*) FROM run_history"))
        open_intents = connection.scalar(
            text(
                "SELECT count(*) FROM intents WHERE intent_id NOT IN"
                " (SELECT intent_id FROM intent_outcomes)"
            )
        )
    engine.dispose()
    assert (attempts, open_intents) == (rows, 0)
    assert ended == rows
    versions = sorted(client.reader.versions(NUMBERS), key=lambda version: version.version)
    assert [version.version for version in versions] == list(range(1, len(versions) + 1))
    published = next(version for version in versions if version.published)
    assert len(shown(folder)) == published.table_rows


@pytest.mark.parametrize("point", RUN)
def test_a_killed_run(point: str, tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    if point != "table.created":  # which happens once in a table's life
        run_by_hand(client, [1, 2, 3])
    kill_at(tmp_path, point, "run")
    before = [1, 2, 3] if point != "table.created" else []

    client.operations.reap()
    landed = [100, 101] if point in LANDED else []
    if before or landed:
        assert shown(tmp_path) == sorted(before + landed)
        assert_whole(client, tmp_path)
    again = run_by_hand(client, [7])
    assert again.status is RunStatus.SUCCESS
    assert shown(tmp_path) == sorted([*before, *landed, 7])
    assert_whole(client, tmp_path)


@pytest.mark.parametrize("point", ROLLBACK)
def test_a_killed_rollback(point: str, tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    kill_at(tmp_path, point, "rollback")

    client.operations.reap()
    moved = point in ("restore.committed", "complete.before", "complete.recorded")
    assert shown(tmp_path) == ([1] if moved else [1, 2])
    assert_whole(client, tmp_path)
    run_by_hand(client, [3])
    assert shown(tmp_path) == ([1, 3] if moved else [1, 2, 3])
    assert_whole(client, tmp_path)


@pytest.mark.parametrize("point", COMPACTION)
def test_a_killed_compaction(point: str, tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(client, [number])
    kill_at(tmp_path, point, "compact")

    client.operations.reap()
    assert shown(tmp_path) == [1, 2, 3]
    assert_whole(client, tmp_path)
    table = DeltaTable(str(tmp_path / "bronze" / "numbers"))
    assert len(table.file_uris()) == (1 if point in LANDED else 3)
    assert client.ledger.verify(replay=True).findings == ()
    assert compact_by_hand(client).status is RunStatus.SUCCESS
    assert run_by_hand(client, [7]).version == 4
    assert shown(tmp_path) == [1, 2, 3, 7]
    assert_whole(client, tmp_path)
    assert client.ledger.verify(replay=True).findings == ()


@pytest.mark.parametrize("point", MAINTENANCE)
def test_a_killed_maintenance(point: str, tmp_path: Path) -> None:
    """Once told, files may be gone or not: nobody misses them, and the next one removes them."""
    numbers_project(tmp_path, LoadType.FULL)
    file = tmp_path / "lakeguard.toml"
    file.write_text(f"{file.read_text()}[env.dev.maintenance]\nretention_days = 0\n")
    client = connect(tmp_path)
    for number in (1, 2, 3, 4):
        run_by_hand(client, [number])
    kill_at(tmp_path, point, "maintain")

    client.operations.reap()
    assert client.ledger.verify(replay=True).findings == ()
    with pytest.raises(FilesRemoved, match="maintenance removed"):
        client.operations.rollback(NUMBERS, 1, "they may be there or not")
    client.operations.maintain(NUMBERS)
    left = list((tmp_path / "bronze" / "numbers").glob("runs/**/*.parquet"))
    assert len(left) == 2
    assert shown(tmp_path) == [4]
    assert_whole(client, tmp_path)
    assert client.ledger.verify(replay=True).findings == ()


@pytest.mark.parametrize(
    ("died_at", "point"),
    [
        *(("intent.recorded", point) for point in (*FENCE, "complete.before", "complete.recorded")),
        *(("publish.committed", point) for point in ("complete.before", "complete.recorded")),
    ],
)
def test_a_killed_reaper(died_at: str, point: str, tmp_path: Path) -> None:
    """Where a commit stands already, no fence is tried."""
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    kill_at(tmp_path, died_at, "run")
    kill_at(tmp_path, point, "reap")

    client.operations.reap()
    landed = [100, 101] if died_at == "publish.committed" else []
    assert shown(tmp_path) == [1, *landed]
    assert_whole(client, tmp_path)


def test_every_named_point_is_killed_somewhere() -> None:
    moves = {point for point in POINTS if not point.startswith(ELSEWHERE)}
    assert {*RUN, *ROLLBACK, *FENCE, *COMPACTION, *MAINTENANCE} == moves
