"""A service that asks who is there: over HTTP, with tokens of users, services and tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lakeguard.access.principal import Action
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import context_of, open_state
from lakeguard.promotion.context import PlaneContext
from lakeguard.relay.relay import Relay
from lakeguard.service_plane import manage_identity, open_service
from lakeguard.services.manage_identity import ManageIdentity
from lakeguard.settings import load_settings
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BadToken, NotAuthenticated, NotPermitted, NotRegistered
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.task_tokens import token_at
from tests.support.lakes.policy_datasets import opened
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")


QUIET_SECONDS = 0.05


class Place:
    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url

    @property
    def identity(self) -> ManageIdentity:
        settings = load_settings(self.folder)
        return manage_identity(settings, open_state(settings))

    @property
    def context(self) -> PlaneContext:
        settings = load_settings(self.folder)
        return context_of(settings, open_state(settings))

    def token(self, name: str, *actions: Action, on: str = "") -> str:
        return self.identity.create_token(name, actions, (on,) if on else ()).text

    def holder(self, name: str, *actions: Action, on: str = "") -> Client:
        """A client with a service token."""
        return connect(self.url, token=self.token(name, *actions, on=on))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr("lakeguard.relay.delivery_loop.QUIET_SECONDS", QUIET_SECONDS)
    whole = make_project(tmp_path, numbers_definitions(LoadType.APPEND))
    whole.deliver()
    service = open_service(str(tmp_path), parse_place("127.0.0.1:0"), tokens=True)
    with service.client, serving(create_app(service), listen(service)) as listener:
        yield Place(tmp_path, listener.url)


@pytest.mark.parametrize("token", ["lgs1_nothing", "e30.e30.e30", "lgt1_e30.e30.e30"])
def test_nobody_is_let_in_without_a_valid_token(place: Place, token: str) -> None:
    with pytest.raises(BadToken):
        connect(place.url, token=token)


def test_whoever_sends_no_token_is_told_so(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKEGUARD_TOKEN", raising=False)
    with pytest.raises(NotAuthenticated, match="no token was sent") as refused:
        connect(place.url)
    assert refused.value.next_step == "set LAKEGUARD_TOKEN to a valid token"


def test_a_token_is_good_for_its_actions(place: Place) -> None:
    reads = place.holder("reads", Action.READ)
    assert [row.dataset_name for row in reads.reader.datasets()] == [NUMBERS]
    with pytest.raises(NotPermitted):
        reads.operations.submit(NUMBERS, "somebody else")
    runs = place.holder("runs", Action.READ, Action.RUN)
    task = runs.jobs.task(runs.operations.submit(NUMBERS, "somebody else"))
    assert "runs" in task.triggered_by


def test_what_callers_write_is_delivered_soon(place: Place) -> None:
    writes = place.holder("writes", Action.READ, Action.RUN)
    relay = Relay(place.context, place.context.lake)
    for trigger in ("first", "later"):
        writes.operations.submit(NUMBERS, trigger)
        until = time.monotonic() + 20
        while not relay.is_idle() and time.monotonic() < until:
            time.sleep(QUIET_SECONDS)
        assert relay.is_idle(), trigger
        time.sleep(10 * QUIET_SECONDS)  # a delivery makes commits, too


def test_a_key_makes_a_request_safe_to_repeat(place: Place) -> None:
    token = place.token("runs", Action.READ, Action.RUN)
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "once"}

    def submitted(trigger: str) -> httpx.Response:
        path = f"{place.url}/api/v1/datasets/{NUMBERS}/tasks"
        return httpx.post(path, json={"triggered_by": trigger}, headers=headers)

    first, again = submitted("a"), submitted("a")
    assert first.status_code == 200
    assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    assert submitted("b").status_code == 422, "the key stands for another request"


@pytest.mark.parametrize("around", [" ", "\n"])
def test_blanks_around_a_token_are_not_sent(place: Place, around: str) -> None:
    token = place.token("reads", Action.READ)
    assert connect(place.url, token=f"{around}{token}{around}").reader.datasets()


@pytest.mark.parametrize("inside", [" ", "\n", "ä"])
def test_what_cannot_be_sent_is_no_token_and_not_shown(place: Place, inside: str) -> None:
    token = place.token("reads", Action.READ)
    with pytest.raises(BadToken) as refused:
        connect(place.url, token=token[:9] + inside + token[9:])
    assert token[9:] not in str(refused.value)


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
    monkeypatch.setattr("lakeguard.access.authenticate.FRESH_SECONDS", 0.0)
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
