"""Adoptions killed with SIGKILL at every named point; the next command leaves all whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import MoveKind, TaskState
from tests.faults.test_killed import kill_at
from tests.support.lakes.foreign_tables import (
    adopt,
    fingerprint,
    foreign_project,
    numbers_in,
)
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS

BEFORE_THE_INTENT = ("run.opened", "measure.taken", "adopt.measured")
AFTER_IT = ("decision.recorded", "intent.recorded", "adopt.before_commit")
LANDED = ("adopt.committed", "complete.before", "complete.recorded")


@pytest.fixture
def project(tmp_path: Path) -> tuple[Client, Path, str]:
    client, location = foreign_project(tmp_path, [1, 2], [3], rules=["not_null(n)"])
    return client, tmp_path / "lake", location


def assert_governed(client: Client, location: str) -> None:
    assert [version.version for version in client.reader.versions(NUMBERS)] == [1]
    assert [move.kind for move in client.reader.pointer_moves(NUMBERS)] == [MoveKind.ADOPTION]
    assert numbers_in(location) == [1, 2, 3]
    assert client.ledger.verify(replay=True).findings == ()


@pytest.mark.parametrize("point", BEFORE_THE_INTENT)
def test_until_the_intent_the_table_is_as_it_was(
    project: tuple[Client, Path, str], point: str
) -> None:
    client, folder, location = project
    before = fingerprint(location)
    kill_at(folder, point, "adopt")
    (ended,) = client.operations.reap()
    assert (ended.state, ended.version) == (TaskState.FAILED, None)
    assert fingerprint(location) == before
    adopt(client)
    assert_governed(client, location)


@pytest.mark.parametrize("point", AFTER_IT)
def test_after_the_intent_a_fence_ends_it(project: tuple[Client, Path, str], point: str) -> None:
    client, folder, location = project
    kill_at(folder, point, "adopt")
    (ended,) = client.operations.reap()
    assert (ended.state, ended.version) == (TaskState.FAILED, None)
    assert numbers_in(location) == [1, 2, 3]
    assert client.reader.versions(NUMBERS) == []
    adopt(client)
    assert_governed(client, location)


@pytest.mark.parametrize("point", LANDED)
def test_a_commit_that_stands_is_version_1(project: tuple[Client, Path, str], point: str) -> None:
    client, folder, location = project
    kill_at(folder, point, "adopt")
    connect(folder).operations.reap()
    assert DeltaTable(location).version() == 2
    assert_governed(client, location)


@pytest.mark.parametrize("point", ["reap.judged", "fence.before_commit", "fence.committed"])
def test_a_reaper_that_dies_too_is_followed_by_another(
    project: tuple[Client, Path, str], point: str
) -> None:
    client, folder, location = project
    kill_at(folder, "intent.recorded", "adopt")
    kill_at(folder, point, "reap")
    client.operations.reap()
    adopt(client)
    assert_governed(client, location)
    assert run_by_hand_version(client) == 2


def run_by_hand_version(client: Client) -> int | None:
    """Rules are measured by a real worker, so that a run by hand comes without them."""
    definitions = client.registry.definitions()
    bare = definitions.datasets[0].model_copy(update={"rules": ()})
    client.registry.apply(
        client.registry.plan(definitions.model_copy(update={"datasets": (bare,)}))
    )
    return run_by_hand(client, [4]).version
