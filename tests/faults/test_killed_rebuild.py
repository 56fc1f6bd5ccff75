"""Rebuilds killed with SIGKILL: the rows in their scratch place do not stay on the lake."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.scheduling.scratch_folders import remove_left_scratch
from openlaketx.rebuild import scratch_place
from tests.faults import killed_rebuild
from tests.faults.test_killed import NEWBORN
from tests.support.lakes.published_by_hand import run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project


@pytest.fixture
def project(tmp_path: Path) -> tuple[Client, Path]:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1, 2])
    return client, tmp_path


def table(folder: Path) -> str:
    return str(folder / "bronze" / "numbers")


def places(folder: Path) -> list[Path]:
    return sorted(folder.glob(".rebuild-*"))


def kill_one(folder: Path, meanwhile: Callable[[], object] = tuple) -> None:
    begun, ending = NEWBORN.Event(), NEWBORN.Event()
    process = NEWBORN.Process(
        target=killed_rebuild.main, args=(str(folder), table(folder), begun, ending)
    )
    process.start()
    assert begun.wait(60)
    meanwhile()
    ending.set()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def test_the_next_rebuild_takes_it_away_and_nothing_of_the_table(
    project: tuple[Client, Path],
) -> None:
    _, folder = project
    kill_one(folder)
    (left,) = places(folder)
    assert (left / "lake" / "rows.csv").exists(), "or there is nothing to show"
    with scratch_place(str(folder), table(folder)) as scratch:
        assert places(folder) == [scratch.folder]
    assert places(folder) == []
    assert shown(folder) == [1, 2]


def test_maintenance_takes_it_away_and_a_dry_one_does_not(project: tuple[Client, Path]) -> None:
    client, folder = project
    kill_one(folder)
    client.operations.maintain(NUMBERS, dry_run=True)
    assert len(places(folder)) == 1
    client.operations.maintain(NUMBERS)
    assert places(folder) == []
    assert shown(folder) == [1, 2]


def test_a_rebuild_that_lives_is_left_alone(project: tuple[Client, Path]) -> None:
    client, folder = project

    def look() -> None:
        client.operations.maintain(NUMBERS)
        with scratch_place(str(folder), table(folder)):
            assert len(places(folder)) == 2

    kill_one(folder, look)


def test_one_without_an_owner_goes_by_its_age(tmp_path: Path) -> None:
    folder = tmp_path / ".rebuild-x"
    folder.mkdir()
    now = datetime.now(UTC)
    assert remove_left_scratch(str(tmp_path), now) == 0
    then = (now - timedelta(days=8)).timestamp()
    os.utime(folder, (then, then))
    assert remove_left_scratch(str(tmp_path), now) == 1
    assert not folder.exists()
