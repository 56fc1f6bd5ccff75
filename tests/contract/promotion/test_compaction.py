"""Compaction over the ports of a control plane: a move that changes no row."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard_sdk import Client, connect
from lakeguard_sdk.client import Worker, local_worker
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import (
    CommitKind,
    LoadType,
    MoveKind,
    RunStatus,
)
from lakeguard_sdk.errors import BaseChanged, Fenced, NotApproved
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult
from lakeguard_sdk.model.table_operations import Compacted, CompactionPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.pipeline.compaction import compact_if_needed
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import (
    compact_by_hand,
    compacted_of,
    evidence_of,
    run_by_hand,
    shown,
)
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Three versions, each of one small file."""
    made = numbers_project(tmp_path)
    for number in (1, 2, 3):
        run_by_hand(made, [number])
    return made


def opened(client: Client) -> CompactionPlan:
    task_id = client.operations.submit_compaction(NUMBERS, "test")
    plan = client.runs.open_compaction(task_id, this_process("test"))
    assert isinstance(plan, CompactionPlan)
    return plan


def files(folder: Path) -> int:
    return len(DeltaTable(str(folder / "bronze" / "numbers")).file_uris())


def assert_proved(client: Client) -> None:
    report = client.ledger.verify(replay=True)
    assert report.findings == ()


def test_rows_and_version_stay_and_files_become_one(client: Client, tmp_path: Path) -> None:
    assert files(tmp_path) == 3
    ended = compact_by_hand(client)
    assert (ended.status, ended.version) == (RunStatus.SUCCESS, 3)
    assert files(tmp_path) == 1
    assert shown(tmp_path) == [1, 2, 3]
    move = client.reader.pointer_moves(NUMBERS)[-1]
    assert (move.kind, move.version, move.reason) == (
        MoveKind.COMPACTION,
        3,
        "3 files became 1",
    )
    assert [version.version for version in client.reader.versions(NUMBERS)] == [3, 2, 1]
    assert client.reader.resolve(parse_address(NUMBERS)).commit == 4
    assert client.reader.replay(ended.run_id).identical
    assert_proved(client)


def test_the_commit_says_that_no_data_changed(client: Client, tmp_path: Path) -> None:
    compact_by_hand(client)
    commit = DeltaLake().tables.commits_since(str(tmp_path / "bronze" / "numbers"), 3)[0]
    assert commit.claims_neutral
    assert commit.author is not None
    assert (commit.author.kind, commit.seq) == (CommitKind.COMPACT, 4)


def test_what_has_nothing_to_merge_ends_without_a_move(client: Client) -> None:
    compact_by_hand(client)
    moves = client.reader.pointer_moves(NUMBERS)
    ended = compact_by_hand(client)
    assert (ended.status, ended.version, ended.decision) == (RunStatus.SUCCESS, 3, None)
    assert client.reader.pointer_moves(NUMBERS) == moves


def test_the_next_run_and_a_rollback_go_on_from_there(client: Client, tmp_path: Path) -> None:
    compact_by_hand(client)
    assert run_by_hand(client, [4]).version == 4
    assert shown(tmp_path) == [1, 2, 3, 4]
    client.operations.rollback(NUMBERS, 3, "back to what was merged")
    assert (shown(tmp_path), files(tmp_path)) == ([1, 2, 3], 1)
    client.operations.rollback(NUMBERS, 2, "back to before it")
    assert (shown(tmp_path), files(tmp_path)) == ([1, 2], 2)
    assert_proved(client)


def test_an_append_that_was_under_way_goes_through(client: Client, tmp_path: Path) -> None:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [9]))
    compact_by_hand(client)
    intent = client.runs.begin_move(plan.ticket)
    ended = client.runs.complete_move(plan.ticket, DeltaLake().publish(intent))
    assert (ended.status, ended.version) == (RunStatus.SUCCESS, 4)
    assert shown(tmp_path) == [1, 2, 3, 9]
    assert_proved(client)


def test_a_run_that_removes_merged_files_has_to_begin_again(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    for number in (1, 2):
        run_by_hand(client, [number])
    client.registry.apply(client.registry.plan(numbers_definitions(LoadType.FULL)))
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [9]))
    compact_by_hand(client)
    with pytest.raises(BaseChanged, match=r"expected v2 at commit 2, found v2 at commit 3"):
        client.runs.begin_move(plan.ticket)


