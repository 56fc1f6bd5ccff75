"""The control plane believes the log and its own ledger, not what it is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction

from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import CommitKind, LoadType, RunStatus
from lakeguard_sdk.errors import Fenced, NotApproved, TableUnreadable, VersionDamaged
from lakeguard_sdk.model.delta_log import PUBLISH_APP, CommitAuthor
from lakeguard_sdk.model.run import Failure, Intent, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")

GIVE_UP = Failure(code="LG-5004", message="gave up")


def decided(client: Client, numbers: list[int], **lies: object) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, numbers).model_copy(update=lies)
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    assert decision.allowed is not bool(lies)
    return plan


@pytest.mark.parametrize("load", [LoadType.FULL, LoadType.APPEND])
@pytest.mark.parametrize("lie", [{"table_rows": 999_999}, {"removes": ("part.parquet",)}])
def test_evidence_against_the_ledger_is_blocked(
    tmp_path: Path, load: LoadType, lie: dict[str, object]
) -> None:
    client = numbers_project(tmp_path, load)
    run_by_hand(client, [1])
    decided(client, [2], **lie)
    assert client.reader.runs(NUMBERS, 1)[0].status is RunStatus.BLOCKED


def commit_otherwise(intent: Intent, **changes: object) -> int:
    """A data plane that commits something else than was approved."""
    table = DeltaTable(intent.location)
    (file,) = intent.adds
    fields: dict[str, object] = {
        "path": file.path,
        "size": file.size,
        "partition_values": {},
        "modification_time": file.modified_ms,
        "data_change": True,
        "stats": file.stats,
    }
    author = CommitAuthor.of(intent, CommitKind.PUBLISH).custom_metadata()
    table.create_write_transaction(
        [AddAction(**{**fields, **changes})],
        "append",
        table.schema(),
        commit_properties=CommitProperties(
            custom_metadata=author,
            app_transactions=[Transaction(PUBLISH_APP, intent.seq)],
            max_commit_retries=0,
        ),
    )
    return table.version() + 1


@pytest.mark.parametrize("change", [{"stats": '{"numRecords":7}'}, {"size": 1}, {"path": "x"}])
def test_a_commit_other_than_approved_is_no_version(
    tmp_path: Path, change: dict[str, object]
) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    plan = decided(client, [2])
    commit = commit_otherwise(client.runs.begin_move(plan.ticket), **change)
    ended = client.runs.complete_move(plan.ticket, commit)
    assert ended.status is RunStatus.FAILED
    assert ended.error is not None
    assert ended.error.code == "LG-4004"
    assert run_by_hand(client, [3]).status is RunStatus.BLOCKED, "until it is undone"
    client.operations.rollback(NUMBERS, 1, "not what was approved")
    assert shown(tmp_path) == [1]


def test_a_foreign_rewrite_is_not_believed_to_be_neutral(tmp_path: Path) -> None:
    client = numbers_project(tmp_path, LoadType.FULL)
    run_by_hand(client, [1])
    lake, location = DeltaLake(), str(tmp_path / "bronze" / "numbers")
    staged = lake.stage(location, "rewritten.parquet", [1, 666])
    table = DeltaTable(location)
    claims_nothing = AddAction(
        path=staged.path,
        size=staged.size,
        partition_values={},
        modification_time=staged.modified_ms,
        data_change=False,
        stats=staged.stats,
    )
    table.create_write_transaction([claims_nothing], "append", table.schema())
    assert run_by_hand(client, [2]).status is RunStatus.BLOCKED
    client.operations.rollback(NUMBERS, 1, "undo the rewrite")
    assert shown(tmp_path) == [1]
    assert run_by_hand(client, [2]).status is RunStatus.SUCCESS


def test_a_run_that_was_decided_cannot_end_unchanged(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    plan = decided(client, [1])
    client.runs.begin_move(plan.ticket)
    with pytest.raises(NotApproved):
        client.runs.finish_unchanged(plan.ticket)
    assert client.runs.fail_run(plan.ticket, GIVE_UP).status is RunStatus.FAILED
    assert run_by_hand(client, [2]).status is RunStatus.SUCCESS


def test_a_forged_ticket_learns_nothing_afterwards(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    plan = decided(client, [1])
    forged = plan.ticket.model_copy(update={"lease_token": "lease_guess"})
    evidence = evidence_of(DeltaLake(), plan, [1])
    for _ in range(2):
        with pytest.raises(Fenced):
            client.runs.submit_evidence(forged, evidence)
        with pytest.raises(Fenced):
            client.runs.finish_unchanged(forged)
        with pytest.raises(Fenced):
            client.runs.fail_run(forged, GIVE_UP)
        client.runs.fail_run(plan.ticket, GIVE_UP)


def test_a_publish_while_another_run_opens_is_not_called_rogue(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    with meanwhile("run.opened", lambda: keep(run_by_hand(client, [2]))):
        opened = client.runs.open_run(
            client.operations.submit(NUMBERS, "test"), this_process("test")
        )
    assert isinstance(opened, RunPlan)


def test_a_table_that_is_gone_stops_its_own_runs_only(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    plan = decided(client, [2])
    client.runs.begin_move(plan.ticket)
    shutil.rmtree(tmp_path / "bronze" / "numbers")
    ended = client.runs.fail_run(plan.ticket, GIVE_UP)
    assert ended.status is RunStatus.FAILED
    assert not (tmp_path / "bronze" / "numbers").exists(), "nothing is made in its place"
    assert run_by_hand(client, [3]).status is RunStatus.BLOCKED
    with pytest.raises(TableUnreadable):
        client.operations.rollback(NUMBERS, 1, "cannot be")
    assert client.operations.reap() == []


@pytest.mark.parametrize("damage", ["gone", "cut"])
def test_a_version_with_damaged_files_is_not_shown_nor_built_on(
    tmp_path: Path, damage: str
) -> None:
    client = numbers_project(tmp_path)
    first = run_by_hand(client, [1])
    run_by_hand(client, [2])
    file = tmp_path / "bronze" / "numbers" / "runs" / first.run_id / "part.parquet"
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(VersionDamaged, match=r"part\.parquet"):
        client.operations.rollback(NUMBERS, 1, "to what is damaged")
    blocked = run_by_hand(client, [3])
    assert blocked.status is RunStatus.BLOCKED
    assert blocked.decision is not None
    assert "damaged" in blocked.decision.ruling.reasons[0]


def test_a_torn_log_is_told_and_its_run_ends(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    log = tmp_path / "bronze" / "numbers" / "_delta_log" / f"{2:020d}.json"
    log.write_bytes(log.read_bytes()[:40])
    with pytest.raises(TableUnreadable):
        client.operations.rollback(NUMBERS, 1, "the log is torn")


def test_a_rollback_is_no_build_to_be_tried_again(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    client.operations.rollback(NUMBERS, 1, "back")
    task_id = client.reader.runs(NUMBERS, 1)[0].task_id
    assert not client.operations.requeue(task_id)
    with pytest.raises(Fenced):
        client.runs.open_run(task_id, this_process("test"))


def test_a_failure_that_will_not_pass_is_not_tried_again(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    task_id = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task_id, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.fail_run(plan.ticket, GIVE_UP)
    assert not client.operations.requeue(task_id)


@pytest.mark.parametrize("name", ["a?b", "a b", "a#b", "ünï"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    client = numbers_project(folder)
    assert run_by_hand(client, [1]).status is RunStatus.SUCCESS
    client.ledger.sync()
    assert (folder / "_lakeguard" / "default" / "plane.json").is_file()
    assert len(connect(folder).reader.versions(NUMBERS)) == 1


def keep(_: object) -> None:
    """An action whose answer nobody needs."""
