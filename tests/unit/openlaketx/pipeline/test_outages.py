"""Which calls of a run are repeated while its service is away, how long, and what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

import httpx
import pytest

from lakeguard_sdk.api.transport import RemotePort, Transport
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import BadToken, Fenced, StateCommitUnknown, StateUnavailable
from lakeguard_sdk.model.run import Failure, RunTicket, WorkerIdentity
from lakeguard_sdk.ports import Runs
from openlaketx.pipeline.outages import LEASE_SECONDS, Outage, PersistentRuns, repeated_calls
from tests.unit.sdk.test_task_runs import PLAN, TICKET, problem

RESULT = {
    "run_id": "run_1",
    "dataset": "bronze.numbers",
    "status": "FAILED",
    "ended_at": "2026-01-31T00:00:00Z",
}
SHORT = 2.0
"""More than the short retries of one call take."""
FAILURE = Failure(code="x", message="x")
WORKER = WorkerIdentity(name="w", host="h", pid=1, process_mark="m")


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("connection refused", request=request)


def gateway(status: int, **headers: str) -> Callable[[httpx.Request], httpx.Response]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx.Response(status, content=b"<html>", headers=named)


@dataclass
class Away:
    """A service that is away for some time of a clock that only pauses turn."""

    seconds: float
    answer: Callable[[httpx.Request], httpx.Response] = refuse
    now: float = 0.0
    calls: list[tuple[float, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    stopped: bool = False
    stops_at: float = float("inf")

    def __call__(self, request: httpx.Request) -> httpx.Response:
        word = request.url.path.rpartition("/")[2]
        self.calls.append((self.now, word))
        if self.now < self.seconds:
            return self.answer(request)
        found: dict[str, Any] = {"failure": RESULT, "heartbeat": {"lease_seconds": 60.0}}
        opened = {"opened": PLAN.to_data()}
        return httpx.Response(200, content=json.dumps(found.get(word, opened)))

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.stopped = self.stopped or self.now >= self.stops_at

    def runs(self) -> PersistentRuns:
        http = httpx.Client(transport=httpx.MockTransport(self), base_url="http://there")
        port: Any = RemotePort(Transport(http, self.sleep), "runs", "http://there")
        outage = Outage(lambda stage, _: self.said.append(stage))
        return PersistentRuns(
            port, lambda: self.stopped, outage, lambda: self.now, self.sleep, lambda: 0.5
        )


def test_what_may_be_repeated_is() -> None:
    assert {"submit_evidence", "begin_move", "complete_move", "fail_run"} <= repeated_calls()
    assert not {"heartbeat", "open_run", "open_compaction"} & repeated_calls()


@pytest.mark.parametrize("answer", [refuse, gateway(502), gateway(503), gateway(504)])
def test_a_call_outlasts_a_restart(answer: Callable[[httpx.Request], httpx.Response]) -> None:
    away = Away(60, answer)
    assert away.runs().fail_run(TICKET, FAILURE).status is RunStatus.FAILED
    assert away.said == ["unavailable"]
    pauses = [after - before for (before, _), (after, _) in pairwise(away.calls)]
    assert max(pauses) <= 10.0


def test_every_outage_is_told_once() -> None:
    away = Away(20)
    runs = away.runs()
    runs.fail_run(TICKET, FAILURE)
    runs.fail_run(TICKET, FAILURE)
    assert away.said == ["unavailable"]
    away.seconds = away.now + 20
    runs.fail_run(TICKET, FAILURE)
    assert away.said == ["unavailable"] * 2


def test_it_is_called_again_when_it_asks_to() -> None:
    away = Away(50, gateway(503, retry_after="25"))
    away.runs().fail_run(TICKET, FAILURE)
    assert [at for at, _ in away.calls] == [0, 25, 50]
    away = Away(105, gateway(503, retry_after="25"))
    away.runs().fail_run(TICKET, FAILURE)
    assert [at for at, _ in away.calls] == [0, 25, 50, 75, 100, 125]


def test_it_ends_with_its_first_error_when_the_lease_must_be_over() -> None:
    away = Away(1_000)
    with pytest.raises(StateUnavailable, match="http://there is unavailable: connection refused"):
        away.runs().fail_run(TICKET, FAILURE)
    assert LEASE_SECONDS - 20 < away.now < LEASE_SECONDS + SHORT


def test_the_lease_is_that_of_the_plan_and_of_heartbeats() -> None:
    away = Away(0)
    runs = away.runs()
    runs.open_claimed(TICKET)
    away.now, away.seconds = 100.0, 10_000
    with pytest.raises(StateUnavailable):
        runs.fail_run(TICKET, FAILURE)
    assert 110 < away.now < PLAN.lease_seconds + SHORT
    away.seconds, away.now = 0, 1_000.0
    runs.heartbeat(TICKET)
    away.seconds = 10_000
    with pytest.raises(StateUnavailable):
        runs.fail_run(TICKET, FAILURE)
    assert 1_030 < away.now < 1_060 + SHORT


@pytest.mark.parametrize("loss", [Fenced(run="run_1", reason="over"), BadToken()])
def test_nothing_is_repeated_once_the_lease_is_lost(loss: Fenced | BadToken) -> None:
    away = Away(1_000, lambda _: problem(loss, 409))
    runs = away.runs()
    with pytest.raises(type(loss)):
        runs.heartbeat(TICKET)
    with pytest.raises(type(loss)):
        runs.fail_run(TICKET, FAILURE)
    assert len(away.calls) == 2
    away.answer = refuse
    with pytest.raises(StateUnavailable):
        runs.fail_run(TICKET, FAILURE)
    assert away.said == []


def test_a_run_that_is_stopped_waits_no_longer() -> None:
    away = Away(1_000, stops_at=20)
    with pytest.raises(StateUnavailable):
        away.runs().fail_run(TICKET, FAILURE)
    assert 20 <= away.now < 30 + SHORT


def test_a_call_that_may_not_be_repeated_ends_soon() -> None:
    for call in (
        lambda runs: runs.heartbeat(TICKET),
        lambda runs: runs.open_run("task_1", WORKER),
    ):
        away = Away(1_000)
        with pytest.raises(StateUnavailable):
            call(away.runs())
        assert len(away.calls) == 4
        assert away.said == []


def test_runs_of_one_worker_have_leases_of_their_own() -> None:
    away = Away(0)
    runs = away.runs()
    runs.heartbeat(TICKET)
    other: RunTicket = TICKET.model_copy(update={"run_id": "run_2"})
    away.now, away.seconds = 59.9, 10_000
    with pytest.raises(StateUnavailable):
        runs.fail_run(other, FAILURE)
    assert away.now > 150


class RestartedDatabase:
    """A run port of the project folder, whose database is away for the first calls."""

    calls = 0

    def complete_move(self, ticket: RunTicket, commit: int) -> int:
        self.calls += 1
        if self.calls == 1:
            raise StateCommitUnknown(place="db", reason="server closed the connection")
        if self.calls <= 6:
            raise StateUnavailable(place="db", reason="connection refused")
        return commit


def test_a_call_outlasts_a_restart_of_the_database() -> None:
    clock, port = Away(0), RestartedDatabase()
    runs = PersistentRuns(
        cast("Runs", port), lambda: False, clock=lambda: clock.now, sleep=clock.sleep
    )
    assert runs.complete_move(TICKET, 7) == 7
    assert port.calls == 7
