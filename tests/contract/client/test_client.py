"""The conformance suite of a control plane's client, over every implementation there is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName, connect, ports
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import MoveKind, RunStatus
from lakeguard_sdk.errors import (
    AlreadyPublished,
    CommitMismatch,
    Fenced,
    NotApproved,
    NoteRefused,
    NotPermitted,
    NotRegistered,
    ReasonNeeded,
    UnknownRun,
    UnknownVersion,
)
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.model.table_operations import Compacted
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Dispatch, Jobs
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")

NOWHERE = DatasetName("silver.nowhere")
MAKERS: dict[str, Callable[[Path], Client]] = {"embedded": numbers_project}


@pytest.fixture(params=sorted(MAKERS))
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    return MAKERS[request.param](tmp_path)


def open_run(client: Client) -> RunPlan:
    task_id = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task_id, this_process("test"))
    assert isinstance(plan, RunPlan)
    return plan


def decided_run(client: Client, numbers: list[int]) -> RunPlan:
    plan = open_run(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, numbers))
    return plan


# -- what is registered --------------------------------------------------------------------------


def test_what_was_applied_can_be_asked_for(client: Client) -> None:
    held = client.registry.definitions()
    assert [item.dataset for item in held.datasets] == [NUMBERS]
    assert held.datasets[0] == client.reader.definition(NUMBERS)
    assert [item.source for item in held.sources] == ["numbers"]
    assert client.registry.plan(held).steps == ()


# -- what a run may do ---------------------------------------------------------------------------


def calls_of(port: object) -> list[str]:
    return [name for name in vars(port) if not name.startswith("_")]


@pytest.mark.parametrize(
    ("port", "method"),
    [
        (port, method)
        for port in ("registry", "operations")
        for method in calls_of(getattr(ports, port.capitalize()))
    ],
)
def test_what_a_run_holds_opens_no_other_door(
    client: Client, tmp_path: Path, port: str, method: str
) -> None:
    plan = open_run(client)
    held = connect(tmp_path, ticket=plan.ticket)
    call = getattr(held, port)
    wanted = inspect.signature(getattr(getattr(ports, port.capitalize()), method)).parameters
    with pytest.raises(NotPermitted):
        getattr(call, method)(*([plan.ticket] * (len(wanted) - 1)))


@pytest.mark.parametrize(("port", "kind"), [("jobs", Jobs), ("dispatch", Dispatch)])
def test_a_run_neither_starts_jobs_nor_takes_tasks(
    client: Client, tmp_path: Path, port: str, kind: object
) -> None:
    held = connect(tmp_path, ticket=open_run(client).ticket)
    assert len(calls_of(kind)) > 4
    for method in calls_of(kind):
        with pytest.raises(NotPermitted, match=f"{port}.{method}"):
            getattr(getattr(held, port), method)()


def test_a_run_cannot_open_another_run_nor_report_on_one(client: Client, tmp_path: Path) -> None:
    mine, other = open_run(client), open_run(client)
    held = connect(tmp_path, ticket=mine.ticket)
    with pytest.raises(NotPermitted):
        held.runs.open_run(mine.ticket.task_id, this_process("test"))
    with pytest.raises(NotPermitted):
        held.runs.open_compaction(mine.ticket.task_id, this_process("test"))
    with pytest.raises(NotPermitted):
        held.runs.due_compaction(other.ticket)
    with pytest.raises(NotPermitted):
        held.runs.fail_run(other.ticket, Failure(code="x", message="x"))
    assert held.runs.heartbeat(mine.ticket) > 0
    assert held.runs.heartbeat(ticket=mine.ticket) > 0


def test_no_method_of_the_run_port_takes_the_ticket_of_another(
    client: Client, tmp_path: Path
) -> None:
    mine, other = open_run(client), open_run(client)
    held = connect(tmp_path, ticket=mine.ticket)
    for method in [*calls_of(ports.Runs), "holder", "not_in_the_port"]:
        wanted = getattr(held.runs, method)
        with pytest.raises(NotPermitted, match=f"runs.{method}"):
            wanted(other.ticket, None)
    for method in ("open_run", "open_compaction", "open_adoption", "not_in_the_port"):
        with pytest.raises(NotPermitted, match=f"runs.{method}"):
            getattr(held.runs, method)(mine.ticket)


def test_a_worker_is_handed_two_ports(client: Client) -> None:
    handed = vars(client.for_worker())
    assert sorted(handed) == ["lake", "project", "reader", "runs"]


# -- fencing and idempotence ---------------------------------------------------------------------


def run_calls(plan: RunPlan) -> dict[str, tuple[object, ...]]:
    evidence = evidence_of(DeltaLake(), plan, [])
    merged = Compacted(base_commit=0, adds=(), removes=(), rows=0, before="x", after="x")
    return {
        "heartbeat": (),
        "submit_schema": (plan.declared,),
        "submit_evidence": (evidence,),
        "begin_move": (),
        "complete_move": (1,),
        "submit_compaction": (merged,),
    }


TICKET_CALLS = ["heartbeat", "submit_schema", "submit_evidence"]
TICKET_CALLS += ["begin_move", "complete_move", "submit_compaction"]


@pytest.mark.parametrize("method", TICKET_CALLS)
def test_an_attempt_that_is_over_is_fenced(client: Client, method: str) -> None:
    plan = open_run(client)
    client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gone"))
    with pytest.raises(Fenced):
        getattr(client.runs, method)(plan.ticket, *run_calls(plan)[method])


@pytest.mark.parametrize("method", TICKET_CALLS)
def test_a_forged_ticket_is_fenced(client: Client, method: str) -> None:
    plan = open_run(client)
    forged = plan.ticket.model_copy(update={"lease_token": "lease_guess"})
    with pytest.raises(Fenced):
        getattr(client.runs, method)(forged, *run_calls(plan)[method])


def test_the_same_completion_again_has_the_same_bytes(client: Client) -> None:
    plan = decided_run(client, [1])
    intent = client.runs.begin_move(plan.ticket)
    assert client.runs.begin_move(plan.ticket) == intent
    commit = DeltaLake().publish(intent)
    first = client.runs.complete_move(plan.ticket, commit)
    assert client.runs.complete_move(plan.ticket, commit).to_json() == first.to_json()
    with pytest.raises(CommitMismatch):
        client.runs.complete_move(plan.ticket, commit + 1)


def test_a_completion_without_its_commit_is_refused(client: Client) -> None:
    plan = decided_run(client, [1])
    client.runs.begin_move(plan.ticket)
    with pytest.raises(CommitMismatch):
        client.runs.complete_move(plan.ticket, 1)
    ended = client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gave up"))
    assert ended.status is RunStatus.FAILED
    assert client.reader.versions(NUMBERS) == []


def test_a_fence_is_no_version_even_of_an_empty_batch(client: Client) -> None:
    plan = decided_run(client, [])
    client.runs.begin_move(plan.ticket)
    ended = client.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="gave up"))
    assert (ended.status, ended.error and ended.error.message) == (RunStatus.FAILED, "gave up")
    assert client.reader.versions(NUMBERS) == []


def test_nothing_moves_without_a_decision(client: Client) -> None:
    plan = open_run(client)
    with pytest.raises(NotApproved):
        client.runs.begin_move(plan.ticket)


def test_evidence_cannot_be_exchanged_after_the_decision(client: Client) -> None:
    plan = decided_run(client, [1])
    other = evidence_of(DeltaLake(), plan, [1, 2])
    with pytest.raises(NotApproved):
        client.runs.submit_evidence(plan.ticket, other)


@pytest.mark.parametrize(
    "lie",
    [
        {"run_id": "run_other"},
        {"base_commit": 7},
        {"rows": 5},
        {"files": ()},
        {"measures": {}},
    ],
)
def test_evidence_that_does_not_hold_together_is_blocked(
    client: Client, lie: dict[str, object]
) -> None:
    plan = open_run(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1]).model_copy(update=lie)
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    assert not decision.allowed
    assert client.reader.run(plan.ticket.run_id).status is RunStatus.BLOCKED


def test_evidence_of_files_elsewhere_is_blocked(client: Client) -> None:
    for path in ("runs/other/part.parquet", "{staging}/../x.parquet", "/etc/passwd"):
        plan = open_run(client)
        client.runs.submit_schema(plan.ticket, plan.declared)
        evidence = evidence_of(DeltaLake(), plan, [1])
        elsewhere = {"path": path.format(staging=plan.staging)}
        moved = evidence.files[0].model_copy(update=elsewhere)
        lying = evidence.model_copy(update={"files": (moved,)})
        decision = client.runs.submit_evidence(plan.ticket, lying)
        assert not decision.allowed, path


def test_one_key_is_one_task_and_one_version(client: Client) -> None:
    first = client.operations.submit(NUMBERS, "test", key="2026-01-31")
    assert client.operations.submit(NUMBERS, "test", key="2026-01-31") == first
    run_by_hand(client, [1], first)
    with pytest.raises(Fenced):
        client.runs.open_run(first, this_process("test"))
    assert len(client.reader.versions(NUMBERS)) == 1


def test_what_a_build_says_stays_with_its_version(client: Client) -> None:
    noted = {"source": "ftp", "counts": [1, 2.5, None], "größe": {"a": True}}
    result = run_by_hand(client, [1], notes=noted)
    run_by_hand(client, [2])
    assert result.version == 1
    assert [row.notes for row in client.reader.versions(NUMBERS)] == [{}, noted]


@pytest.mark.parametrize(
    ("notes", "reason"),
    [
        ({"text": "x" * 70_000}, "more than 65,536"),
        ({"password": "Tr0ub4dor"}, "looks like a secret"),
    ],
)
def test_notes_that_no_build_may_make_are_refused_and_not_stored(
    client: Client, notes: dict[str, str], reason: str
) -> None:
    plan = open_run(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1]).model_copy(update={"notes": notes})
    with pytest.raises(NoteRefused, match=reason):
        client.runs.submit_evidence(plan.ticket, evidence)
    kept = client.runs.submit_evidence(plan.ticket, evidence.model_copy(update={"notes": {}}))
    assert kept.allowed, "nothing was decided before"


def test_only_a_failed_task_is_queued_again_and_not_for_ever(client: Client) -> None:
    task = client.operations.submit(NUMBERS, "test")
    attempts = 0
    while True:
        plan = client.runs.open_run(task, this_process("test"))
        assert isinstance(plan, RunPlan)
        attempts += 1
        assert not client.operations.requeue(task), "it runs"
        client.runs.fail_run(plan.ticket, Failure(code="LG-4002", message="x", retryable=True))
        if not client.operations.requeue(task):
            break
    assert attempts == 3
    assert len(client.reader.runs(NUMBERS)) == 3


# -- reading -------------------------------------------------------------------------------------


def test_what_is_not_registered_does_not_exist(client: Client) -> None:
    questions: list[Callable[[], object]] = [
        lambda: client.reader.dataset(NOWHERE),
        lambda: client.reader.rules(NOWHERE),
        lambda: client.reader.runs(NOWHERE),
        lambda: client.reader.versions(NOWHERE),
        lambda: client.reader.pointer_moves(NOWHERE),
        lambda: client.reader.resolve(parse_address(NOWHERE)),
        lambda: client.operations.submit(NOWHERE, "test"),
        lambda: client.operations.rollback(NOWHERE, 1, "x"),
    ]
    for question in questions:
        with pytest.raises(NotRegistered):
            question()
    assert client.reader.runs() == [], "no run row for what does not exist"


def test_addresses_resolve_to_exact_commits(client: Client) -> None:
    with pytest.raises(UnknownVersion, match=r"bronze\.numbers has no version that is published$"):
        client.reader.resolve(parse_address(NUMBERS))
    first = run_by_hand(client, [1])
    run_by_hand(client, [2])
    assert client.reader.resolve(parse_address(NUMBERS)).version == 2
    assert client.reader.resolve(parse_address(f"{NUMBERS}@v1")).version == 1
    moved = client.reader.pointer_moves(NUMBERS)[0].moved_at
    assert moved <= first.ended_at
    at = parse_address(f"{NUMBERS}@{moved.isoformat()}")
    assert client.reader.resolve(at).version == 1
    with pytest.raises(UnknownVersion, match=r"bronze\.numbers has no version v9$"):
        client.reader.resolve(parse_address(f"{NUMBERS}@v9"))
    with pytest.raises(UnknownVersion, match=r"has no version published by 2020-01-31T"):
        client.reader.resolve(parse_address(f"{NUMBERS}@2020-01-31T00:00Z"))


def test_decisions_replay_byte_for_byte(client: Client) -> None:
    result = run_by_hand(client, [1])
    replayed = client.reader.replay(result.run_id)
    assert replayed.identical
    assert replayed.recorded == replayed.replayed
    with pytest.raises(UnknownRun):
        client.reader.replay("run_nothing")


def test_a_rollback_is_a_move_like_any_other(client: Client, tmp_path: Path) -> None:
    for number in (1, 2, 3):
        run_by_hand(client, [number])
    moved = client.operations.rollback(NUMBERS, 1, "a bad day")
    assert (moved.kind, moved.version, moved.reason) == (MoveKind.ROLLBACK, 1, "a bad day")
    assert shown(tmp_path) == [1]
    assert client.reader.resolve(parse_address(NUMBERS)).version == 1
    run = client.reader.runs(NUMBERS, limit=1)[0]
    assert (run.status, run.version) == (RunStatus.SUCCESS, 1)
    assert client.reader.replay(run.run_id).identical
    assert run_by_hand(client, [4]).version == 4, "the next publish takes the next number"
    assert shown(tmp_path) == [1, 4]
    with pytest.raises(AlreadyPublished):
        client.operations.rollback(NUMBERS, 4, "x")
    with pytest.raises(UnknownVersion):
        client.operations.rollback(NUMBERS, 9, "x")
    with pytest.raises(ReasonNeeded):
        client.operations.rollback(NUMBERS, 1, "  ")


def test_a_rogue_commit_blocks_until_it_is_undone(client: Client, tmp_path: Path) -> None:
    run_by_hand(client, [1])
    DeltaLake().write_foreign(str(tmp_path / "bronze" / "numbers"), [666])
    blocked = run_by_hand(client, [2])
    assert blocked.status is RunStatus.BLOCKED
    assert blocked.decision is not None
    assert "lakeguard undo bronze.numbers" in blocked.decision.ruling.reasons[0]
    client.operations.rollback(NUMBERS, 1, "undo what nobody decided")
    assert shown(tmp_path) == [1]
    assert run_by_hand(client, [2]).status is RunStatus.SUCCESS
    assert shown(tmp_path) == [1, 2]


def test_a_table_that_is_not_ours_is_not_touched(client: Client, tmp_path: Path) -> None:
    location = tmp_path / "bronze" / "numbers"
    location.parent.mkdir()
    DeltaLake().write_foreign(str(location), [666])
    assert run_by_hand(client, [1]).status is RunStatus.BLOCKED
    assert shown(tmp_path) == [666]


def test_a_lake_may_be_moved(client: Client, tmp_path: Path) -> None:
    plan = decided_run(client, [1])
    client.runs.begin_move(plan.ticket)
    moved = tmp_path.with_name(f"{tmp_path.name}-moved")
    tmp_path.rename(moved)
    again = connect(moved)
    ended = again.runs.fail_run(plan.ticket, Failure(code="LG-5004", message="moved away"))
    assert ended.status is RunStatus.FAILED
    assert run_by_hand(again, [2]).version == 1
    assert shown(moved) == [2]
