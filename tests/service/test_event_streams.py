"""Server-sent events of a run over a real socket."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakeguard.access import authenticate
from lakeguard.access.principal import Action
from lakeguard.http.app import create_app
from lakeguard.http.event_streams import MOST_OF_ONE, StreamTimes
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import open_state
from lakeguard.service_plane import manage_identity, open_service
from lakeguard.services.manage_identity import ManageIdentity
from lakeguard.settings import load_settings
from lakeguard_sdk.client import Client
from lakeguard_sdk.model.run import Failure
from tests.support.lakes.policy_datasets import opened
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.projects import numbers_project

FAST = StreamTimes(poll=0.01)
FAILURE = Failure(code="LG-5001", message="no", retryable=False)


@pytest.fixture(autouse=True)
def over_http() -> None:
    """These tests hold the embedded client beside the service."""


@dataclass
class Place:
    folder: Path
    client: Client
    """Embedded, of the same project."""
    url: str = ""
    stack: ExitStack = field(default_factory=ExitStack)

    def serve(self, times: StreamTimes = FAST, *, tokens: bool = False) -> None:
        service = open_service(str(self.folder), parse_place("127.0.0.1:0"), tokens=tokens)
        app = create_app(service, stream_times=times)
        self.url = self.stack.enter_context(serving(app, listen(service))).url

    @property
    def identity(self) -> ManageIdentity:
        settings = load_settings(self.folder)
        return manage_identity(settings, open_state(settings))

    @contextmanager
    def stream(self, run_id: str, **headers: str) -> Iterator[httpx.Response]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = {"Accept": "text/event-stream", **named}
        url = f"{self.url}/api/v1/runs/{run_id}/events"
        with httpx.stream("GET", url, headers=asked, timeout=30) as response:
            yield response


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path, numbers_project(tmp_path))
    with found.stack:
        yield found


def messages(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """Of the stream, until it ends."""
    message: dict[str, Any] = {}
    for line in response.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            message[name or "comment"] = value
        elif message:
            yield message
            message = {}


def names(response: httpx.Response) -> list[str]:
    return [each["event"] for each in messages(response) if "event" in each]


def test_a_stream_follows_the_run_and_ends_with_it(place: Place) -> None:
    place.serve()
    plan = opened(place.client)
    with place.stream(plan.ticket.run_id) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        found = messages(response)
        assert next(found) == {"retry": "2000"}
        first = [next(found) for _ in range(2)]
        assert [each["event"] for each in first] == ["started", "opened"]
        place.client.runs.fail_run(plan.ticket, FAILURE)
        (ended,) = found
    assert (ended["event"], ended["id"]) == ("ended", "ended")
    assert json.loads(ended["data"])["code"] == "LG-5001"


def test_a_stream_goes_on_after_the_last_event_that_was_seen(place: Place) -> None:
    place.serve()
    run_id = run_by_hand(place.client, [1]).run_id
    with place.stream(run_id, Last_Event_Id="decided") as response:
        assert names(response) == ["moving", "moved", "ended"]
    with place.stream(run_id, Last_Event_Id="ended") as response:
        assert response.status_code == 204
    with place.stream(run_id, Last_Event_Id="guess") as response:
        assert len(names(response)) == 7
    plain = httpx.get(f"{place.url}/api/v1/runs/{run_id}/events").json()
    assert len(plain["events"]) == 7


def test_a_quiet_stream_sends_comments(place: Place) -> None:
    place.serve(StreamTimes(poll=0.01, heartbeat=0.0))
    with place.stream(opened(place.client).ticket.run_id) as response:
        assert any(line == ": alive" for line in response.iter_lines())


def test_a_stream_ends_with_the_service(place: Place) -> None:
    place.serve()
    with place.stream(opened(place.client).ticket.run_id) as response:
        found = messages(response)
        assert [next(found) for _ in range(3)][-1]["event"] == "opened"
        place.stack.close()
        assert list(found) == []


def test_a_stream_that_is_too_long_ends_and_may_be_opened_again(place: Place) -> None:
    place.serve(StreamTimes(poll=0.01, longest=0.0))
    with place.stream(opened(place.client).ticket.run_id) as response:
        assert names(response) == ["started", "opened"]


def test_nobody_opens_streams_without_end(place: Place) -> None:
    place.serve()
    plan = opened(place.client)
    run_id = plan.ticket.run_id
    with ExitStack() as held:
        for _ in range(MOST_OF_ONE):
            held.enter_context(place.stream(run_id))
        with place.stream(run_id) as refused:
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    place.client.runs.fail_run(plan.ticket, FAILURE)
    while not answered(place, run_id):  # until the service has seen that the others left
        time.sleep(0.01)


def answered(place: Place, run_id: str) -> bool:
    with place.stream(run_id) as response:
        return response.status_code == 200


def test_only_readers_of_the_dataset_follow_its_runs(place: Place) -> None:
    place.serve(tokens=True)
    run_id = opened(place.client).ticket.run_id
    other = place.identity.create_token("other", [Action.READ], ["domain:other"]).text
    with place.stream(run_id) as response:
        assert response.status_code == 401
    with place.stream(run_id, Authorization=f"Bearer {other}") as response:
        assert response.status_code == 404
        assert response.headers["content-type"] == "application/problem+json"


def test_a_revoked_token_ends_its_streams(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authenticate, "FRESH_SECONDS", 0)  # else it is trusted for a while
    place.serve(StreamTimes(poll=0.01, check=0.0), tokens=True)
    run_id = opened(place.client).ticket.run_id
    token = place.identity.create_token("reads", [Action.READ], []).text
    with place.stream(run_id, Authorization=f"Bearer {token}") as response:
        found = messages(response)
        assert [next(found) for _ in range(3)][-1]["event"] == "opened"
        place.identity.revoke_token("reads", "no longer used")
        (last,) = found
    assert last["event"] == "problem"
    assert json.loads(last["data"])["code"] == "LG-3311"
