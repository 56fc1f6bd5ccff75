"""Whoever tells alerts is killed with SIGKILL at every step, on each kind of State."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.storage.fault_points import POINTS
from tests.faults import killed_sender
from tests.faults.test_killed import NEWBORN
from tests.support.databases.databases import KINDS
from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.support.projects.alert_channels import (
    SECRET_VARIABLE,
    block,
    blocking_world,
    drained,
    entry,
    file_channel,
    lines_of,
    webhook,
)
from tests.support.projects.projects import states_of

SENDING = tuple(point for point in POINTS if point.startswith("notification."))
NEWBORN.set_forkserver_preload(["tests.faults.killed_process", "tests.faults.killed_sender"])


@pytest.fixture(autouse=True, params=KINDS)
def _each_state(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    with states_of(request.param):
        yield


def kill_at(folder: Path, point: str) -> None:
    arguments = (str(folder), SECRET, point, 1, str(folder / "errors"))
    process = NEWBORN.Process(target=killed_sender.main, args=arguments)
    process.start()
    process.join(timeout=60)
    assert process.exitcode == -signal.SIGKILL, point


@pytest.mark.parametrize("point", SENDING)
def test_a_file_has_each_alert_once(point: str, tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    runs = [block(client), block(client)]
    kill_at(tmp_path, point)
    kill_at(tmp_path, point)
    drained(connect(tmp_path))
    assert [line["run_id"] for line in lines_of(tmp_path / "alerts.jsonl")] == runs
    described = [
        each.outcome.value
        for row in client.notifications.rows(Topic.ALERT)
        for each in row.deliveries
    ]
    assert described == ["sent", "sent"]


@pytest.mark.parametrize("point", SENDING)
def test_a_webhook_can_tell_a_repeat(point: str, tmp_path: Path) -> None:
    """It may come twice, and then has the same id."""
    with receiver() as hook:
        client = blocking_world(tmp_path, webhook(hook.url))
        run = block(client)
        kill_at(tmp_path, point)
        drained(connect(tmp_path))
        assert {body["run_id"] for body in hook.bodies} == {run}
        assert len(set(hook.deliveries)) == 1
        assert len(hook.bodies) == (2 if point == "notification.sent" else 1)


@pytest.mark.parametrize("point", SENDING)
def test_a_log_has_no_alert_twice(
    point: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed after the line it is there once; killed in the moment before it, not at all."""
    client = blocking_world(tmp_path, entry(type="log"))
    run = block(client)
    kill_at(tmp_path, point)
    drained(connect(tmp_path))
    assert caplog.records == [], "it counts as told"
    lines = [line for line in (tmp_path / "errors").read_text().splitlines() if run in line]
    assert len(lines) == (1 if point == "notification.sent" else 0)
    (row,) = client.notifications.rows(Topic.ALERT)
    assert [each.outcome.value for each in row.deliveries] == ["sent"]
