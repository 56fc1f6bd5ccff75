"""A job's executions as an operator reads them: a row each, whatever became of it, and for good."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.plane import open_state, rebuild_embedded
from lakeguard.settings import load_settings
from lakeguard.state.schema import md_job_execution
from lakeguard_sdk import Client, connect
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Output, TaskReport
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

DONE = TaskReport(success=True, outputs={"swept": Output(rows=1)})
BROKEN = TaskReport(success=False, error=Failure(code="NO-BROOM", message="none is left"))


def sweep(**details: str) -> Definitions:
    config = {"call": "jobs:main", "outputs": "swept", "concurrency": "10"}
    return Definitions(
        jobs=(JobDefinition(job="sweep", type="python", details=details, config=config),)
    )


@pytest.fixture
def client(tmp_path: Path) -> Client:
    made = make_project(tmp_path, sweep(room="hall"))
    made.jobs.deploy("tests")
    return made


def executions(folder: Path) -> dict[str, tuple[object, ...]]:
    """By id, in the order of their beginnings."""
    database = open_state(load_settings(folder))
    table = md_job_execution
    try:
        with database.read() as connection:
            found = connection.execute(select(table).order_by(table.c.start_time))
            return {row.execution_id: tuple(row) for row in found}
    finally:
        database.close()


def outcomes(folder: Path) -> list[tuple[object, ...]]:
    named = [column.name for column in md_job_execution.columns]
    picked = [named.index(name) for name in ("status", "error_code", "attempt")]
    return [tuple(row[place] for place in picked) for row in executions(folder).values()]


def launched(client: Client, key: str) -> str:
    return client.jobs.trigger("sweep", "tests", key=key).task_id


def begun(client: Client) -> RunTicket:
    (assignment,) = client.dispatch.claim(this_process("test"))
    return assignment.ticket


def story(client: Client) -> None:
    """One done, one broken, one canceled under way, one before, and one refused."""
    for report in (DONE, BROKEN):
        launched(client, report.content_hash())
        client.dispatch.report(begun(client), report)
    launched(client, "under way")
    client.jobs.cancel(begun(client).task_id, "no need")
    client.jobs.cancel(launched(client, "before"), "no need")
    client.jobs.switch("sweep", enabled=False, reason="holiday")
    launched(client, "refused")


OUTCOMES = [
    ("COMPLETED", None, 1),
    ("FAILED", "NO-BROOM", 1),
    ("FAILED", "LG-3301", 1),
    ("FAILED", "LG-3301", 0),
    ("FAILED", "LG-3321", 0),
]


def test_every_execution_ends_and_says_why(client: Client, tmp_path: Path) -> None:
    launched(client, "first")
    ticket = begun(client)
    assert outcomes(tmp_path) == [("STARTED", None, 1)]
    client.dispatch.report(ticket, DONE)
    story(client)
    assert outcomes(tmp_path) == [OUTCOMES[0], *OUTCOMES]


def test_what_came_before_is_not_overwritten(client: Client, tmp_path: Path) -> None:
    task_id = launched(client, "again and again")
    client.dispatch.report(begun(client), BROKEN)
    first = executions(tmp_path)
    client.registry.apply(client.registry.plan(sweep(room="kitchen")))
    client.jobs.retry(task_id, "a broom came")
    client.dispatch.report(begun(client), DONE)
    client.jobs.cancel(launched(client, "no more"), "clean")
    both = executions(tmp_path)
    assert outcomes(tmp_path) == [OUTCOMES[1], ("COMPLETED", None, 2), OUTCOMES[3]]
    assert both.items() >= first.items()
    settings = [row[-1] for row in both.values()]
    assert settings[0] != settings[1]  # the room is another
    assert settings[2] is None


def test_a_refusal_stays_beside_what_came_of_it_later(client: Client, tmp_path: Path) -> None:
    client.jobs.switch("sweep", enabled=False, reason="holiday")
    task_id = launched(client, "too early")
    client.jobs.switch("sweep", enabled=True, reason="back")
    client.jobs.retry(task_id, "now")
    client.dispatch.report(begun(client), DONE)
    assert outcomes(tmp_path) == [OUTCOMES[4], OUTCOMES[0]]


def test_every_refusal_of_a_task_is_shown(client: Client, tmp_path: Path) -> None:
    """Also after an attempt, and the second before any; the ledger has them too."""
    tried = launched(client, "tried")
    client.dispatch.report(begun(client), BROKEN)
    client.jobs.retry(tried)
    untried = launched(client, "untried")
    client.jobs.cancel(untried, "no need")
    client.jobs.retry(untried)
    client.jobs.switch("sweep", enabled=False, reason="holiday")
    assert client.dispatch.claim(this_process("test"), limit=2) == ()
    assert sorted(outcomes(tmp_path)) == sorted([*OUTCOMES[1:2], *OUTCOMES[3:], OUTCOMES[4]])
    assert {tried, untried} & executions(tmp_path).keys() == {untried}
    client.ledger.sync()
    assert client.ledger.verify().findings == ()


def test_the_ledger_and_a_rebuilt_state_have_the_same(client: Client, tmp_path: Path) -> None:
    story(client)
    client.ledger.sync()
    report = client.ledger.verify()
    assert report.findings == ()
    before = executions(tmp_path)
    rebuild_embedded(tmp_path, env=None, replace=True, progress=lambda _: None)
    assert executions(tmp_path) == before
    again = connect(tmp_path)
    again.ledger.sync()
    assert again.ledger.verify().findings == ()
