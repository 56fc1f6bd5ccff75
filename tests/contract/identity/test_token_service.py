"""A service that asks who is there: over HTTP, with tokens of users, services and tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lakeguard.access.principal import Action
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import open_state
from lakeguard.service_plane import manage_identity, open_service
from lakeguard.services.manage_identity import ManageIdentity
from lakeguard.settings import load_settings
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BadToken, NotPermitted, NotRegistered
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.task_tokens import token_at
from tests.support.lakes.policy_datasets import opened
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")


class Place:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    @property
    def identity(self) -> ManageIdentity:
        settings = load_settings(self.folder)
        return manage_identity(settings, open_state(settings))

    def token(self, name: str, *actions: Action, on: str = "") -> str:
        return self.identity.create_token(name, actions, (on,) if on else ()).text

    def holder(self, name: str, *actions: Action, on: str = "") -> Client:
        """A client with a service token."""
        return connect(self.url, token=self.token(name, *actions, on=on))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    whole = make_project(tmp_path, numbers_definitions(LoadType.APPEND))
    whole.deliver()
    service = open_service(str(tmp_path), parse_place("127.0.0.1:0"), tokens=True)
    with serving(create_app(service), listen(service)) as listener:
        yield Place(tmp_path, listener.url)


@pytest.mark.parametrize("token", ["", "lgs1_nothing", "e30.e30.e30", "lgt1_e30.e30.e30"])
def test_nobody_is_let_in_without_a_valid_token(place: Place, token: str) -> None:
    with pytest.raises(BadToken):
        connect(place.url, token=token)


def test_a_token_is_good_for_its_actions(place: Place) -> None:
    reads = place.holder("reads", Action.READ)
    assert [row.dataset_name for row in reads.reader.datasets()] == [NUMBERS]
    with pytest.raises(NotPermitted):
        reads.operations.submit(NUMBERS, "somebody else")
    runs = place.holder("runs", Action.READ, Action.RUN)
    task = runs.jobs.task(runs.operations.submit(NUMBERS, "somebody else"))
    assert "runs" in task.triggered_by


def test_an_event_needs_a_signature_where_calls_need_a_token(place: Place) -> None:
    """Here is no matter: a proxy on this machine sends on what others send."""
    event = b'{"specversion": "1.0", "id": "e-1", "source": "x", "type": "dusty"}'
    reply = httpx.post(
        f"{place.url}/api/v1/events", content=event, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 403
    assert "inbox.secret" in reply.json()["detail"]


def test_figures_name_datasets_and_are_for_those_who_read_all(place: Place) -> None:
    def status(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{place.url}/metrics", headers=headers).status_code

    assert status("lgs1_nothing") == 401
    assert status(place.token("gold", Action.READ, on="gold")) == 403
    assert status(place.token("worker", Action.WORK)) == 403
    assert status(place.token("prometheus", Action.READ)) == 200


def test_what_may_not_be_read_is_not_there(place: Place) -> None:
    elsewhere = place.holder("elsewhere", Action.READ, on="domain:other")
    assert elsewhere.reader.datasets() == []
    assert elsewhere.reader.search("numbers") == []
    with pytest.raises(NotRegistered) as refused:
        elsewhere.reader.dataset(NUMBERS)
    with pytest.raises(NotRegistered) as missing:
        elsewhere.reader.dataset(DatasetName("bronze.nothing"))
    assert refused.value.fields.keys() == missing.value.fields.keys()


def test_a_revoked_token_is_refused(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = place.holder("reads", Action.READ)
    assert reads.reader.datasets()
    monkeypatch.setattr("lakeguard.access.trusted_tokens.FRESH_SECONDS", 0.0)
    place.identity.revoke_token("reads", "no longer used")
    with pytest.raises(BadToken):
        reads.reader.datasets()


def test_a_worker_needs_no_database(place: Place) -> None:
    worker = place.holder("worker", Action.READ, Action.RUN, Action.WORK)
    plan = opened(worker, NUMBERS)
    assert worker.runs.heartbeat(plan.ticket) > 0


def test_a_task_reports_on_itself_alone(place: Place) -> None:
    worker = place.holder("worker", Action.READ, Action.RUN, Action.WORK)
    own, other = opened(worker, NUMBERS).ticket, worker.operations.submit(NUMBERS, "x", key="y")
    task = connect(place.url, token=token_at(place.folder, own))
    assert task.runs.heartbeat(own) > 0
    with pytest.raises(NotPermitted):
        task.runs.open_run(other, this_process("task"))
    with pytest.raises(NotPermitted):
        task.operations.submit(NUMBERS, "task")
