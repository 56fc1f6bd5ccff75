"""Processes killed with SIGKILL at every named point of a move, with the lake in S3.

The suite of ``tests/faults``, each point once: where it is reached on the way of a run, or else on
that of a rollback, a compaction, maintenance, an adoption or the reaper.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.storage.fault_points import POINTS
from tests.faults import test_killed as suite
from tests.faults import test_killed_adoption as adoptions
from tests.support.lakes.foreign_tables import foreign_project

ADOPTION = ("adopt.measured", "adopt.before_commit", "adopt.committed")
MOVES = tuple(point for point in POINTS if not point.startswith(suite.ELSEWHERE))


@pytest.fixture
def tmp_path(served: Path) -> Path:
    return served


@pytest.fixture
def project(tmp_path: Path) -> tuple[Client, Path, str]:
    """A table that can be adopted."""
    client, location = foreign_project(tmp_path, [1, 2], [3], rules=["not_null(n)"])
    return client, tmp_path / "lake", location


@pytest.mark.parametrize("point", suite.RUN)
def test_a_killed_run(point: str, tmp_path: Path) -> None:
    suite.test_a_killed_run(point, tmp_path)


@pytest.mark.parametrize("point", suite.RESTORE)
def test_a_killed_rollback(point: str, tmp_path: Path) -> None:
    suite.test_a_killed_rollback(point, tmp_path)


@pytest.mark.parametrize("point", ["compact.written", "publish.committed"])
def test_a_killed_compaction(point: str, tmp_path: Path) -> None:
    suite.test_a_killed_compaction(point, tmp_path)


@pytest.mark.parametrize("point", suite.MAINTENANCE)
def test_a_killed_maintenance(point: str, tmp_path: Path) -> None:
    suite.test_a_killed_maintenance(point, tmp_path)


@pytest.mark.parametrize("point", suite.FENCE)
def test_a_killed_reaper(point: str, tmp_path: Path) -> None:
    suite.test_a_killed_reaper("intent.recorded", point, tmp_path)


def test_an_adoption_killed_after_it_was_measured(project: tuple[Client, Path, str]) -> None:
    adoptions.test_until_the_intent_the_table_is_as_it_was(project, ADOPTION[0])


def test_an_adoption_killed_before_its_commit(project: tuple[Client, Path, str]) -> None:
    adoptions.test_after_the_intent_a_fence_ends_it(project, ADOPTION[1])


def test_an_adoption_killed_after_its_commit(project: tuple[Client, Path, str]) -> None:
    adoptions.test_a_commit_that_stands_is_version_1(project, ADOPTION[2])


def test_every_point_of_a_move_is_killed_here() -> None:
    others = (*suite.RESTORE, "compact.written", *suite.MAINTENANCE, *suite.FENCE)
    assert {*suite.RUN, *others} == set(MOVES)
