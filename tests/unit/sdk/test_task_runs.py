"""Which token a worker's calls have; the service is played by the test, below the transport."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from lakeguard_sdk.api.problems import Problem
from lakeguard_sdk.api.task_runs import TaskRuns
from lakeguard_sdk.api.transport import RemotePort, Transport
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BadToken, Fenced, LakeGuardError, NotPermitted
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Failure, FrameBuild, RunPlan, RunTicket
from lakeguard_sdk.scheduling.task_token import LIFETIME
from lakeguard_sdk.types.schema import TableSchema

OWN = "lgs1_own"
HALF = LIFETIME.total_seconds() / 2
TICKET = RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token="lease_1")
PLAN = RunPlan(
    ticket=TICKET,
    dataset=DatasetName("bronze.numbers"),
    dataset_id="ds_1",
    lease_seconds=120.0,
    load=Load(type=LoadType.FULL),
    declared=TableSchema(columns=()),
    build=FrameBuild(),
    measures=(),
    location="lake/bronze/numbers",
    base=None,
    staging="runs/run_1",
    definition_hash="sha256:0",
)


def problem(error: LakeGuardError, status: int) -> httpx.Response:
    name = type(error).__name__
    body = Problem(title="x", status=status, detail=str(error), code=error.code, error=name)
    return httpx.Response(status, content=body.to_json())


@dataclass
class Service:
    """Tells the calls that it got, each as its last word and its token."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Tokens that are over or revoked."""
    is_over: bool = False
    """Whether the lease of the attempt is."""
    now: float = 0.0
    given: int = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        *_, run_id, word = request.url.path.split("/")
        token = request.headers["authorization"].removeprefix("Bearer ")
        self.calls.append((word, token))
        if token in self.refused:
            return problem(BadToken(), 401)
        if self.is_over and word in ("task-token", "heartbeat"):
            return problem(Fenced(run="run_1", reason="its lease is over"), 409)
        match word:
            case "open":
                ticket = TICKET.model_copy(update={"run_id": run_id})
                plan = PLAN.model_copy(update={"ticket": ticket})
                return self._json({"opened": plan.to_data()})
            case "task-token":
                self.given += 1
                return self._json({"token": f"lgt1_{self.given}"})
            case "heartbeat":
                return self._json({"lease_seconds": 120.0})
            case "move":
                return problem(NotPermitted(holder="task x", method="y"), 403)
        return self._json({"plan": None})

    @staticmethod
    def _json(data: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, content=json.dumps(data))

    def runs(self) -> TaskRuns:
        http = httpx.Client(
            transport=httpx.MockTransport(self),
            base_url="http://there",
            headers={"Authorization": f"Bearer {OWN}"},
        )
        port = RemotePort(Transport(http), "runs", "http://there")
        return TaskRuns(port, clock=lambda: self.now)

    def heard(self) -> list[tuple[str, str]]:
        """Since this was asked last."""
        heard, self.calls = self.calls, []
        return heard


@pytest.fixture
def service() -> Service:
    return Service()


def opened(service: Service) -> TaskRuns:
    runs = service.runs()
    assert runs.open_claimed(TICKET) == PLAN
    assert service.heard() == [("open", OWN), ("task-token", OWN)]
    return runs


def test_calls_about_an_opened_run_have_its_token(service: Service) -> None:
    runs = opened(service)
    runs.heartbeat(TICKET)
    runs.due_profile(ticket=TICKET)
    assert service.heard() == [("heartbeat", "lgt1_1"), ("due-profile", "lgt1_1")]


def test_another_attempt_has_no_part_in_it(service: Service) -> None:
    runs = opened(service)
    other = TICKET.model_copy(update={"run_id": "run_2"})
    runs.heartbeat(other)
    assert service.heard() == [("heartbeat", OWN)]


def test_a_heartbeat_renews_a_token_that_is_half_over(service: Service) -> None:
    runs = opened(service)
    service.now += HALF - 1
    runs.heartbeat(TICKET)
    service.now += 1
    runs.due_profile(TICKET)
    assert service.heard() == [("heartbeat", "lgt1_1"), ("due-profile", "lgt1_1")]
    runs.heartbeat(TICKET)
    runs.heartbeat(TICKET)
    renewed = [("heartbeat", "lgt1_1"), ("task-token", "lgt1_1"), ("heartbeat", "lgt1_2")]
    assert service.heard() == renewed


def test_a_token_that_is_refused_is_asked_for_anew(service: Service) -> None:
    runs = opened(service)
    service.refused.add("lgt1_1")
    assert runs.heartbeat(TICKET) == 120.0
    runs.heartbeat(TICKET)
    asked = [("heartbeat", "lgt1_1"), ("task-token", OWN)]
    assert service.heard() == [*asked, ("heartbeat", "lgt1_2"), ("heartbeat", "lgt1_2")]


def test_a_worker_that_is_refused_hears_so(service: Service) -> None:
    runs = opened(service)
    service.refused |= {"lgt1_1", OWN}
    with pytest.raises(BadToken):
        runs.fail_run(TICKET, Failure(code="x", message="x"))
    assert service.heard() == [("failure", "lgt1_1"), ("task-token", OWN)]


def test_what_a_task_may_not_do_is_not_tried_by_the_worker(service: Service) -> None:
    runs = opened(service)
    with pytest.raises(NotPermitted):
        runs.begin_move(TICKET)
    assert service.heard() == [("move", "lgt1_1")]


def test_a_lost_lease_stays_lost(service: Service) -> None:
    runs = opened(service)
    service.is_over = True
    with pytest.raises(Fenced):
        runs.heartbeat(TICKET)
    service.refused.add("lgt1_1")
    with pytest.raises(Fenced):
        runs.heartbeat(TICKET)
    assert service.heard()[-2:] == [("task-token", OWN), ("heartbeat", OWN)]


def test_steps_after_the_end_go_on_without_a_token(service: Service) -> None:
    """Such as a profile that takes longer than the last token is good for."""
    runs = opened(service)
    service.is_over = True
    service.refused.add("lgt1_1")
    assert runs.due_profile(TICKET) is None
    asked = [("due-profile", "lgt1_1"), ("task-token", OWN), ("due-profile", OWN)]
    assert service.heard() == asked


def test_tokens_of_ended_runs_are_forgotten(service: Service) -> None:
    runs = opened(service)
    service.now += LIFETIME.total_seconds()
    other = TICKET.model_copy(update={"run_id": "run_2"})
    runs.open_claimed(other)
    assert service.heard() == [("open", OWN), ("task-token", OWN)]
    runs.heartbeat(TICKET)
    runs.heartbeat(other)
    assert service.heard() == [("heartbeat", OWN), ("heartbeat", "lgt1_2")]


def test_no_token_is_shown(service: Service) -> None:
    runs = opened(service)
    assert "lgt1_" not in repr(runs)
    assert not hasattr(runs, "no_such_method")
