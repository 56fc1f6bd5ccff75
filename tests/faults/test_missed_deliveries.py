"""A data database that is away for a while is caught up by the dispatcher, and by nobody else."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.cli.main import answered
from lakeguard_sdk import Client
from tests.faults.test_dispatch_outages import own_server as own_server
from tests.faults.test_dispatcher_process import dispatching
from tests.support.databases.databases import KINDS, Server
from tests.support.lakes.delivered_numbers import TABLE, shown
from tests.support.lakes.delivered_tables import VARIABLES, LiveSchema
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.postgresql_target import served_numbers
from tests.support.projects.projects import make_project, states_of

QUICK = {"tick_seconds": 1, "backoff_first_seconds": 1, "backoff_longest_seconds": 2}


@pytest.fixture
def live(own_server: Server, monkeypatch: pytest.MonkeyPatch) -> LiveSchema:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    return LiveSchema.create(own_server)


@pytest.fixture(params=KINDS)
def client(request: pytest.FixtureRequest, live: LiveSchema, tmp_path: Path) -> Iterator[Client]:
    with states_of(request.param):
        yield make_project(tmp_path, served_numbers(live.url, live.name), **QUICK)


def findings(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """As ``verify --data`` tells them."""
    code = answered(["verify", "--data", "--json", "--project", str(folder)])
    document = json.loads(capsys.readouterr().out)
    return code, str(document.get("findings", document))


def test_what_it_missed_is_delivered_when_it_is_back(
    client: Client, live: LiveSchema, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_by_hand(client, [1])
    with dispatching(tmp_path) as dispatcher:
        dispatcher.until("1 delivered")
        assert shown(live) == (1, [1])
        live.server.stop()
        run_by_hand(client, [1, 2])
        run_by_hand(client, [1, 2, 3])
        dispatcher.until("serving: ")
        code, found = findings(tmp_path, capsys)
        assert (code, "it cannot be looked at" in found) == (20, True)
        live.server.start()
        dispatcher.until("1 delivered")
        assert shown(live) == (3, [1, 2, 3])
        assert findings(tmp_path, capsys) == (0, "[]")
        client.operations.rollback(NUMBERS, 1, "they were wrong")
        dispatcher.until("1 delivered")
        assert shown(live) == (1, [1])
        live.sql("DROP TABLE {table}", TABLE)
        dispatcher.until("1 delivered")
        assert findings(tmp_path, capsys) == (0, "[]")
        assert dispatcher.end(signal.SIGTERM) == 0


def test_one_turn_delivers_what_is_missing(
    client: Client, live: LiveSchema, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = ["dispatcher", "--once", "--json", "--project", str(tmp_path)]
    run_by_hand(client, [1])
    live.server.stop()
    assert answered(once) == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem.startswith("deliveries: serving: ")
    live.server.start()
    for delivered in (1, 0):
        assert answered(once) == 0
        assert json.loads(capsys.readouterr().out)["delivered"] == delivered
    assert shown(live) == (1, [1])
