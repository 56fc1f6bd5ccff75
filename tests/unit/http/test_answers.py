"""What is told outside of an error."""

from __future__ import annotations

import json
from dataclasses import replace
from http import HTTPStatus

import pytest

from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen
from lakeguard.http.responses import answer_to, status_of
from lakeguard_sdk.errors import (
    LakeGuardError,
    ListenerOpen,
    NotRegistered,
    StateLoginRefused,
    error_classes,
)
from lakeguard_sdk.model.verification import VerifyReport
from tests.support.fakes.asked_app import AskedApp


def test_a_state_that_lets_nobody_in_is_away_for_those_outside() -> None:
    answer = answer_to(
        StateLoginRefused(place="postgresql://clerk@there/x", reason="password failed")
    )
    document = json.loads(answer.body)
    assert (int(answer.status), document["code"], document["retryable"]) == (503, "LG-6003", True)
    assert "Retry-After" in answer.headers
    assert b"clerk" not in answer.body
    assert b"password" not in answer.body


def test_a_refusal_has_the_code_of_the_command_line(app: AskedApp) -> None:
    reply = app.get("/datasets/silver.nowhere")
    error = NotRegistered(dataset="silver.nowhere")
    assert reply.json() | {"next": error.next_step} == reply.json()
    assert (reply.json()["code"], reply.json()["detail"]) == (error.code, str(error))
    assert reply.json()["fields"] == {"dataset": "silver.nowhere", "hint": ""}


def test_definitions_that_changed_are_not_overwritten(app: AskedApp) -> None:
    held = app.get("/definitions")
    tag = held.headers["etag"]
    assert app.get("/definitions", If_None_Match=tag).status_code == 304
    plan = app.post("/plans", {"definitions": held.json()}).json()
    assert app.post("/applies", {"plan": plan}, If_Match='"other"').status_code == 412
    assert app.post("/applies", {"plan": plan}, If_Match=tag).status_code == 200


def test_every_error_has_a_status_of_4xx_unless_something_is_away() -> None:
    away = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.INSUFFICIENT_STORAGE, HTTPStatus.BAD_GATEWAY)
    for kind in error_classes():
        status = status_of(kind)
        assert 400 <= status < 500 or status in away or kind is LakeGuardError, kind


def test_an_operation_that_was_lost_is_unknown(app: AskedApp) -> None:
    reply = app.get("/operations/op_0")
    assert (reply.status_code, reply.json()["code"]) == (404, "LG-1701")


def test_a_long_operation_is_asked_for_until_it_ends(app: AskedApp) -> None:
    started = app.post("/ledger/verify", {})
    assert started.status_code == 202
    place, state = started.headers["location"], started.json()
    lines = list(state["progress"])
    while state["status"] == "running":
        state = app.send("GET", f"{place}?after={state['lines']}&wait=5").json()
        lines += state["progress"]
    assert state["status"] == "done"
    assert VerifyReport.model_validate(state["result"]).findings == ()
    assert "checking history" in lines


def test_requests_are_logged_without_values(
    app: AskedApp, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", "lakeguard.access"):
        app.get("/runs/run_17?x=hidden", Authorization="Bearer hidden", X_Request_Id="r-1")
    (line,) = [record.message for record in caplog.records if record.name == "lakeguard.access"]
    assert json.loads(line)["run_id"] == "run_17"
    assert json.loads(line)["request_id"] == "r-1"
    assert "hidden" not in line


def test_without_users_other_machines_are_refused(app: AskedApp) -> None:
    everywhere = replace(app.service, place=parse_place("0.0.0.0:0"))
    with pytest.raises(ListenerOpen):
        listen(everywhere)


def test_figures_are_shown_without_values(app: AskedApp) -> None:
    app.send("GET", "/metrics")
    app.post("/datasets/bronze.numbers/tasks", {"triggered_by": "x"})
    app.get("/datasets?page_size=hidden")
    text = app.send("GET", "/metrics").text
    counted = 'lakeguard_requests_total{operation="operations.submit",status="200"}'
    assert counted in text
    assert 'lakeguard_requests_total{operation="reader.datasets",status="422"} 1.0' in text
    assert 'lakeguard_quarantined_rows{dataset="bronze.numbers"} 0.0' in text
    assert 'lakeguard_tasks{state="queued"} ' in text
    assert "lakeguard_outbox_rows " in text
    assert "hidden" not in text
    assert app.send("GET", "/metrics", Authorization="Bearer guess").status_code == 401