def test_a_publish_that_came_first_is_not_undone(client: Client, tmp_path: Path) -> None:
    plan = opened(client)
    compacted = compacted_of(DeltaLake(), plan)
    run_by_hand(client, [4])
    with pytest.raises(BaseChanged):
        client.runs.submit_compaction(plan.ticket, compacted)
    client.runs.fail_run(plan.ticket, Failure(code="LG-4002", message="moved"))
    assert shown(tmp_path) == [1, 2, 3, 4]
    assert_proved(client)


LIES: dict[str, dict[str, object]] = {
    "other rows": {"after": "other"},
    "no digest": {"before": "", "after": ""},
    "another count": {"rows": 2},
    "a file that is not shown": {"removes": ("runs/other/part.parquet", "b")},
    "nothing": {"removes": (), "adds": ()},
    "rows lost": {"removes": ()},
}


@pytest.mark.parametrize("lie", sorted(LIES))
def test_what_is_not_neutral_is_refused(client: Client, tmp_path: Path, lie: str) -> None:
    plan = opened(client)
    compacted = compacted_of(DeltaLake(), plan)
    change = dict(LIES[lie])
    if lie == "rows lost":
        change["adds"] = (compacted.adds[0].model_copy(update={"rows": 2}),)
        change["removes"] = compacted.removes
    with pytest.raises(NotApproved):
        client.runs.submit_compaction(plan.ticket, compacted.model_copy(update=change))
    client.runs.fail_run(plan.ticket, Failure(code="LG-3003", message="refused"))
    assert len(client.reader.pointer_moves(NUMBERS)) == 3
    assert_proved(client)


def test_files_elsewhere_are_refused(client: Client) -> None:
    plan = opened(client)
    compacted = compacted_of(DeltaLake(), plan)
    for path in ("runs/other/x.parquet", f"{plan.staging}/../x.parquet", "/etc/passwd"):
        moved = compacted.adds[0].model_copy(update={"path": path})
        with pytest.raises(NotApproved, match="staging folder"):
            client.runs.submit_compaction(
                plan.ticket, compacted.model_copy(update={"adds": (moved,)})
            )


def test_only_a_compaction_may_compact(client: Client) -> None:
    run = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(run, RunPlan)
    with pytest.raises((NotApproved, BaseChanged)):
        client.runs.submit_compaction(
            run.ticket,
            Compacted(base_commit=3, adds=(), removes=(), rows=0, before="x", after="x"),
        )
    with pytest.raises(Fenced):
        client.runs.open_compaction(client.operations.submit(NUMBERS, "test"), this_process("test"))
    with pytest.raises(Fenced):
        client.runs.open_run(
            client.operations.submit_compaction(NUMBERS, "test"), this_process("test")
        )


def test_the_same_evidence_again_is_the_same_intent(client: Client) -> None:
    plan = opened(client)
    compacted = compacted_of(DeltaLake(), plan)
    intent = client.runs.submit_compaction(plan.ticket, compacted)
    assert client.runs.submit_compaction(plan.ticket, compacted) == intent
    with pytest.raises(NotApproved):
        client.runs.submit_compaction(plan.ticket, compacted.model_copy(update={"removes": ()}))


def test_a_rogue_table_is_not_compacted(client: Client, tmp_path: Path) -> None:
    DeltaLake().write_foreign(str(tmp_path / "bronze" / "numbers"), [666])
    ended = compact_by_hand(client)
    assert ended.status is RunStatus.FAILED
    assert ended.error is not None
    assert "changed data without a decision" in ended.error.message


def with_settings(folder: Path, text: str) -> Client:
    settings = folder / "lakeguard.toml"
    settings.write_text(f"{settings.read_text()}[env.dev.maintenance]\n{text}")
    return connect(folder)


def publish(client: Client, plan: RunPlan, numbers: list[int]) -> None:
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, numbers))
    intent = client.runs.begin_move(plan.ticket)
    client.runs.complete_move(plan.ticket, DeltaLake().publish(intent))


