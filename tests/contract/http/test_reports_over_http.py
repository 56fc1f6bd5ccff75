"""The door for those outside, over real sockets, on each kind of State."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.promotion.context import PlaneContext
from lakeguard.state import schema as t
from lakeguard.state.database import Database
from lakeguard_sdk.core.enums import TaskKind, TaskState
from lakeguard_sdk.scheduling.tasks import TaskAnswer
from tests.support.databases.databases import fresh_database
from tests.support.fakes.http_clients import (
    Inbox,
    Reply,
    ask,
    door,
    send_report,
)
from tests.support.fakes.killed_at import meanwhile
from tests.support.fakes.task_tokens import token_of
from tests.support.projects.planes import Clock
from tests.support.projects.running_tasks import (
    BROKEN,
    DONE,
    begun,
    make_context,
)
from tests.support.projects.triggered_jobs import counted_statements

_numbers = itertools.count(1)


@pytest.fixture
def context(state: Database, tmp_path: Path) -> PlaneContext:
    return make_context(state, tmp_path, Clock(), org_id=f"org_{next(_numbers)}")


@pytest.fixture
def inbox(context: PlaneContext) -> Iterator[Inbox]:
    with door(context) as opened:
        yield opened


def problem(reply: Reply) -> tuple[int, str]:
    """Every refusal has the same form, and tells nothing of the program."""
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.data["status"] == reply.status
    assert b"Traceback" not in reply.body
    assert b"sqlalchemy" not in reply.body
    return reply.status, reply.data["title"]


def results(context: PlaneContext) -> int:
    table = t.task_results
    with context.read() as tx:
        return len(tx.execute(select(table).where(table.c.org_id == context.org_id)).all())


# -- reports -------------------------------------------------------------------------------------


def test_a_report_is_answered_and_the_same_again_alike(context: PlaneContext, inbox: Inbox) -> None:
    ticket = begun(context, TaskKind.HTTP)
    first = send_report(inbox, ticket, DONE.to_json())
    assert (first.status, first.headers["content-type"]) == (200, "application/json")
    assert TaskAnswer.from_json(first.body).state is TaskState.COMPLETED
    assert send_report(inbox, ticket, DONE.to_json()).body == first.body


def test_a_hundred_at_once_get_the_same_bytes(context: PlaneContext, inbox: Inbox) -> None:
    ticket = begun(context)
    gate = threading.Barrier(25)

    def send(_: int) -> tuple[int, bytes]:
        gate.wait()
        reply = send_report(inbox, ticket, DONE.to_json())
        return reply.status, reply.body

    with ThreadPoolExecutor(25) as pool:
        replies = list(pool.map(send, range(100)))
    assert len(set(replies)) == 1
    assert replies[0][0] == 200
    assert results(context) == 1


def test_a_late_another_and_an_incomplete_report(context: PlaneContext, inbox: Inbox) -> None:
    ticket = begun(context)
    incomplete = send_report(inbox, ticket, '{"success": true}')
    assert problem(incomplete) == (422, "report refused")
    assert incomplete.data["code"] == "LG-1611"
    assert send_report(inbox, ticket, DONE.to_json()).status == 200
    assert problem(send_report(inbox, ticket, BROKEN.to_json())) == (409, "report conflict")
    stale = ticket.model_copy(update={"lease_token": "lease_old"})
    assert problem(send_report(inbox, stale, DONE.to_json())) == (409, "fenced")
    nobody = ticket.model_copy(update={"task_id": "task_x", "run_id": "run_x"})
    assert problem(send_report(inbox, nobody, DONE.to_json()))[0] == 404
    build = begun(context, TaskKind.BUILD)
    assert problem(send_report(inbox, build, DONE.to_json())) == (422, "not reported")


def test_a_reply_that_was_lost_is_given_again(context: PlaneContext, inbox: Inbox) -> None:
    """Something breaks between the commit and the answer; the caller comes again."""
    ticket = begun(context)
    with meanwhile("report.recorded", cut):
        assert problem(send_report(inbox, ticket, DONE.to_json()))[0] == 500
    assert results(context) == 1
    again = send_report(inbox, ticket, DONE.to_json())
    assert TaskAnswer.from_json(again.body).state is TaskState.COMPLETED
    assert results(context) == 1


def cut() -> None:
    raise ConnectionResetError


def test_another_organisation_answers_as_if_there_were_no_such_task(
    context: PlaneContext, inbox: Inbox, tmp_path: Path
) -> None:
    ticket = begun(context)
    nobody = ticket.model_copy(update={"task_id": "task_0", "run_id": "run_0"})
    with door(make_context(context.database, tmp_path, org_id="others")) as strangers:
        theirs = send_report(strangers, ticket, DONE.to_json())
        none = send_report(strangers, nobody, DONE.to_json())
    assert theirs.status == none.status == 404
    assert theirs.body.replace(ticket.task_id.encode(), b"task_0") == none.body
    assert send_report(inbox, ticket, DONE.to_json()).status == 200


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer x", "Basic YTpi", "Bearer lgt1_" + "A" * 5_000]
)
def test_without_a_token_nobody_reports(
    context: PlaneContext, inbox: Inbox, header: str | None
) -> None:
    described = {} if header is None else {"Authorization": header}
    for path in ("/api/v1/tasks/report", "/api/v1/tasks/keep"):
        reply = ask(inbox, "POST", path, DONE.to_json().encode(), **described)
        assert problem(reply) == (401, "bad token")
        assert reply.headers["www-authenticate"] == "Bearer"


def test_a_lease_is_kept_for_as_long_as_its_attempt_runs(
    context: PlaneContext, inbox: Inbox
) -> None:
    ticket = begun(context, TaskKind.HTTP)
    token = {"Authorization": f"Bearer {token_of(ticket)}"}
    for body in (None, b"{}"):
        reply = ask(inbox, "POST", "/api/v1/tasks/keep", body, **token)
        assert (reply.status, reply.data) == (200, {"lease_seconds": 120})
    stale = ticket.model_copy(update={"lease_token": "lease_old"})
    forged = ask(inbox, "POST", "/api/v1/tasks/keep", Authorization=f"Bearer {token_of(stale)}")
    assert problem(forged) == (409, "fenced")
    send_report(inbox, ticket, DONE.to_json())
    assert problem(ask(inbox, "POST", "/api/v1/tasks/keep", **token)) == (409, "fenced")


# -- what is no report ---------------------------------------------------------------------------

ODD_BODIES = {
    "empty": b"",
    "half": b'{"success": tr',
    "a list": b"[]",
    "twice": b'{"success": true, "success": false}',
    "not a number": b'{"success": true, "outputs": {"swept": {"rows": NaN}}}',
    "digits": b'{"success": true, "outputs": {"swept": {"rows": ' + b"9" * 10_000 + b"}}}",
    "huge": b'{"success": true, "outputs": {"swept": {"notes": {"a": 1e999}}}}',
    "NUL": b'{"success": true, "outputs": {"swept": {"location": "a\\u0000"}}}',
    "half a character": b'{"success": true, "outputs": {"swept": {"location": "\\ud800"}}}',
    "not UTF-8": b'{"success": true, "x": "\xff"}',
    "deep": b'{"success": true, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep notes": b'{"success":true,"outputs":{"swept":{"notes":{"a":'
    + b"[" * 190 + b"]" * 190 + b"}}}, \"x\": 1}",
    "unknown fields": b'{"success": true, "org_id": "others"}',
    "a state": b'{"success": true, "state": "completed", "attempt": 9}',
    "an output's name": b'{"success": true, "outputs": {"../x": {}}}',
    "a text for a truth": b'{"success": "yes", "outputs": {"swept": {}}}',
    "a number for a truth": b'{"success": 1, "outputs": {"swept": {}}}',
    "a text for a count": b'{"success": true, "outputs": {"swept": {"rows": "7"}}}',
    "a credential": b'{"success": false, "error": {"code": "AKIAIOSFODNN7EXAMPLE",'
    b'"message": "x"}}',
    "a negative count": b'{"success": true, "outputs": {"swept": {"rows": -1}}}',
}  # fmt: skip


def test_a_body_that_is_no_report_is_refused(context: PlaneContext, inbox: Inbox) -> None:
    ticket = begun(context)
    for kind, body in ODD_BODIES.items():
        assert problem(send_report(inbox, ticket, body))[0] == 422, kind
    assert results(context) == 0
    assert send_report(inbox, ticket, DONE.to_json()).status == 200


def test_a_large_body_is_refused_before_it_is_read(context: PlaneContext, inbox: Inbox) -> None:
    ticket = begun(context)
    assert problem(send_report(inbox, ticket, b" " * 300_000))[0] == 413
    token = f"Authorization: Bearer {token_of(ticket)}\r\n".encode()
    start = b"POST /api/v1/tasks/report HTTP/1.1\r\nHost: x\r\n" + token
    for more in (
        b"Content-Length: 99999999999\r\n\r\n{",
        b"Content-Length: " + b"9" * 19 + b"\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n"
        + b"10000\r\n"
        + b" " * 0x10000
        + b"\r\n10000\r\n"
        + b" " * 0x10000
        + b"\r\n10000\r\n"
        + b" " * 0x10000
        + b"\r\n10000\r\n"
        + b" " * 0x10000
        + b"\r\n1\r\n \r\n",
    ):
        assert first_line(inbox, start + more).startswith(b"HTTP/1.1 413 "), more[:30]
    gzip = b"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n{"
    assert first_line(inbox, start + gzip).startswith(b"HTTP/1.1 415 ")


def first_line(inbox: Inbox, raw: bytes) -> bytes:
    """Of the answer, while the sender has not said that it is done."""
    with closing(socket.create_connection(("127.0.0.1", inbox.place.port), 30)) as sock:
        sock.sendall(raw)
        return sock.recv(65_536).partition(b"\r\n")[0]


def test_a_sender_of_far_too_much_hears_that_it_is_too_much(
    context: PlaneContext, inbox: Inbox
) -> None:
    """It writes all that it has before it listens: the door takes it in, and drops it."""
    ticket = begun(context)
    for _ in range(3):
        reply = send_report(inbox, ticket, b" " * 10_000_000)
        assert reply.status == 413
        assert "at most 262,144 bytes" in reply.data["detail"]
    assert send_report(inbox, ticket, DONE.to_json()).status == 200


def test_what_comes_without_end_is_let_go(inbox: Inbox) -> None:
    head = b"POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", inbox.place.port), 30)) as sock:
        sock.sendall(head)
        with pytest.raises(OSError, match=r"pipe|reset"):
            sock.sendall(b" " * 200_000_000)
    assert ask(inbox, "GET", "/readyz").status == 200


def test_requests_that_are_none(inbox: Inbox) -> None:
    wrong = {
        b"hello\r\n\r\n": b"400",
        b"GET /readyz\r\n\r\n": b"400",
        b"GET " + b"/x" * 40_000 + b" HTTP/1.1\r\n\r\n": b"400",
        b"GET /readyz HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 40_000 + b"\r\n": b"400",
        b"POST /api/v1/events HTTP/1.1\r\nContent-Length: -1\r\n\r\n": b"400",
        b"POST /api/v1/events HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}": b"400",
        b"BREW /api/v1/events HTTP/1.1\r\nHost: x\r\n\r\n": b"405",
    }
    for raw, status in wrong.items():
        got = first_line(inbox, raw)
        assert got.startswith(b"HTTP/1.1 " + status), raw[:40]
    assert ask(inbox, "GET", "/readyz").status == 200


def test_health_reads_nothing_of_an_organisation(inbox: Inbox, context: PlaneContext) -> None:
    with counted_statements(context.database) as given:
        assert ask(inbox, "GET", "/readyz").data == {"status": "ok"}
    assert given, "the State was asked"
    assert [text for text in given if "org_id" in text] == []


def test_only_what_there_is_can_be_asked(inbox: Inbox) -> None:
    for path in ("/", "/tasks", "/api/v1/tasks/report/", "/api/v1/tasks/../readyz", "/readyz/"):
        assert problem(ask(inbox, "GET", path))[0] == 404, path
    for method, path in (
        ("GET", "/api/v1/tasks/report"),
        ("POST", "/readyz"),
        ("PUT", "/api/v1/events"),
    ):
        reply = ask(inbox, method, path)
        assert problem(reply)[0] == 405
        assert reply.headers["allow"] in ("GET, HEAD", "HEAD, GET", "POST")
    assert ask(inbox, "HEAD", "/readyz").body == b""
    assert problem(ask(inbox, "GET", "/readyz", Origin="https://evil.example"))[0] == 403


def test_who_never_comes_to_an_end_is_let_go(context: PlaneContext) -> None:
    ticket = begun(context)
    held = f"Authorization: Bearer {token_of(ticket)}\r\n"
    slow = f"POST /api/v1/tasks/report HTTP/1.1\r\nHost: x\r\n{held}"
    with door(context, patience=0.3) as inbox:
        with_body = slow.encode() + b"Content-Length: 100\r\n\r\n{"
        assert hang(inbox, with_body).startswith(b"HTTP/1.1 408 ")
        assert hang(inbox, slow.encode()) == b""
        assert ask(inbox, "GET", "/readyz").status == 200


def test_who_finds_no_room_is_asked_to_come_again(context: PlaneContext) -> None:
    with door(context, at_once=1) as inbox:
        with socket.create_connection(("127.0.0.1", inbox.place.port), 10) as first:
            first.sendall(b"POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
            deadline = time.monotonic() + 10
            while (reply := ask(inbox, "GET", "/readyz")).status == 200:
                assert time.monotonic() < deadline
            assert problem(reply) == (429, "service busy")
            assert int(reply.headers["retry-after"]) > 0
        while ask(inbox, "GET", "/readyz").status != 200:
            assert time.monotonic() < deadline


def hang(inbox: Inbox, raw: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", inbox.place.port), 10) as sock:
        sock.sendall(raw)
        return sock.recv(100)


def test_a_mistake_of_ours_is_logged_and_a_broken_connection_is_not(
    context: PlaneContext, caplog: pytest.LogCaptureFixture
) -> None:
    ticket = begun(context)
    with door(context) as inbox:
        with meanwhile("report.recorded", mistaken):
            reply = send_report(inbox, ticket, DONE.to_json())
        assert (problem(reply)[0], b"a mistake" in reply.body) == (500, False)
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "a mistake" in caplog.text
        caplog.clear()
        with closing(socket.create_connection(("127.0.0.1", inbox.place.port), 30)) as sock:
            sock.sendall(b"POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
        assert ask(inbox, "GET", "/readyz").status == 200
    assert caplog.records == []


def mistaken() -> None:
    raise KeyError("a mistake")


def test_a_state_that_is_gone_is_asked_again_later(tmp_path: Path) -> None:
    context = make_context(fresh_database("sqlite", tmp_path), tmp_path)
    ticket = begun(context)
    with door(context) as inbox:
        for file in tmp_path.glob("state-*.db"):
            file.rename(file.with_suffix(".gone"))
            file.mkdir()
        context.database.engine.dispose()
        for reply in (send_report(inbox, ticket, DONE.to_json()), ask(inbox, "GET", "/readyz")):
            assert problem(reply)[0] == 503
            assert int(reply.headers["retry-after"]) > 0
            assert str(tmp_path).encode() not in reply.body
        for place in tmp_path.glob("state-*.db"):
            place.rmdir()
            place.with_suffix(".gone").rename(place)
        assert send_report(inbox, ticket, DONE.to_json()).status == 200
