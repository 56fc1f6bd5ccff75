"""What undo does to a log: with commits of others between the recorded ones, before the first
version, and while a run moves the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard.cli.rendering.status import Badge, badge_of
from lakeguard.lake.delta import DeltaTables
from lakeguard.lake.table_view import Approved
from lakeguard.ledger.runs import result_of_run
from lakeguard.promotion.moves.undo import undo
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import (
    BaseChanged,
    ForeignTable,
    LakeGuardError,
    NothingToUndo,
    TableBusy,
    TableUnreadable,
    UnknownVersion,
)
from lakeguard_sdk.model.run import Intent, RunPlan, WorkerIdentity, failure_of
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.publish.commit import commit_publish
from tests.support.lakes.damaged_logs import (
    Damage,
    checkpoint_beyond,
    gap,
    lost_log,
    quiet_broken_checkpoint,
    truncated_commit,
    upgraded_protocol,
)
from tests.support.lakes.foreign_numbers import (
    domain_metadata,
    next_number,
    number_far_ahead,
    number_of_an_application,
)
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.log_entries import (
    commit_file,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand, shown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project


@pytest.fixture
def client(tmp_path: Path) -> Client:
    numbers_project(tmp_path, LoadType.APPEND)
    return connect(tmp_path)


def table_of(client: Client) -> Path:
    return Path(client.lake) / "bronze" / "numbers"


def log_of(client: Client) -> Path:
    return table_of(client) / "_delta_log"


def write_foreign(client: Client, number: int) -> None:
    rows = pa.table({"n": pa.array([number], pa.int64())})
    write_deltalake(str(table_of(client)), rows, mode="append")


DEAD = this_process("by hand").model_copy(update={"pid": 2**22 + 1})


def decided(client: Client, numbers: list[int], worker: WorkerIdentity | None = None) -> RunPlan:
    task = client.operations.submit(NUMBERS, "by hand")
    plan = client.runs.open_run(task, worker or this_process("by hand"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    assert client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, numbers)).allowed
    return plan


def begun(client: Client, numbers: list[int]) -> tuple[RunPlan, Intent]:
    plan = decided(client, numbers)
    return plan, client.runs.begin_move(plan.ticket)


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [empty, Path.unlink])
def test_a_commit_that_was_undone_before_may_be_lost(client: Client, damage: Damage) -> None:
    """The ledger has no copy of it, and its changes are not wanted."""
    run_by_hand(client, [1])
    write_foreign(client, 2)
    client.operations.undo(NUMBERS, "a write from outside")
    run_by_hand(client, [3])
    damage(commit_file(log_of(client), 2))
    assert run_by_hand(client, [4]).status is RunStatus.BLOCKED
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert shown(Path(client.lake)) == [1, 3]
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS


def test_commits_after_one_that_cannot_be_read_are_moved_with_it(client: Client) -> None:
    run_by_hand(client, [1])
    write_foreign(client, 2)
    truncated_commit(log_of(client))
    truncated_commit(log_of(client))
    undone = client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert (undone.moved, undone.log_entries) == (
        True,
        tuple(commit_file(Path(), version).name for version in (3, 4)),
    )
    assert len(list((log_of(client) / ".undone").iterdir())) == 2
    assert shown(Path(client.lake)) == [1]
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [4]).status is RunStatus.SUCCESS


@pytest.mark.parametrize(
    "damage", [gap, truncated_commit, upgraded_protocol, number_far_ahead, lost_log, None]
)
def test_a_table_without_a_version_is_put_back(client: Client, damage: Damage | None) -> None:
    plan, intent = begun(client, [1])
    if damage is None:
        write_foreign(client, 2)
    else:
        damage(log_of(client))
    failed = pytest.raises(LakeGuardError, match=r"changed|cannot be used")
    with failed as reported:
        commit_publish(intent)
    client.runs.fail_run(plan.ticket, failure_of(reported.value))
    assert "lakeguard undo bronze.numbers" in str(run_by_hand(client, [3]).decision)
    (found,) = client.reader.status()
    assert badge_of(found) is Badge.DAMAGED
    assert client.operations.undo(NUMBERS, "somebody wrote to its log").version is None
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [3]
    assert client.ledger.verify().findings == ()


def test_there_may_be_nothing_to_undo_before_the_first_version(client: Client) -> None:
    with pytest.raises(UnknownVersion):
        client.operations.undo(NUMBERS, "somebody wrote to its log")


def test_a_run_that_is_moving_the_table_is_waited_for(client: Client) -> None:
    run_by_hand(client, [1])
    plan, intent = begun(client, [2])
    gap(log_of(client))
    with pytest.raises(TableBusy):
        client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert commit_file(log_of(client), 6).exists()
    with pytest.raises(TableUnreadable) as reported:
        commit_publish(intent)
    client.runs.fail_run(plan.ticket, failure_of(reported.value))
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [1, 3]


def test_a_dead_run_on_a_damaged_log_is_ended(client: Client) -> None:
    run_by_hand(client, [1])
    plan = decided(client, [2], DEAD)
    client.runs.begin_move(plan.ticket)
    gap(log_of(client))
    (ended,) = client.operations.reap()
    assert ended.run_id == plan.ticket.run_id
    (found,) = client.reader.status()
    assert badge_of(found) is Badge.DAMAGED
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [1, 3]


def test_a_number_that_nobody_gave_does_not_hold_a_dead_run(client: Client) -> None:
    run_by_hand(client, [1])
    plan = decided(client, [2], DEAD)
    client.runs.begin_move(plan.ticket)
    number_far_ahead(log_of(client))
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert len(list((log_of(client) / ".undone").iterdir())) == 1
    with client.reader.state.read() as tx:  # type: ignore[attr-defined]
        assert result_of_run(tx, plan.ticket.run_id) is not None
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert shown(Path(client.lake)) == [1, 3]


def test_a_number_that_a_commit_took_from_a_run_is_used_up(client: Client) -> None:
    run_by_hand(client, [1])
    plan, intent = begun(client, [2])
    next_number(log_of(client), intent.seq)
    with pytest.raises(BaseChanged) as reported:
        commit_publish(intent)
    assert client.runs.fail_run(plan.ticket, failure_of(reported.value)).status is RunStatus.FAILED
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert client.ledger.verify().findings == ()


def test_a_number_may_not_be_taken_before_it_is_given(client: Client) -> None:
    run_by_hand(client, [1])
    plan = decided(client, [2])
    next_number(log_of(client), 2)
    (found,) = client.ledger.verify().findings
    assert found.message == "WRITE without a decision: it carries number 2 of no move"
    assert "carries number 2, which was given to no move" in str(run_by_hand(client, [3]).decision)
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert client.ledger.verify().findings == ()
    intent = client.runs.begin_move(plan.ticket)
    client.runs.complete_move(plan.ticket, commit_publish(intent))
    assert shown(Path(client.lake)) == [1, 2]


@pytest.mark.parametrize("add", [number_of_an_application, domain_metadata])
def test_what_other_applications_note_in_a_log_changes_nothing(client: Client, add: Damage) -> None:
    run_by_hand(client, [1])
    add(log_of(client))
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [2]).status is RunStatus.SUCCESS
    add(log_of(client))
    with pytest.raises(NothingToUndo):
        client.operations.undo(NUMBERS, "nothing is wrong")
    assert client.ledger.verify().findings == ()
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS


def test_a_commit_that_landed_before_the_damage_is_published(client: Client) -> None:
    run_by_hand(client, [1])
    plan, intent = begun(client, [2])
    commit = commit_publish(intent)
    checkpoint_beyond(log_of(client))
    assert client.runs.complete_move(plan.ticket, commit).status is RunStatus.SUCCESS
    client.operations.undo(NUMBERS, "somebody wrote to its log")
    assert shown(Path(client.lake)) == [1, 2]
    assert DeltaTable(str(table_of(client))).version() == commit


class WhileCompared(DeltaTables):
    """Something happens when a version is compared with its record for the first time."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.actions = [action]

    def shown_difference(self, location: str, version: int, approved: Approved) -> str | None:
        while self.actions:
            self.actions.pop()()
        return super().shown_difference(location, version, approved)


