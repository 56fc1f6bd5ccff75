"""Connecting to a control plane, and the wire format of what it returns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.errors import StateUnavailable
from lakeguard_sdk.model.run import RunResult, RunTicket
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")


def test_an_address_that_nobody_serves_is_refused() -> None:
    with pytest.raises(StateUnavailable):
        connect("http://127.0.0.1:1")


def test_results_survive_the_wire(tmp_path: Path) -> None:
    result = run_by_hand(numbers_project(tmp_path), [1])
    assert RunResult.from_json(result.to_json()) == result
    ticket = RunTicket(run_id="r", task_id="t", attempt=1, lease_token="l")
    assert RunTicket.from_json(ticket.to_json()) == ticket
