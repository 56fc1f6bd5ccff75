"""The relay and a rebuild killed with SIGKILL at every step, on each kind of State."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from lakeguard.relay.rebuild import Rebuild
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.storage.fault_points import POINTS
from lakeguard_sdk.storage.storage import store_access
from tests.faults import killed_relay
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import discard, fresh_database
from tests.support.lakes.ledgers import (
    ORG,
    assert_in_step,
    heard,
    now,
    relay_of,
    tell,
)
from tests.support.projects.projects import location_of

RELAY = tuple(point for point in POINTS if point.startswith(("relay.", "ledger.", "file.")))
REBUILD = tuple(point for point in POINTS if point.startswith("rebuild."))
NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.killed_relay"])


def kill_at(database: Database, lake: Path, point: str, act: str) -> None:
    url = database.url.render_as_string(hide_password=False)
    place = location_of(lake)
    arguments = (url, database.schema, place, point, act, store_access(place))
    process = NEWBORN.Process(target=killed_relay.main, args=arguments)
    process.start()
    process.join(timeout=120)
    assert process.exitcode == -signal.SIGKILL, point


@pytest.mark.parametrize("point", RELAY)
def test_a_killed_relay(point: str, database: Database, tmp_path: Path) -> None:
    relay = relay_of(database, tmp_path)
    tell(database, ["before"])
    relay.drain()
    kill_at(database, tmp_path, point, "relay")
    tell(database, ["after"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["after", "before", "killed 1", "killed 2"]
    assert_in_step(database, tmp_path)


@pytest.mark.parametrize("point", REBUILD)
def test_a_killed_rebuild(point: str, database: Database, tmp_path: Path) -> None:
    lost = fresh_database("sqlite", tmp_path)
    relay = relay_of(lost, tmp_path)
    tell(lost, ["a", "b"])
    relay.drain()
    discard(lost)
    kill_at(database, tmp_path, point, "rebuild")
    rebuilt = Rebuild(OrganisationState.of(database, ORG, now), location_of(tmp_path)).run()
    assert rebuilt.rows == 3
    tell(database, ["c"])
    relay_of(database, tmp_path).drain()
    assert heard(tmp_path) == ["a", "b", "c"]
    assert_in_step(database, tmp_path)
