"""Reports of any content: what is promised is taken, and nothing that is sent breaks the door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard.dispatch.report import checked_report, outputs_problem, report_hash
from lakeguard.http.inbox import Inbox, Request
from lakeguard.http.listen_address import Place
from lakeguard.http.responses import answer_to
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import ReportRefused
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.scheduling.tasks import Output, TaskReport
from tests.support.databases.databases import discard, fresh_database
from tests.support.fakes.http_clients import Ports
from tests.support.fakes.task_tokens import ticket_of, token_of
from tests.support.projects.running_tasks import begun, make_context

EXACT = 2**53
"""Beyond it canonical JSON writes numbers as texts."""
NAMES = st.sampled_from(["swept", "dust", "bill"])
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-EXACT, EXACT)
    | st.floats(-EXACT, EXACT)
    | st.sampled_from([float("nan"), float("inf")])
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
OUTPUTS = st.builds(
    Output,
    location=st.none() | st.text(max_size=30),
    rows=st.none() | st.integers(0, 2**70),
    notes=st.dictionaries(st.text(max_size=5), PLAIN, max_size=3),
)
REPORTS = st.builds(
    TaskReport,
    success=st.booleans(),
    outputs=st.dictionaries(NAMES, OUTPUTS, max_size=3),
    error=st.none() | st.builds(Failure, code=st.text(max_size=5), message=st.text(max_size=30)),
)
TICKETS = st.builds(
    RunTicket, run_id=NAMES, task_id=NAMES, attempt=st.integers(0, 3), lease_token=NAMES
)
TAKEN = (200, 401, 403, 404, 409, 413, 422)


@given(st.sets(NAMES), st.sets(NAMES), st.booleans())
def test_a_success_brings_exactly_what_is_promised(
    expected: set[str], brought: set[str], success: bool
) -> None:
    report = TaskReport(success=success, outputs={name: Output() for name in brought})
    assert (outputs_problem(report, expected) is None) == (not success or brought == expected)


@given(TICKETS, REPORTS)
def test_what_is_taken_can_be_kept_and_is_taken_again_alike(
    ticket: RunTicket, report: TaskReport
) -> None:
    try:
        kept = checked_report(ticket, report)
    except ReportRefused:
        return
    assert checked_report(ticket, kept) == kept
    assert TaskReport.from_json(kept.to_json()) == kept
    assert "\0" not in (kept.error.message if kept.error else "")
    assert report.success == (report.error is None)


@given(TICKETS, TICKETS, REPORTS, REPORTS)
def test_only_the_same_has_the_same_hash(
    one: RunTicket, two: RunTicket, first: TaskReport, second: TaskReport
) -> None:
    try:
        first, second = checked_report(one, first), checked_report(two, second)
    except ReportRefused:
        return
    same = one == two and first.to_json() == second.to_json()
    assert (report_hash(one, first) == report_hash(two, second)) == same


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inbox, str]]:
    """Without its sockets, and the token of an attempt that runs."""
    folder: Path = tmp_path_factory.mktemp("door")
    database = fresh_database("sqlite", folder)
    context = make_context(database, folder)
    ports = Ports(cast(Any, None), EmbeddedDispatch(context), cast(Any, None))
    inbox = Inbox(cast(Client, ports), Place("127.0.0.1", 1), None, ticket_of)
    yield inbox, token_of(begun(context))
    discard(database)


BODIES = (
    st.binary(max_size=60)
    | PLAIN.map(lambda data: json.dumps(data).encode())
    | REPORTS.map(lambda report: json.dumps(report.model_dump()).encode())
    | st.dictionaries(
        st.sampled_from(["success", "outputs", "error", "org_id", "state"]), PLAIN, max_size=4
    ).map(lambda data: json.dumps(data).encode())
)


@given(BODIES, st.booleans())
def test_no_body_breaks_the_door(door: tuple[Inbox, str], body: bytes, held: bool) -> None:
    inbox, token = door
    values = {"authorization": f"Bearer {token if held else token[:-4]}"}
    try:
        answer = inbox.answer(Request("/api/v1/tasks/report", values, body))
    except Exception as error:  # noqa: BLE001 - as the door itself does
        answer = answer_to(error)
    assert answer.status in TAKEN, body
    json.loads(answer.body)