def test_it_is_due_once_there_are_too_many_small_files(tmp_path: Path) -> None:
    numbers_project(tmp_path)
    client = with_settings(tmp_path, "compact_after = 2\n")
    due = []
    for number in (1, 2, 3):
        task_id = client.operations.submit(NUMBERS, "test")
        plan = client.runs.open_run(task_id, this_process("test"))
        assert isinstance(plan, RunPlan)
        assert client.runs.due_compaction(plan.ticket) is None, "it runs still"
        publish(client, plan, [number])
        due.append(client.runs.due_compaction(plan.ticket))
    assert due[:2] == [None, None]
    assert due[2] is not None
    assert client.runs.due_compaction(plan.ticket) == due[2], "one task for one state"
    opened = client.runs.open_compaction(due[2], this_process("test"))
    assert isinstance(opened, CompactionPlan)
    assert client.runs.due_compaction(plan.ticket) is None, "it is under way"


def test_results_survive_the_wire(client: Client) -> None:
    plan = opened(client)
    compacted = compacted_of(DeltaLake(), plan)
    assert CompactionPlan.from_json(plan.to_json()) == plan
    assert Compacted.from_json(compacted.to_json()) == compacted
    assert not isinstance(plan, RunResult)


def worker_of(client: Client) -> Worker:
    return local_worker(client.for_worker(), spark_options={})


def test_the_data_plane_compacts_without_spark(client: Client, tmp_path: Path) -> None:
    task_id = client.operations.submit_compaction(NUMBERS, "test")
    ended = worker_of(client).run_compaction(task_id)
    assert (ended.status, ended.version) == (RunStatus.SUCCESS, 3)
    assert (files(tmp_path), shown(tmp_path)) == (1, [1, 2, 3])
    assert_proved(client)
    task_id = client.operations.submit_compaction(NUMBERS, "test")
    assert worker_of(client).run_compaction(task_id).decision is None, "nothing is left to merge"


def test_a_damaged_table_is_not_compacted(client: Client, tmp_path: Path) -> None:
    table = DeltaTable(str(tmp_path / "bronze" / "numbers"))
    Path(table.file_uris()[0].removeprefix("file://")).write_bytes(b"")
    ended = worker_of(client).run_compaction(client.operations.submit_compaction(NUMBERS, "test"))
    assert ended.status is RunStatus.FAILED
    assert ended.error is not None
    assert "damaged" in ended.error.message


def test_a_run_is_followed_by_a_compaction_that_is_due(tmp_path: Path) -> None:
    numbers_project(tmp_path)
    client = with_settings(tmp_path, "compact_after = 2\n")
    reported: list[str] = []
    for number in (1, 2, 3):
        task_id = client.operations.submit(NUMBERS, "test")
        plan = client.runs.open_run(task_id, this_process("test"))
        assert isinstance(plan, RunPlan)
        publish(client, plan, [number])
        compact_if_needed(plan, client.for_worker(), lambda stage, _facts: reported.append(stage))
    assert reported == ["compact"]
    assert (files(tmp_path), shown(tmp_path)) == (1, [1, 2, 3])
    assert_proved(client)


def test_a_compaction_that_fails_is_told_and_harms_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    numbers_project(tmp_path)
    client = with_settings(tmp_path, "compact_after = 1\n")
    run_by_hand(client, [1])
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    publish(client, plan, [2])
    DeltaLake().write_foreign(plan.location, [666])
    reported: list[tuple[str, str]] = []
    compact_if_needed(
        plan, client.for_worker(), lambda stage, facts: reported.append((stage, str(facts)))
    )
    assert [stage for stage, _ in reported] == ["compact", "uncompacted"]
    assert "changed data without a decision" in reported[1][1]
    assert caplog.text == "", "who was told reads no log"
    assert client.reader.resolve(parse_address(NUMBERS)).version == 2


def test_a_compaction_hides_no_run_that_was_blocked(client: Client) -> None:
    """It says nothing of the health of a dataset, and is not what brought its version about."""
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    unmeasured = evidence_of(DeltaLake(), plan, [9]).model_copy(update={"measures": {}})
    assert not client.runs.submit_evidence(plan.ticket, unmeasured).allowed
    before = client.reader.status()
    ended = compact_by_hand(client)
    assert client.reader.status() == before
    assert client.reader.runs(NUMBERS)[0].run_id == ended.run_id, "but it is listed"