def test_a_run_that_takes_the_table_meanwhile_is_waited_for(client: Client) -> None:
    run_by_hand(client, [1])
    plan = decided(client, [2])
    quiet_broken_checkpoint(log_of(client))
    runs = client.runs
    assert isinstance(runs, PromotionRuns)
    tables = WhileCompared(lambda: runs.begin_move(plan.ticket))
    with pytest.raises(TableBusy):
        undo(replace(runs.context, tables=tables), NUMBERS, "somebody wrote to its log")
    assert list(log_of(client).glob("*.checkpoint.parquet"))


def test_another_table_in_its_place_is_left_alone(client: Client) -> None:
    run_by_hand(client, [1])
    ours = table_of(client).rename(table_of(client).with_name("ours"))
    write_foreign(client, 7)
    write_foreign(client, 8)
    refused = run_by_hand(client, [2])
    assert refused.status is RunStatus.BLOCKED
    assert "holds a Delta table that is not bronze.numbers" in str(refused.decision)
    with pytest.raises(ForeignTable):
        client.operations.undo(NUMBERS, "it looks wrong")
    assert shown(Path(client.lake)) == [7, 8]
    table_of(client).rename(table_of(client).with_name("theirs"))
    ours.rename(table_of(client))
    assert run_by_hand(client, [2]).status is RunStatus.SUCCESS
