"""What happens to a run, while it is live and afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.read_models import RunEventKind
from lakeguard_sdk.model.run import Failure
from tests.support.lakes.policy_datasets import opened
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")


def kinds(client: Client, run_id: str) -> list[str]:
    return [event.kind.value for event in client.reader.run_events(run_id)]


def test_a_published_run_went_through_all_of_it(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_id = run_by_hand(client, [1]).run_id
    events = client.reader.run_events(run_id)
    assert [event.kind for event in events] == list(RunEventKind)
    assert [event.at for event in events] == sorted(event.at for event in events)
    details = {event.kind.value: event.detail for event in events}
    assert (details["decided"], details["moved"], details["ended"]) == (
        "ALLOWED",
        "committed",
        "SUCCESS",
    )


def test_a_live_run_has_not_ended(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    plan = opened(client)
    assert kinds(client, plan.ticket.run_id) == ["started", "opened"]
    client.runs.submit_schema(plan.ticket, plan.declared)
    assert kinds(client, plan.ticket.run_id) == ["started", "opened", "schema"]
    client.runs.fail_run(plan.ticket, Failure(code="LG-5001", message="no", retryable=False))
    last = client.reader.run_events(plan.ticket.run_id)[-1]
    assert (last.kind, last.detail, last.code) == (RunEventKind.ENDED, "FAILED", "LG-5001")


def test_a_run_that_never_was_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(UnknownRun):
        numbers_project(tmp_path).reader.run_events("run_nothing")
