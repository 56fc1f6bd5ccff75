"""Whoever tells events is killed with SIGKILL at every step, on each kind of State."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import connect
from tests.faults.test_killed_alerts import SENDING, _each_state, kill_at
from tests.support.fakes.webhook_receiver import receiver
from tests.support.projects.alert_channels import lines_of
from tests.support.projects.event_channels import (
    drained,
    file_listener,
    listened_world,
    publish,
    web_listener,
)

__all__ = ["_each_state"]


@pytest.mark.parametrize("point", SENDING)
def test_an_event_is_told_at_least_once_under_one_id(point: str, tmp_path: Path) -> None:
    """It may come twice, and then has the same id and the same bytes; a file has it once."""
    with receiver() as hook:
        client = listened_world(tmp_path, web_listener(hook.url), file_listener())
        publish(client)
        kill_at(tmp_path, point)
        drained(connect(tmp_path))
        described = {body["id"]: body for body in hook.bodies}
        types = [body["type"] for body in described.values()]
        assert types == ["lakeguard.dataset.published", "lakeguard.run.ended"]
        assert all(body == described[body["id"]] for body in hook.bodies)
        assert len(hook.bodies) == (3 if point == "notification.sent" else 2)
        assert [line["id"] for line in lines_of(tmp_path / "events.jsonl")] == list(described)
