"""An Idempotency-Key makes an action safe to repeat."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from lakeguard.services.request_keys import LIFETIME, RequestKeys, StoredAnswer
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import KeyInUse, KeyReused, StateCommitUnknown
from lakeguard_sdk.ports import Operations
from tests.support.databases.databases import fresh_database
from tests.support.fakes.asked_app import AskedApp
from tests.support.projects.planes import Clock

TASKS = "/datasets/bronze.numbers/tasks"
ANSWER = StoredAnswer(200, '{"task_id":"task_1"}', "application/json")


def tasks(app: AskedApp) -> int:
    return len(app.get("/tasks?page_size=1000").json()["items"])


def test_the_first_answer_is_given_again(app: AskedApp) -> None:
    before, key = tasks(app), {"Idempotency_Key": "one"}
    first = app.post(TASKS, {"triggered_by": "x"}, **key)
    again = app.post(TASKS, {"triggered_by": "x"}, **key)
    assert first.status_code == again.status_code == 200
    assert first.content == again.content
    assert again.headers["idempotency-replayed"] == "true"
    assert tasks(app) == before + 1
    refused = [app.post("/datasets/silver.nowhere/tasks", {"triggered_by": "x"}, **key)]
    assert [reply.status_code for reply in refused] == [422], "the key stands for another request"


@dataclass(frozen=True)
class LostCommits:
    """Operations whose commits lose their answer."""

    operations: Operations
    made: list[str] = field(default_factory=list)

    def submit(self, *args: Any, **fields: Any) -> str:
        self.made.append(self.operations.submit(*args, **fields))
        raise StateCommitUnknown(place="there", reason="server closed the connection")


@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "lost"}])
def test_a_request_whose_commit_was_lost_is_not_repeated(
    app: AskedApp, key: dict[str, str]
) -> None:
    """Nobody asks for it again: neither a client that waits as it is told, nor the same key."""
    service, client = app.service, app.service.client
    lost = LostCommits(client.operations)
    losing = replace(client, operations=cast(Operations, lost))
    losing_app = AskedApp(replace(service, client_for=lambda _: losing))
    first = losing_app.post(TASKS, {"triggered_by": "x"}, **key)
    assert (first.status_code, first.json()["code"]) == (503, "LG-6014")
    assert (first.json()["retryable"], "retry-after" in first.headers) == (False, False)
    assert "there" not in first.text
    if key:
        again = losing_app.post(TASKS, {"triggered_by": "x"}, **key)
        assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    assert len(lost.made) == 1


def test_a_key_stands_for_one_request(app: AskedApp) -> None:
    key = {"Idempotency_Key": "two"}
    assert app.post(TASKS, {"triggered_by": "x"}, **key).status_code == 200
    other = app.post(TASKS, {"triggered_by": "y"}, **key)
    assert (other.status_code, other.json()["code"]) == (422, "LG-1703")
    for wrong in ("k" * 201, ""):
        assert app.post(TASKS, {"triggered_by": "x"}, Idempotency_Key=wrong).status_code == 422


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(tmp_path: Path, clock: Clock) -> RequestKeys:
    database = fresh_database("sqlite", tmp_path)
    database.migrate()
    return RequestKeys(OrganisationState.of(database, "default", clock), "somebody")


def test_a_request_without_an_answer_is_not_made_twice(keys: RequestKeys) -> None:
    assert keys.begin("k", "sha256:1") is None
    with pytest.raises(KeyInUse):
        keys.begin("k", "sha256:1")
    with pytest.raises(KeyReused):
        keys.begin("k", "sha256:2")
    keys.finish("k", ANSWER)
    assert keys.begin("k", "sha256:1") == ANSWER


def test_a_request_that_failed_for_a_while_may_be_made_again(keys: RequestKeys) -> None:
    assert keys.begin("k", "sha256:1") is None
    keys.finish("k", None)
    assert keys.begin("k", "sha256:2") is None


def test_a_key_expires(keys: RequestKeys, clock: Clock) -> None:
    assert keys.begin("k", "sha256:1") is None
    keys.finish("k", ANSWER)
    clock.pass_time((LIFETIME + timedelta(seconds=1)).total_seconds())
    assert keys.begin("k", "sha256:2") is None


def test_callers_have_keys_of_their_own(keys: RequestKeys) -> None:
    assert keys.begin("k", "sha256:1") is None
    assert RequestKeys(keys.state, "somebody else").begin("k", "sha256:2") is None
