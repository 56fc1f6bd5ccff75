"""With the token of a task: reading, and reports on that run. Nothing else."""

from __future__ import annotations

import pytest

from lakeguard_sdk.api.operations import operations_by_name
from lakeguard_sdk.model.run import RunTicket
from tests.support.fakes.asked_app import AskedApp
from tests.support.fakes.task_tokens import token_at

TICKET = RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token="lease_1")
OTHER = TICKET.model_copy(update={"run_id": "run_2"})
OPEN = ("runs.open_run", "runs.open_compaction", "runs.open_adoption")


@pytest.fixture
def held(app: AskedApp) -> dict[str, str]:
    """The header of the run."""
    token = token_at(app.service.client.project, TICKET)
    return {"Authorization": f"Bearer {token}"}


def refused_to_runs() -> list[str]:
    ports = ("reader.", "runs.")
    return [*OPEN, *(name for name in operations_by_name() if not name.startswith(ports))]


@pytest.mark.parametrize("name", refused_to_runs())
def test_a_run_may_not_call_it_whatever_it_sends(
    app: AskedApp, held: dict[str, str], name: str
) -> None:
    operation = operations_by_name()[name]
    path = operation.template.replace("{", "").replace("}", "")
    reply = app.send(operation.verb, path, b"what?" if operation.has_body else None, **held)
    assert (reply.status_code, reply.json()["code"]) == (403, "LG-3001")


def test_a_run_reads_and_reports_on_itself_alone(app: AskedApp, held: dict[str, str]) -> None:
    assert app.get("/datasets", **held).status_code == 200
    for ticket, status in ((TICKET, 409), (OTHER, 403)):
        body = {"ticket": ticket.to_data()}
        reply = app.post(f"/runs/{ticket.run_id}/heartbeat", body, **held)
        assert reply.status_code in (status, 404), reply.text
    mixed = app.post("/runs/run_1/heartbeat", {"ticket": OTHER.to_data()}, **held)
    assert mixed.status_code == 422
