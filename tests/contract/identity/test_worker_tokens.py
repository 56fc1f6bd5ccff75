"""A worker of a service that asks for tokens: each attempt calls by a token of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakeguard.access.authenticate import Authenticator
from lakeguard.access.authorise import ACTIONS
from lakeguard.access.principal import (
    Action,
    Grant,
    Principal,
    PrincipalKind,
    Role,
    TaskGrants,
)
from lakeguard.access.session import FRESH_SECONDS
from lakeguard.access.task_tokens import TaskTokens
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import keys_of, open_state
from lakeguard.service_plane import authenticator_for, client_for, manage_identity, open_service
from lakeguard.services.manage_identity import ManageIdentity
from lakeguard.settings import Settings, load_settings
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk import Client, connect
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.enums import LoadType, RunStatus, TaskState
from lakeguard_sdk.errors import BadToken, NotPermitted, UnknownRun
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.quarantine import QuarantinedRows, StagedQuarantineFile
from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.model.table_operations import CompactionPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.task_token import PREFIX
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.fakes.task_tokens import token_at
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import opened
from tests.support.lakes.published_by_hand import (
    compacted_of,
    evidence_of,
    run_by_hand,
)
from tests.support.projects.access_logs import access_rows
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

WORKER = (Action.READ, Action.RUN, Action.WORK)


@dataclass
class Noting:
    """Notes each request before the service sees it, and what is answered."""

    app: Any
    requests: list[tuple[str, str]]
    answers: list[bytes]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            token = dict(scope["headers"]).get(b"authorization", b"").decode()
            word = scope["path"].rpartition("/")[2]
            self.requests.append((word, token.removeprefix("Bearer ")))

        async def noted(message: Any) -> None:
            self.answers.append(message.get("body", b""))
            await send(message)

        await self.app(scope, receive, noted)


@dataclass
class Place:
    """A served project, and the requests that it got."""

    folder: Path
    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    """The last word of each path, and the token."""
    answers: list[bytes] = field(default_factory=list)

    @property
    def settings(self) -> Settings:
        return load_settings(self.folder)

    @property
    def state(self) -> Database:
        return open_state(self.settings)

    @property
    def organisation(self) -> OrganisationState:
        return OrganisationState.of(self.state, "default")

    @property
    def identity(self) -> ManageIdentity:
        return manage_identity(self.settings, self.state)

    @property
    def authenticator(self) -> Authenticator:
        return authenticator_for(self.settings, self.state)

    def worker(self) -> Client:
        return connect(self.url, token=self.identity.create_token("worker", WORKER, ()).text)

    def read(self, token: str) -> TaskGrants:
        tokens = TaskTokens(keys_of(self.settings), "default")
        task = tokens.read(token, self.state.clock()).task
        assert task is not None
        return task

    def task_tokens(self) -> list[str]:
        return [token for _, token in self.requests if token.startswith(PREFIX)]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    report = JobDefinition(job="report", type="python", config={"call": "jobs.report:main"})
    numbers = numbers_definitions(LoadType.APPEND)
    whole = make_project(tmp_path, numbers.model_copy(update={"jobs": (report,)}))
    whole.jobs.deploy("test")
    whole.deliver()
    place = Place(tmp_path)
    service = open_service(str(tmp_path), parse_place("127.0.0.1:0"), tokens=True)
    app = create_app(service)
    app.add_middleware(Noting, requests=place.requests, answers=place.answers)
    with serving(app, listen(service)) as listener:
        place.url = listener.url
        yield place


def test_a_run_has_one_call_more_and_the_rest_by_its_token(place: Place) -> None:
    worker = place.worker()
    place.requests.clear()
    result = run_by_hand(worker, [1, 2])
    assert (result.status, result.version) == (RunStatus.SUCCESS, 1)
    shown = [(word, token[: len(PREFIX)]) for word, token in place.requests]
    assert shown == [
        ("tasks", "lgs1_"),
        ("run", "lgs1_"),
        ("task-token", "lgs1_"),
        ("schema", PREFIX),
        ("evidence", PREFIX),
        ("move", PREFIX),
        ("completion", PREFIX),
    ]
    assert len(set(place.task_tokens())) == 1
    task = place.read(place.task_tokens()[0])
    assert dict(task.pins) == {NUMBERS: 0}
    assert task.prefixes[0].endswith(f"/runs/{result.run_id}")
    assert task.holder.startswith("key_")


def test_no_answer_to_a_worker_says_where_the_database_is(place: Place) -> None:
    worker = place.worker()
    run_by_hand(worker, [1, 2])
    worker.jobs.trigger("report", "tests")
    assert worker.dispatch.claim(this_process("tests"))
    answers = b"".join(place.answers).decode()
    assert str(place.folder) in answers, "as the location of the lake"
    for told in ("state.db", "sqlite", "postgresql"):
        assert told not in answers


def test_a_compaction_has_one_too(place: Place) -> None:
    worker = place.worker()
    for number in (1, 2):
        run_by_hand(worker, [number])
    task = worker.operations.submit_compaction(NUMBERS, "test")
    place.requests.clear()
    merged = local_worker(worker.for_worker(), spark_options={}).run_compaction(task)
    assert merged.status is RunStatus.SUCCESS
    shown = [(word, token[: len(PREFIX)]) for word, token in place.requests]
    assert [word for word, token in shown if token == PREFIX] == ["compacted", "completion"]
    assert shown.count(("task-token", "lgs1_")) == 1


def test_a_job_that_is_no_build_has_none(place: Place) -> None:
    worker = place.worker()
    task = worker.jobs.trigger("report", "test").task_id
    place.requests.clear()
    (given,) = worker.dispatch.claim(this_process("test"))
    assert worker.dispatch.keep([given.ticket])
    worker.dispatch.report(given.ticket, TaskReport(success=True))
    assert worker.jobs.task(task).state is TaskState.COMPLETED
    assert [word for word, _ in place.requests] == ["claims", "leases", "report", task]
    assert place.task_tokens() == []


def test_whoever_may_not_read_claims_nothing(place: Place) -> None:
    worker = place.worker()
    task = worker.jobs.trigger("report", "test").task_id
    blind = connect(place.url, token=place.identity.create_token("x", (Action.WORK,), ()).text)
    with pytest.raises(NotPermitted, match=r"dispatch\.claim: its scope does not include read"):
        blind.dispatch.claim(this_process("test"))
    with pytest.raises(NotPermitted, match="its scope does not include read"):
        blind.dispatch.report_and_claim((), this_process("test"))
    assert worker.jobs.task(task).state is TaskState.QUEUED


def test_a_task_renews_its_own_token_and_no_other(place: Place) -> None:
    worker = place.worker()
    plan, other = opened(worker, NUMBERS), opened(worker, NUMBERS)
    worker.runs.heartbeat(plan.ticket)
    (token,) = place.task_tokens()
    task = connect(place.url, token=token)
    assert place.read(task.runs.task_token(plan.ticket)) == place.read(token)
    with pytest.raises(NotPermitted):
        task.runs.task_token(other.ticket)


def test_a_run_opened_by_its_token_alone_may_write_nowhere(place: Place) -> None:
    plan = opened(place.worker(), NUMBERS)
    task = connect(place.url, token=token_at(place.folder, plan.ticket))
    task.runs.submit_schema(plan.ticket, plan.declared)
    with pytest.raises(NotPermitted):
        task.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))


# What evidence may name.


def with_file(evidence: Evidence, path: str) -> Evidence:
    (file,) = evidence.files
    return evidence.model_copy(update={"files": (file.model_copy(update={"path": path}),)})


def with_quarantined(evidence: Evidence, path: str) -> Evidence:
    file = StagedQuarantineFile(
        rule_id="r", path=path, size=1, rows=1, modified_ms=0, sha256="0" * 64,
        first_seen="2026-01-01T00:00:00Z",
    )  # fmt: skip
    held = QuarantinedRows(rows=1, files=(file,), before={})
    return evidence.model_copy(update={"quarantined": held})


def test_evidence_of_files_elsewhere_is_refused_by_the_token(place: Place) -> None:
    worker = place.worker()
    plan, other = opened(worker, NUMBERS), opened(worker, NUMBERS)
    run = plan.ticket.run_id
    worker.runs.submit_schema(plan.ticket, plan.declared)
    true = evidence_of(DeltaLake(), plan, [1])
    elsewhere = (
        with_file(true, "part.parquet"),
        with_file(true, f"{other.staging}/part.parquet"),
        with_file(true, f"{plan.staging}/../part.parquet"),
        with_file(true, "_delta_log/00000000000000000001.json"),
        with_quarantined(true, f"quarantine/silver/secrets/execution_id={run}/part.parquet"),
        with_quarantined(true, f"gold/customers/execution_id={run}/part.parquet"),
    )
    for evidence in elsewhere:
        with pytest.raises(NotPermitted, match=r"may not call runs\.submit_evidence with "):
            worker.runs.submit_evidence(plan.ticket, evidence)
    with pytest.raises(UnknownRun):
        worker.reader.decision(run)
    with place.organisation.read() as tx:
        logged = access_rows(tx, refused=True)
    assert len(logged) == len(elsewhere)
    last = logged[0]
    assert (last.method, last.dataset) == ("runs.submit_evidence", NUMBERS)
    assert last.principal == f"task:{plan.ticket.task_id}"
    assert "gold/customers" in str(last.reason)
    url = f"{place.url}/api/v1/runs/{run}/evidence"
    sent = {"ticket": plan.ticket.to_data(), "evidence": elsewhere[0].to_data()}
    token = {"Authorization": f"Bearer {place.task_tokens()[-1]}"}
    assert httpx.post(url, json=sent, headers=token).status_code == 403
    assert worker.runs.submit_evidence(plan.ticket, true).allowed


def test_merged_files_elsewhere_are_refused_by_the_token(place: Place) -> None:
    worker = place.worker()
    for number in (1, 2):
        run_by_hand(worker, [number])
    task = worker.operations.submit_compaction(NUMBERS, "test")
    plan = worker.runs.open_compaction(task, this_process("test"))
    assert isinstance(plan, CompactionPlan)
    true = compacted_of(DeltaLake(), plan)
    (file,) = true.adds
    moved = file.model_copy(update={"path": "merged-0.parquet"})
    with pytest.raises(NotPermitted, match=r"may not call runs\.submit_compaction with "):
        worker.runs.submit_compaction(plan.ticket, true.model_copy(update={"adds": (moved,)}))
    assert worker.runs.submit_compaction(plan.ticket, true).adds == true.adds


# Whose token asked for it.


def revoke_token(identity: ManageIdentity) -> None:
    identity.revoke_token("worker", "stolen")


def disable_organisation(identity: ManageIdentity) -> None:
    identity.set_organisation("default", "over", active=False)


@pytest.mark.parametrize("revoke", [revoke_token, disable_organisation])
def test_a_revoked_worker_writes_no_more_with_the_tokens_of_its_tasks(
    place: Place, monkeypatch: pytest.MonkeyPatch, revoke: Callable[[ManageIdentity], None]
) -> None:
    worker = place.worker()
    plan = opened(worker, NUMBERS)
    worker.runs.submit_schema(plan.ticket, plan.declared)
    task = connect(place.url, token=place.task_tokens()[-1])
    revoke(place.identity)
    monkeypatch.setattr("lakeguard.access.authenticate.FRESH_SECONDS", 0.0)
    evidence = evidence_of(DeltaLake(), plan, [1])
    for client in (task, worker):
        with pytest.raises(BadToken):
            client.runs.submit_evidence(plan.ticket, evidence)
    with pytest.raises(BadToken):
        task.runs.task_token(plan.ticket)


def test_a_revocation_takes_as_long_to_work_as_for_any_token(place: Place) -> None:
    plan = opened(worker := place.worker(), NUMBERS)
    worker.runs.heartbeat(plan.ticket)
    header = f"Bearer {place.task_tokens()[-1]}"
    passed = [0.0]
    known = place.authenticator
    door = Authenticator(
        known.settings, known.organisation, known.keys, known.state, ticks=lambda: passed[0]
    )
    assert door.authenticate(header).kind is PrincipalKind.TASK
    place.identity.revoke_token("worker", "stolen")
    passed[0] += FRESH_SECONDS / 2
    assert door.authenticate(header).kind is PrincipalKind.TASK, "read a moment ago"
    passed[0] += FRESH_SECONDS / 2
    with pytest.raises(BadToken):
        door.authenticate(header)


def test_a_user_gets_one_by_roles_that_were_granted_and_no_others(place: Place) -> None:
    """Those that come with a token of the issuer end with it, which nobody here would see."""
    plan = opened(place.worker(), NUMBERS)
    identity, works = place.identity, Grant(ACTIONS[Role.ENGINEER])
    row = identity.create_user("ada@example.org")
    ada = Principal("default", PrincipalKind.USER, row.user_id, row.user_name)
    claims = replace(ada, grants=(works,), claimed=(works,))
    with pytest.raises(NotPermitted, match="task_token"):
        client_for(place.settings, place.state, claims).runs.task_token(plan.ticket)
    grant = identity.grant("ada@example.org", Role.ENGINEER)
    granted = replace(ada, grants=(works,))
    token = client_for(place.settings, place.state, granted).runs.task_token(plan.ticket)
    assert place.read(token).holder == row.user_id
    assert place.authenticator.authenticate(f"Bearer {token}").task == place.read(token)
    identity.revoke_grant(grant.grant_id, "left")
    with pytest.raises(BadToken):
        place.authenticator.authenticate(f"Bearer {token}")


# Where it is not.


def test_no_token_is_stored_or_logged(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        worker = place.worker()
        run_by_hand(worker, [1])
        plan = opened(worker, NUMBERS)
        worker.runs.fail_run(plan.ticket, Failure(code="x", message="x"))
    signatures = {token.rpartition(".")[2] for token in place.task_tokens()}
    assert len(signatures) == 2
    connect(str(place.folder)).deliver()
    written = [path.read_bytes() for path in place.folder.rglob("*") if path.is_file()]
    assert any(plan.ticket.run_id.encode() in content for content in written)
    for signature in signatures:
        assert not any(signature.encode() in content for content in written)
        assert signature not in caplog.text
