"""Who is revoked while he works: his next call is refused, reads and writes alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lakeguard.access import authenticate, session
from lakeguard.access.principal import Action, Role
from lakeguard.plane import open_state
from lakeguard.service_plane import manage_identity
from lakeguard.services.manage_identity import ManageIdentity
from lakeguard.settings import load_settings
from lakeguard_sdk import connect
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.task_tokens import token_at
from tests.support.lakes.policy_datasets import opened
from tests.support.projects.planes import NUMBERS
from tests.support.projects.served_roles import OURS, ServedRoles, served_roles

pytestmark = pytest.mark.usefixtures("each_state")

TASKS, DATASETS = f"/api/v1/datasets/{NUMBERS}/tasks", "/api/v1/datasets"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServedRoles]:
    """Nothing that was read of a principal is trusted for longer than a call."""
    assert session.FRESH_SECONDS <= 60
    for module in (session, authenticate):
        monkeypatch.setattr(module, "FRESH_SECONDS", 0.0)
    with served_roles(tmp_path) as made:
        yield made


def identity_of(served: ServedRoles) -> ManageIdentity:
    settings = load_settings(served.folder, OURS)
    return manage_identity(settings, open_state(settings))


def statuses(client: httpx.Client) -> tuple[int, int]:
    """Of a read, and of a write."""
    written = client.post(TASKS, json={"triggered_by": "x"}).status_code
    return client.get(DATASETS).status_code, written


def tasks_in(served: ServedRoles) -> int:
    return len(served.whole().jobs.tasks(limit=1_000))


def test_a_user_loses_a_role_and_then_the_account(served: ServedRoles) -> None:
    identity = identity_of(served)
    identity.create_user("ada@example.org")
    granted = identity.grant("ada@example.org", Role.ENGINEER)
    headers = served.bearer("nobody", "ada@example.org")
    with httpx.Client(base_url=served.urls[OURS], headers=headers) as ada:
        assert statuses(ada) == (200, 200)
        before = tasks_in(served)
        identity.revoke_grant(granted.grant_id, "left the team")
        assert ada.post(TASKS, json={"triggered_by": "x"}).status_code in (403, 404)
        identity.grant("ada@example.org", Role.ENGINEER)
        identity.set_user("ada@example.org", "left", active=False)
        assert statuses(ada) == (401, 401)
        assert tasks_in(served) == before


def test_a_service_token_is_revoked(served: ServedRoles) -> None:
    identity = identity_of(served)
    token = identity.create_token("ci", [Action.READ, Action.RUN], []).text
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=served.urls[OURS], headers=headers) as client:
        assert statuses(client) == (200, 200)
        before = tasks_in(served)
        identity.revoke_token("ci", "no longer used")
        assert statuses(client) == (401, 401)
        assert tasks_in(served) == before


def test_a_worker_is_revoked_while_it_builds(served: ServedRoles) -> None:
    """The token of its attempt ends with its own: nobody keeps the lease with it, or reports."""
    identity = identity_of(served)
    own = identity.create_token("worker", [Action.READ, Action.WORK], []).text
    ticket = opened(served.whole()).ticket
    held = connect(served.urls[OURS], token=own).runs.task_token(ticket)
    headers = {"Authorization": f"Bearer {held}"}
    with httpx.Client(base_url=served.urls[OURS], headers=headers) as task:
        assert task.post("/api/v1/tasks/keep").status_code == 200
        identity.revoke_token("worker", "moved")
        done = {"success": False, "error": {"code": "x", "message": "x"}}
        assert task.post("/api/v1/tasks/keep").status_code == 401
        assert task.post("/api/v1/tasks/report", json=done).status_code == 401
        beat = f"/api/v1/runs/{ticket.run_id}/heartbeat"
        assert task.post(beat, json={"ticket": ticket.to_data()}).status_code == 401


def test_an_organisation_is_disabled(served: ServedRoles) -> None:
    """Then its users, its service tokens and its running tasks are refused."""
    identity, whole = identity_of(served), served.whole()
    plan = opened(whole)
    token = identity.create_token("ci", [Action.READ, Action.RUN], []).text
    held = token_at(served.folder, plan.ticket, OURS)
    beat = f"/api/v1/runs/{plan.ticket.run_id}/heartbeat"
    with (
        served.client("admin") as admin,
        httpx.Client(
            base_url=served.urls[OURS], headers={"Authorization": f"Bearer {token}"}
        ) as ci,
        httpx.Client(
            base_url=served.urls[OURS], headers={"Authorization": f"Bearer {held}"}
        ) as task,
    ):
        body = {"ticket": plan.ticket.to_data()}
        assert (statuses(admin), statuses(ci)) == ((200, 200), (200, 200))
        assert task.post(beat, json=body).status_code == 200
        before = tasks_in(served)
        identity.set_organisation("default", "unpaid", active=False)
        assert (statuses(admin), statuses(ci)) == ((401, 401), (401, 401))
        assert task.post(beat, json=body).status_code == 401
        assert task.get(DATASETS).status_code == 401
        assert task.post("/api/v1/tasks/keep").status_code == 401
        done = {"success": False, "error": {"code": "x", "message": "x"}}
        assert task.post("/api/v1/tasks/report", json=done).status_code == 401
        assert tasks_in(served) == before


def test_a_task_of_an_earlier_attempt_changes_nothing(served: ServedRoles) -> None:
    """Nor does it reach the attempt that followed, or another task."""
    whole = served.whole()
    first = opened(whole)
    failure = {"code": "LG-4002", "message": "x", "retryable": True}
    held = {"Authorization": f"Bearer {token_at(served.folder, first.ticket, OURS)}"}
    with httpx.Client(base_url=served.urls[OURS], headers=held) as old:
        own = f"/api/v1/runs/{first.ticket.run_id}"
        ended = {"ticket": first.ticket.to_data(), "failure": failure}
        assert old.post(f"{own}/failure", json=ended).status_code == 200
        assert whole.operations.requeue(first.ticket.task_id)
        second = whole.runs.open_run(first.ticket.task_id, this_process("next"))
        other = opened(whole)
        before = served.rows(OURS)
        for plan, refused in ((first, 409), (second, 403), (other, 403)):
            run, body = f"/api/v1/runs/{plan.ticket.run_id}", {"ticket": plan.ticket.to_data()}
            for path, more in (
                ("heartbeat", {}),
                ("failure", {"failure": failure}),
                ("move", {}),
                ("completion", {"commit": 1}),
            ):
                reply = old.post(f"{run}/{path}", json=body | more)
                assert reply.status_code == refused, (path, reply.text)
        for name, rows in served.rows(OURS).items():
            assert rows == before[name], name
