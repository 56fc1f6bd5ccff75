"""A policy that only alerts lets a version through, and what is published says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import Enforcement, PolicyType
from lakeguard_sdk.model.read_models import Breach
from tests.support.lakes.policy_datasets import (
    numbers,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import compact_by_hand, run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

ALERT = promise(PolicyType.OWNERSHIP, "owner in [others]", enforcement=Enforcement.ALERT)


def alerts(client: Client) -> tuple[Breach, ...]:
    (status,) = client.reader.status()
    return status.alerts


def test_what_is_published_tells_the_alerts_it_went_past(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), policies=(ALERT,))
    assert alerts(client) == ()
    run_by_hand(client, [1])
    (alert,) = alerts(client)
    assert (alert.policy, alert.expression) == ("promise", "owner in [others]")
    assert alert.enforcement is Enforcement.ALERT
    assert "tests" in alert.message
    revise(client, numbers(owner="others"))
    assert alerts(client) == (alert,), "it is about what is published"
    run_by_hand(client, [2])
    assert alerts(client) == ()
    client.operations.rollback(NUMBERS, 1, "back")
    assert alerts(client) == (alert,), "and so is what is shown again"


def test_a_compaction_forgets_no_alert(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(load="APPEND"), policies=(ALERT,))
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    before = alerts(client)
    compact_by_hand(client)
    assert alerts(client) == before != ()
