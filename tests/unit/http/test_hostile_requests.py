"""What no client of ours sends is refused with 4xx, and named; nothing is an internal error."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from lakeguard.http.middleware import LARGEST_BODY
from lakeguard.http.request_values import checked_json
from lakeguard.http.responses import Declined
from tests.support.fakes.asked_app import AskedApp

TASKS = "/datasets/bronze.numbers/tasks"
BODIES = {
    "a state": b'{"triggered_by": "x", "state": "completed"}',
    "an organisation": b'{"triggered_by": "x", "org_id": "others"}',
    "nothing": b"",
    "a list": b"[]",
    "half": b'{"triggered_by": ',
    "twice": b'{"triggered_by": "x", "triggered_by": "y"}',
    "not a number": b'{"triggered_by": NaN}',
    "infinity": b'{"triggered_by": -Infinity}',
    "digits": b'{"triggered_by": "x", "key": ' + b"9" * 10_000 + b"}",
    "NUL": b'{"triggered_by": "a\\u0000"}',
    "half a character": b'{"triggered_by": "\\ud800"}',
    "not UTF-8": b'{"triggered_by": "\xff"}',
    "deep": b'{"triggered_by": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a number for a text": b'{"triggered_by": 1}',
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_body_that_is_no_call_is_refused(app: AskedApp, kind: str) -> None:
    reply = app.post(TASKS, BODIES[kind])
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert app.get("/tasks").json()["items"] == []


@pytest.mark.parametrize("key", ["swept", "rows", "message"])
def test_a_credential_is_found_below_any_key_that_callers_choose(key: str) -> None:
    body = json.dumps({"outputs": {key: {"location": f"AKIA{'A' * 16}"}}}).encode()
    with pytest.raises(Declined, match="credential"):
        checked_json(body, stored=True)


@pytest.mark.parametrize(
    "path",
    [
        "/runs?page_size=1000000000",
        "/runs?page_size=0",
        "/runs?page_size=x",
        "/runs?page_token=guess",
        "/runs?limit=5",
        "/runs?name=bronze.numbers&name=bronze.numbers",
        "/runs?name=a%00",
        "/runs?name=%ff",
        "/datasets/bronze.numbers/partitions?version=" + "9" * 40,
        "/datasets/bronze.numbers/resolved?as_of=2026-01-01T00:00:00",
        "/datasets/bronze.numbers/resolved?version=one",
        "/datasets/..%2f..%2fetc/versions",
        "/datasets/Bronze.Numbers/versions",
        "/datasets/" + "a" * 300 + "/versions",
        "/runs/a%00b",
        "/runs/x/trends?limit=1000000000",
        "/operations/x?wait=-1",
    ],
)
def test_a_parameter_out_of_bounds_is_refused(app: AskedApp, path: str) -> None:
    assert app.get(path).status_code in (404, 422)


@pytest.mark.parametrize("path", ["/datasets/silver.nowhere", "/runs/run_0", "/nothing"])
def test_what_does_not_exist_is_not_found(app: AskedApp, path: str) -> None:
    assert app.get(path).status_code == 404


def test_a_path_of_nothing_is_answered_with_where_to_look(app: AskedApp) -> None:
    assert "/api/v1/openapi.json" in app.get("/nothing").json()["detail"]


def test_a_time_that_is_none_is_told_how_to_write_one(app: AskedApp) -> None:
    told = app.get("/audit?since=yesterday").json()["detail"]
    assert told == "since: write a time as YYYY-MM-DDTHH:MM:SSZ"


def test_a_large_body_is_refused_however_it_comes(app: AskedApp) -> None:
    assert app.post(TASKS, b" " * (LARGEST_BODY + 1)).status_code == 413
    assert app.send("POST", "/api/v1/events", b" " * 300_000).status_code == 413

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b" " * 1_000_000

    async def asked() -> int:
        transport = httpx.ASGITransport(app.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.post(f"/api/v1{TASKS}", content=chunks())).status_code

    assert asyncio.run(asked()) == 413


def test_a_page_of_a_browser_reaches_nothing(app: AskedApp) -> None:
    assert app.get("/datasets", Host="rebound.example").status_code == 403
    assert app.get("/datasets", Origin="http://127.0.0.1:8600").status_code == 403
    assert app.get("/datasets", Host="localhost:8600").status_code == 200


def test_every_answer_has_its_id_and_is_not_kept_or_framed(app: AskedApp) -> None:
    reply = app.get("/datasets", X_Request_Id="mine-1")
    assert reply.headers["x-request-id"] == "mine-1"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-frame-options"] == "DENY"
    assert app.get("/datasets", X_Request_Id="a b").headers["x-request-id"] != "a b"


def test_a_token_that_nobody_gave_is_refused(app: AskedApp) -> None:
    for token in ("guess", "lgt1_guess"):
        reply = app.get("/datasets", Authorization=f"Bearer {token}")
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
