"""``apply`` killed with SIGKILL at every step, on each kind of State; the next command heals."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.storage.fault_points import POINTS
from tests.faults import killed_apply
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import KINDS
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import (
    make_project,
    numbers_project,
    settings_text,
    states_of,
)

APPLY = tuple(
    point for point in POINTS if point.startswith(("apply.", "relay.", "ledger.", "file."))
)


def kill_at(folder: Path, point: str) -> None:
    process = NEWBORN.Process(target=killed_apply.main, args=(str(folder), point))
    process.start()
    process.join(timeout=120)
    assert process.exitcode == -signal.SIGKILL, point


def assert_proven(folder: Path) -> None:
    report = connect(folder).ledger.verify(replay=True)
    assert report.findings == ()
    assert report.rows > 0


@pytest.mark.parametrize("point", APPLY)
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_apply(kind: str, point: str, tmp_path: Path) -> None:
    with states_of(kind):
        numbers_project(tmp_path).ledger.sync()
        kill_at(tmp_path, point)
        client = connect(tmp_path)
        done = "tests" if point == "apply.written" else "somebody else"
        assert client.reader.dataset(NUMBERS).owner == done
        client.registry.apply(client.registry.plan(killed_apply.owned_by("the next")))
        assert client.reader.dataset(NUMBERS).owner == "the next"
        assert_proven(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_first_apply_killed_before_the_lake_has_an_owner(kind: str, tmp_path: Path) -> None:
    with states_of(kind):
        (tmp_path / "lakeguard.toml").write_text(settings_text())
        kill_at(tmp_path, "state.named")
        client = connect(tmp_path)
        client.registry.apply(client.registry.plan(killed_apply.owned_by("the next")))
        assert_proven(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clean_project_is_proven(kind: str, tmp_path: Path) -> None:
    with states_of(kind):
        make_project(tmp_path, killed_apply.owned_by("me"))
        assert_proven(tmp_path)
