"""A receiver of events that hangs: what is due is launched meanwhile, and the event is not lost."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Table, func, select, update

from lakeguard.state.schema import (
    job_schedules,
    md_jobs_revisions,
    notification_deliveries,
    tasks,
)
from lakeguard_sdk.model.definitions import Definitions
from tests.faults.test_dispatcher_process import PATIENCE_SECONDS, dispatching
from tests.support.databases.databases import KINDS
from tests.support.fakes.webhook_receiver import SECRET, Receiver, receiver
from tests.support.projects.alert_channels import SECRET_VARIABLE
from tests.support.projects.event_channels import web_listener
from tests.support.projects.jobs import state_of
from tests.support.projects.projects import make_project, states_of
from tests.support.projects.triggered_jobs import job

HANGS = -1
PATIENT = """\
import sys
from lakeguard.cli.main import call
from lakeguard_sdk.security.signed_webhook import SignedPost
send = SignedPost.send
SignedPost.send = lambda post, seconds, **more: send(post, 3600.0, **more)
sys.exit(call(sys.argv[1:]))
"""
"""A call that waits for a receiver until the test is over, however slow the machine is."""


def listened_project(folder: Path, site: Receiver) -> None:
    """One job that is refused while it is under way, which is told, and one that is not."""
    in_half_a_year = f"0 0 1 {(datetime.now(UTC).month + 5) % 12 + 1} *"
    jobs = (
        job("strict", schedule=in_half_a_year, overlap="skip"),
        job("timed", schedule=in_half_a_year, overlap="queue"),
    )
    client = make_project(folder, Definitions(jobs=jobs), tick_seconds=1)
    client.jobs.deploy("tests")
    client.jobs.tick()
    settings = folder / "lakeguard.toml"
    listener = web_listener(site.url, kinds=["job.refused"], pause_seconds=1)
    settings.write_text(settings.read_text() + listener)


def make_due(folder: Path, name: str, hours_ago: int) -> None:
    database = state_of(folder)
    chosen = select(md_jobs_revisions.c.job_id).where(md_jobs_revisions.c.job_name == name)
    then = datetime.now(UTC) - timedelta(hours=hours_ago)
    with database.write() as connection:
        due = update(job_schedules).where(job_schedules.c.job_id.in_(chosen))
        connection.execute(due.values(next_at=then))
    database.close()


def rows_of(folder: Path, table: Table) -> int:
    database = state_of(folder)
    with database.read() as connection:
        found = connection.scalars(select(func.count()).select_from(table)).one()
    database.close()
    return found


def until(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_schedules_go_on_while_a_receiver_hangs(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    with states_of(kind), receiver(*[HANGS] * 100) as site:
        listened_project(tmp_path, site)
        with dispatching(tmp_path, start=("-c", PATIENT)) as dispatcher:
            dispatcher.until("polling every 1 s")
            make_due(tmp_path, "strict", 3)
            dispatcher.until("1 scheduled")
            make_due(tmp_path, "strict", 2)
            dispatcher.until("1 refused")
            until(lambda: bool(site.came))
            make_due(tmp_path, "timed", 3)
            until(lambda: rows_of(tmp_path, tasks) == 3)
            make_due(tmp_path, "timed", 2)
            until(lambda: rows_of(tmp_path, tasks) == 4)
            assert rows_of(tmp_path, notification_deliveries) == 0, (
                "the receiver has not answered yet"
            )
        assert len(site.came) == 1
        with dispatching(tmp_path) as dispatcher:
            until(lambda: len(site.came) > 1)
            assert dispatcher.end(signal.SIGTERM) == 0, "it gives up by itself"
        site.answers.clear()
        hung = len(site.came)
        with dispatching(tmp_path) as dispatcher:
            dispatcher.until("1 sent")
            assert dispatcher.end(signal.SIGTERM) == 0
        assert len(site.came) == hung + 1
        assert len(set(site.deliveries)) == 1, "the same event, told again"
