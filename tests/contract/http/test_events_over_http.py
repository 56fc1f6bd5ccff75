"""Events of other systems at the door: signed, or from this machine, and each of them once."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from lakeguard.http import parse_place
from lakeguard.http.inbox import FRESH_SECONDS, is_fresh, is_signed
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.apply_plan import apply_plan
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.store import read_state
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.settings.settings import SecretReference
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import BadListenAddress, ListenAddressInUse, SettingsError
from lakeguard_sdk.model.definitions import Definitions, JobDefinition
from lakeguard_sdk.security.signed_webhook import signature
from tests.support.fakes.http_clients import (
    SECRET,
    Inbox,
    Reply,
    ask,
    door,
    signed,
)
from tests.support.fakes.task_tokens import token_of
from tests.support.projects.running_tasks import begun, make_context

JSON = {"Content_Type": "application/json"}
SWEEP = JobDefinition(
    job="sweep",
    type="python",
    config={"call": "jobs:main", "on_event": json.dumps({"detail-type": ["dusty"]})},
)
NAMED = SecretReference(
    settings_file="/srv/prod/lakeguard.toml", key="inbox.secret", variable="DOOR_SECRET"
)


@pytest.fixture
def context(database: Database, tmp_path: Path) -> PlaneContext:
    """With one job, deployed, which waits for events of one kind."""
    made = make_context(database, tmp_path)
    with OrganisationState.of(database, made.org_id).write() as tx:
        plan = make_plan(Definitions(jobs=(SWEEP,)), read_state(tx))
        apply_plan(tx, plan, "tester", made.clock())
    EmbeddedJobs(made).deploy("tests")
    return made


def event(number: int = 1, kind: str = "dusty", **detail: object) -> bytes:
    given = {"id": f"e-{number}", "source": "tests.rooms", "detail-type": kind, "detail": detail}
    more = {"version": "0", "account": "1", "region": "here", "time": "2026-01-01T00:00:00Z"}
    return json.dumps({**given, **more, "resources": []}).encode()


def send(inbox: Inbox, body: bytes, **headers: str) -> Reply:
    return ask(inbox, "POST", "/api/v1/events", body, **{**JSON, **headers})


def test_an_event_launches_its_jobs_once(context: PlaneContext) -> None:
    with door(context, secret=SECRET) as inbox:
        first = send(inbox, event(), **signed(event()))
        again = send(inbox, event(), **signed(event()))
        other = send(inbox, event(2, "clean"), **signed(event(2, "clean")))
        differs = send(inbox, event(1, room=9), **signed(event(1, room=9)))
    assert first.status == again.status == other.status == 200
    (launch,) = first.data["launches"]
    assert (launch["job"], launch["state"], launch["new"]) == ("sweep", "queued", True)
    assert [(each["task_id"], each["new"]) for each in again.data["launches"]] == [
        (launch["task_id"], False)
    ]
    assert other.data["launches"] == []
    assert (differs.status, differs.data["code"]) == (409, "LG-3341")


def test_what_is_not_signed_is_not_heard(context: PlaneContext) -> None:
    body, now = event(), time.time()
    right = signed(body)
    refused = {
        "a signature of another body": ({**signed(event(2))}, 403),
        "another secret": (signed(body, "guessed"), 403),
        "an old moment": (signed(body, at=now - 2 * FRESH_SECONDS), 403),
        "a moment to come": (signed(body, at=now + 2 * FRESH_SECONDS), 403),
        "no moment": ({"X_LakeGuard_Signature": right["X_LakeGuard_Signature"]}, 403),
        "another moment": ({**right, "X_LakeGuard_Timestamp": str(int(now) + 1)}, 403),
        "no signature": ({}, 401),
        "a task's token": ({"Authorization": f"Bearer {token_of(begun(context))}"}, 403),
    }
    with door(context, secret=SECRET) as inbox:
        for kind, (headers, status) in refused.items():
            assert send(inbox, body, **headers).status == status, kind
        assert send(inbox, body, **right).data["launches"][0]["new"] is True


def test_a_door_whose_secret_is_not_there_stays_shut(
    context: PlaneContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DOOR_SECRET", raising=False)
    with pytest.raises(SettingsError, match="DOOR_SECRET"), door(context, secret=NAMED.resolve):
        pass


def test_who_knocks_hears_nothing_of_the_settings(
    context: PlaneContext, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The secret went away while the door was open: come again, and no word of where it was."""
    monkeypatch.setenv("DOOR_SECRET", SECRET)
    with door(context, secret=NAMED.resolve) as inbox:
        monkeypatch.delenv("DOOR_SECRET")
        reply = send(inbox, event(), **signed(event(), "guessed"))
        assert (reply.status, "retry-after" in reply.headers) == (503, True)
        assert not any(word in reply.body for word in (b"DOOR_SECRET", b"/srv", b"lakeguard.toml"))
        assert "DOOR_SECRET" in caplog.text, "whoever runs the dispatcher sees it"
        monkeypatch.setenv("DOOR_SECRET", SECRET)
        assert send(inbox, event(), **signed(event())).status == 200


