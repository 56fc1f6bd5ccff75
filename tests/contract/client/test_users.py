"""Whoever acts is a user of the organisation, on each kind of State."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.access.grants import user_rows
from lakeguard.access.users import (
    LONGEST_NAME,
    OPERATOR,
    check_user_name,
    known_user,
)
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard.state.schema import outbox, users
from lakeguard_sdk import Client
from lakeguard_sdk.errors import BadUserName, LakeGuardError, NothingToDeploy
from tests.support.projects.jobs import JOB, job_project, trigger
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")


def jobs_of(client: Client, actor: str, org_id: str = "default") -> EmbeddedJobs:
    assert isinstance(client.jobs, EmbeddedJobs)
    return EmbeddedJobs(replace(client.jobs.context, actor=actor, org_id=org_id))


def names(client: Client, org_id: str = "default") -> list[str]:
    with replace(jobs_of(client, "x").context, org_id=org_id).read() as tx:
        return [row.user_name for row in user_rows(tx)]


def test_whoever_acts_is_a_user_from_then_on(tmp_path: Path) -> None:
    client = job_project(tmp_path)
    mine = names(client)
    task = trigger(client, "a")
    jobs_of(client, "ada").jobs()
    assert names(client) == mine, "who only looks does not act"
    jobs_of(client, "ada").switch(JOB, enabled=False, reason="broken")
    jobs_of(client, "ada").switch(JOB, enabled=True, reason="mended")
    jobs_of(client, "bob").cancel(task)
    jobs_of(client, "cleo").retry(task)
    with pytest.raises(LakeGuardError):
        EmbeddedOperations(jobs_of(client, "dan").context).rollback(NUMBERS, 1, "wrong")
    jobs_of(client, "ada").deploy()
    assert names(client) == sorted([*mine, "ada", "bob", "cleo", "dan"])
    with jobs_of(client, "x").context.read() as tx:
        assert set(tx.scalars(select(users.c.role))) == {OPERATOR}
        rows = set(tx.scalars(select(outbox.c.topic)))
    assert "tasks" in rows
    assert "users" in rows, "a rebuild restores them"


def test_the_same_name_is_another_user_elsewhere(tmp_path: Path) -> None:
    client = job_project(tmp_path)
    with pytest.raises(NothingToDeploy):
        jobs_of(client, "ada", "others").deploy()
    assert names(client, "others") == ["ada"]
    assert "ada" not in names(client)


def test_who_appears_twice_at_once_is_there_once(tmp_path: Path) -> None:
    client = job_project(tmp_path)
    context = jobs_of(client, "ada").context

    def appear(_: int) -> str:
        return context.transact(lambda tx: known_user(tx, "ada"))

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(appear, range(16)))) == 1
    assert names(client).count("ada") == 1


@pytest.mark.parametrize(
    "name", ["", " ada", "ada\n", "a\0b", "a\u202eb", "x" * (LONGEST_NAME + 1)]
)
def test_nobody_acts_under_a_name_that_hides_something(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadUserName):
        check_user_name(name)


def test_a_bad_name_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    client = job_project(tmp_path)
    with pytest.raises(BadUserName):
        jobs_of(client, "ada\n").switch(JOB, enabled=False)
    assert client.jobs.job(JOB).enabled