def test_without_a_secret_this_machine_alone_is_heard(context: PlaneContext) -> None:
    with door(context) as inbox:
        assert send(inbox, event()).status == 200
        assert send(inbox, event(2), Host="evil.example").status == 403
        assert send(inbox, event(2), Origin="http://127.0.0.1").status == 403
        plain = send(inbox, event(2), Content_Type="text/plain")
        assert (plain.status, b"application/json" in plain.body) == (415, True)
        assert send(inbox, event(2), Host="localhost").data["launches"][0]["new"] is True
    with door(context, "0.0.0.0:0") as inbox:
        assert send(inbox, event(3)).status == 403
        assert ask(inbox, "GET", "/readyz").status == 200


def test_what_is_no_event_is_refused(context: PlaneContext) -> None:
    with door(context) as inbox:
        for body in (b"", b"[]", b"{}", b"nothing", b"[" * 100_000, event()[:-1]):
            reply = send(inbox, body)
            assert reply.status == 422, body[:20]
            assert reply.headers["content-type"] == "application/problem+json"
        secret = send(inbox, event(9, key="AKIA" + "A1B2C3D4E5F6G7H8"))
        assert (secret.status, secret.data["code"]) == (422, "LG-1642")
        assert send(inbox, b" " * 300_000).status == 413


def test_only_the_secret_signs() -> None:
    right = signature(SECRET, "100", b"x")
    assert is_signed(SECRET, "100", right, b"x")
    for moment, reported in (("101", right), ("100", "ü"), ("100", "")):
        assert not is_signed(SECRET, moment, reported, b"x")


def test_only_what_was_signed_a_moment_ago_is_fresh() -> None:
    assert is_fresh("100", 100.0 + FRESH_SECONDS)
    assert is_fresh(str(100 + FRESH_SECONDS), 100.0)
    assert not is_fresh("100", 101.0 + FRESH_SECONDS)
    for moment in ("", "-100", "1e2", "\N{SUPERSCRIPT ONE}00"):
        assert not is_fresh(moment, 100.0)


def test_an_old_message_hears_of_the_clock(context: PlaneContext) -> None:
    with door(context, secret=lambda: SECRET) as inbox:
        headers = {**signed(event()), "X_LakeGuard_Timestamp": "100"}
        reply = send(inbox, event(), **headers)
        assert (reply.status, b"from this clock" in reply.body) == (403, True)


def test_places() -> None:
    assert parse_place("127.0.0.1:80").is_loopback
    assert parse_place("[::1]:80").is_loopback
    assert parse_place("localhost:0").is_loopback
    assert not parse_place("0.0.0.0:80").is_loopback
    assert not parse_place("localhost.example:80").is_loopback
    assert str(parse_place("[::1]:80")) == "[::1]:80"
    for wrong in ("", "80", "localhost", "a:b", "a:99999", "a:1\n", "http://a:1", "a b:1"):
        with pytest.raises(BadListenAddress):
            parse_place(wrong)


def test_a_place_that_is_taken(context: PlaneContext) -> None:
    with door(context) as inbox, pytest.raises(ListenAddressInUse), door(context, str(inbox.place)):
        pass
