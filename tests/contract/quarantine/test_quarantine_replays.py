"""Quarantined rows are replayed or discarded, over the ports of a control plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard.promotion.quarantine.replay import replay_load
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LoadType,
    RunStatus,
)
from lakeguard_sdk.errors import (
    BaseChanged,
    DiscardInvalid,
    NothingQuarantined,
    NotReplayable,
    SecretInReason,
    TableBusy,
)
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.evidence import Changes, SourcePosition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineSelection, QuarantineState
from lakeguard_sdk.model.run import RunResult, Window
from tests.contract.quarantine.test_quarantine import balance, in_table, states
from tests.support.lakes.published_by_hand import shown
from tests.support.lakes.quarantined_by_hand import LARGE, NEGATIVE, ByHand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

EVERY = QuarantineSelection()
WAITING, SENT, OFF = (
    QuarantineState.QUARANTINED,
    QuarantineState.REPLAYED,
    QuarantineState.DISCARDED,
)
UNDONE = QuarantineState.UNDONE
N = ColumnDefinition(name="n", type="long")


def order(client: Client, choice: QuarantineSelection = EVERY, **given: Any) -> str:
    return client.operations.submit_replay(NUMBERS, "tests", choice, **given)


def test_a_replay_reads_what_waits_and_adds_to_the_table(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2, 300])
    plan = world.opened(order(world.client))
    assert isinstance(plan.build, QuarantineBuild)
    assert [(file.rule_id, file.rows) for file in plan.build.files] == [(NEGATIVE, 1), (LARGE, 1)]
    assert (plan.load.type, plan.pins, plan.watermark) == (LoadType.APPEND, (), None)
    assert world.decide(plan, [2, 3]).allowed
    ended = world.publish(plan)
    assert (ended.version, ended.rows) == (2, 2)
    found = world.client.reader.quarantine(NUMBERS)
    assert [(row.state, row.replayed_by) for row in found] == [(SENT, ended.run_id)] * 2
    assert balance(world) == (3, 3, 0, 0, 0)
    assert (shown(tmp_path), in_table(tmp_path)) == ([1, 2, 3], [])
    assert world.client.ledger.verify(replay=True).findings == ()


def test_what_fails_again_waits_again(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2, 300])
    world.replay(order(world.client))
    assert states(world) == [(1, NEGATIVE, 1, SENT), (1, LARGE, 1, SENT), (2, LARGE, 1, WAITING)]
    assert balance(world) == (3, 2, 1, 0, 0)
    assert in_table(tmp_path) == [300]


def test_a_choice_takes_its_runs_and_rules_alone(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    first = world.run([-1, 100])
    world.run([-2, 200])
    choice = QuarantineSelection(runs=(first.run_id,), rules=(NEGATIVE,))
    world.replay(order(world.client, choice))
    assert [state for *_, state in states(world)] == [SENT, WAITING, WAITING, WAITING]
    assert shown(tmp_path) == [1]
    with pytest.raises(NothingQuarantined, match=f"of run {first.run_id}, under {NEGATIVE}"):
        order(world.client, choice)


def test_every_run_and_rule_that_is_named_must_wait(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    good = world.run([1, -1]).run_id
    operations, reader = world.client.operations, world.client.reader
    for choice, reported in (
        (QuarantineSelection(runs=(good, "run_typo")), "of run run_typo$"),
        (QuarantineSelection(rules=(NEGATIVE, LARGE)), f"under {LARGE}$"),
    ):
        with pytest.raises(NothingQuarantined, match=reported):
            operations.discard(NUMBERS, choice, "because")
        with pytest.raises(NothingQuarantined, match=reported):
            order(world.client, choice)
        with pytest.raises(NothingQuarantined, match=reported):
            reader.quarantined_rows(NUMBERS, choice)
    assert balance(world) == (2, 1, 1, 0, 0)


def test_rows_that_a_back_fill_may_have_brought_are_not_added_again(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    first = world.run([1, -2])
    window = Window(column="n", start="0", end="9")
    plan = world.opened(world.client.operations.submit(NUMBERS, "tests", window=window))
    assert world.decide(plan, [2]).allowed
    world.publish(plan)
    later = world.run([-3])
    with pytest.raises(
        NotReplayable, match=f"a back-fill came after run {first.run_id}"
    ) as reported:
        order(world.client)
    assert reported.value.next_step == f"lakeguard quarantine replay {NUMBERS} --as-newest"
    world.replay(order(world.client, QuarantineSelection(runs=(later.run_id,))))
    assert world.opened(order(world.client, as_newest=True)).load.type is LoadType.APPEND


def test_what_a_snapshot_of_a_window_may_have_deleted_is_not_brought_back(tmp_path: Path) -> None:
    world = ByHand.project(
        tmp_path, Load(type=LoadType.SNAPSHOT, keys=("n",), order_by=("n",)), columns=(N,)
    )
    first = world.run([1, -2])
    window = Window(column="n", start="-9", end="9")
    plan = world.opened(world.client.operations.submit(NUMBERS, "tests", window=window))
    decision = world.decide(plan, [2])
    assert decision.allowed, decision.ruling.reasons
    world.publish(plan)
    with pytest.raises(NotReplayable, match=f"came after run {first.run_id}, and may have deleted"):
        order(world.client)


def test_what_replaces_partitions_is_replayed_by_its_key_hash() -> None:
    load = Load(type=LoadType.PARTITION, keys=("n",), hash=HashStrategy.KEY_HASH)
    assert replay_load(load).type is LoadType.INCREMENTAL
    assert replay_load(load).keys == ("n",)


def test_a_rollback_undoes_a_replay(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    world.replay(order(world.client))
    world.client.operations.rollback(NUMBERS, 1, "because")
    assert states(world) == [(1, NEGATIVE, 1, WAITING)]
    assert balance(world) == (2, 1, 1, 0, 0)
    assert in_table(tmp_path) == [-2]
    world.replay(order(world.client))
    assert balance(world) == (2, 2, 0, 0, 0)
    assert world.client.ledger.verify(replay=True).findings == ()


def test_a_replay_whose_rows_are_gone_meanwhile_is_blocked(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    task = order(world.client)
    world.client.operations.discard(NUMBERS, EVERY, "hopeless")
    ended = world.open(task)
    assert isinstance(ended, RunResult)
    assert ended.status is RunStatus.BLOCKED
    assert ended.decision is not None
    assert "no quarantined rows of bronze.numbers" in ended.decision.ruling.reasons[0]


def test_rows_discarded_while_they_were_replayed_stay_out(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    plan = world.opened(order(world.client))
    assert world.decide(plan, [2]).allowed
    world.client.operations.discard(NUMBERS, EVERY, "hopeless")
    with pytest.raises(BaseChanged, match="do not wait any more"):
        world.publish(plan)
    assert balance(world) == (2, 1, 0, 1, 0)


def test_what_is_being_published_is_not_discarded(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    plan = world.opened(order(world.client))
    assert world.decide(plan, [2]).allowed
    intent = world.client.runs.begin_move(plan.ticket)
    with pytest.raises(TableBusy):
        world.client.operations.discard(NUMBERS, EVERY, "hopeless")
    world.client.runs.complete_move(plan.ticket, world.lake.publish(intent))
    assert balance(world) == (2, 2, 0, 0, 0)


@pytest.mark.parametrize("changed", [{"rows": [2, 3]}, {"rows": []}])
def test_a_replay_accounts_for_every_row(tmp_path: Path, changed: dict[str, Any]) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    decision = world.decide(world.opened(order(world.client)), changed["rows"])
    assert not decision.allowed
    assert "1 quarantined rows were read, but" in " ".join(decision.ruling.reasons)


def test_a_state_that_ends_is_no_row_of_the_batch(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path, Load(type=LoadType.SCD2, keys=("n",)))
    world.run([1, -2])
    plan = world.opened(order(world.client, as_newest=True))
    assert plan.base is not None
    live = world.lake.files(plan.location, plan.base.commit)
    closes = {"changes": Changes(inserted=1, updated=1), "removes": live, "table_rows": 2}
    decision = world.decide(plan, [1, 2], batch=1, **closes)
    assert decision.allowed, decision.ruling.reasons
    world.publish(plan)
    assert balance(world) == (2, 2, 0, 0, 0)


def test_rows_of_a_batch_are_those_that_were_counted(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path, Load(type=LoadType.INCREMENTAL, keys=("n",)))
    decision = world.decide(world.opened(), [1, 2, -3], batch=3)
    assert not decision.allowed
    assert "3 rows and 1 quarantined, but 3 were counted" in " ".join(decision.ruling.reasons)


def test_a_replay_leaves_the_position_where_it_was(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    position = SourcePosition(watermark="7", watermark_of="numbers//n")
    world.run([1, -2], position=position)
    world.replay(order(world.client))
    expected = position.at(2, None, {})
    assert getattr(world.opened().build, "position", None) == expected


# -- loads -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("load", "expected", "added"),
    [
        (Load(type=LoadType.FULL), None, LoadType.APPEND),
        (Load(type=LoadType.APPEND), None, LoadType.APPEND),
        (Load(type=LoadType.PARTITION, partition_by=("p",)), "replaced since", LoadType.APPEND),
        (Load(type=LoadType.INCREMENTAL, keys=("n",)), "order_by", LoadType.INCREMENTAL),
        (
            Load(type=LoadType.INCREMENTAL, keys=("n",), order_by=("n",)),
            None,
            LoadType.INCREMENTAL,
        ),
        (
            Load(type=LoadType.SNAPSHOT, keys=("n",), deletes=Deletes.SOFT),
            "order_by",
            LoadType.INCREMENTAL,
        ),
        (Load(type=LoadType.SCD2, keys=("n",)), "effective", LoadType.SCD2),
        (
            Load(type=LoadType.CDC, keys=("n",), order_by=("n",), operation="op"),
            "may have been deleted since",
            LoadType.CDC,
        ),
        (
            Load(
                type=LoadType.CDC,
                keys=("n",),
                order_by=("n",),
                operation="op",
                deletes=Deletes.SOFT,
            ),
            None,
            LoadType.CDC,
        ),
        (
            Load(type=LoadType.SNAPSHOT, keys=("n",), order_by=("n",)),
            None,
            LoadType.INCREMENTAL,
        ),
        (
            Load(type=LoadType.SCD2, keys=("n",), effective="at"),
            None,
            LoadType.SCD2,
        ),
        (
            Load(type=LoadType.SCD2, keys=("n",), effective="at", operation="op"),
            "may have been deleted since",
            LoadType.SCD2,
        ),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else None,
)
def test_a_load_becomes_one_that_adds(
    tmp_path: Path, load: Load, expected: str | None, added: LoadType
) -> None:
    types = {"n": "long", "p": "long", "at": "timestamp"}
    columns = tuple(ColumnDefinition(name=name, type=kind) for name, kind in types.items())
    world = ByHand.project(tmp_path, load, columns=columns)
    plan = world.opened()
    decision = world.decide(plan, [1, -2])
    assert decision.allowed, decision.ruling.reasons
    world.publish(plan)
    if expected is not None:
        with pytest.raises(NotReplayable, match=expected) as refused:
            order(world.client)
        assert refused.value.next_step == f"lakeguard quarantine replay {NUMBERS} --as-newest"
    again = world.opened(order(world.client, as_newest=expected is not None))
    assert again.load.type is added
    assert again.table_schema == plan.table_schema
    assert again.load.keys == (load.keys if added is not LoadType.APPEND else ())


def test_a_key_hash_of_a_full_load_is_reckoned_by_a_whole_run(tmp_path: Path) -> None:
    world = ByHand.project(
        tmp_path, Load(type=LoadType.FULL, keys=("n",), hash=HashStrategy.KEY_HASH)
    )
    with pytest.raises(NotReplayable, match="reads them all again") as refused:
        order(world.client, as_newest=True)
    assert refused.value.next_step == f"lakeguard run {NUMBERS}"


# -- discarding -----------------------------------------------------------------------------------


def test_what_is_discarded_says_who_and_why(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2, 300])
    gone = world.client.operations.discard(
        NUMBERS, QuarantineSelection(rules=(LARGE,)), " test data "
    )
    assert [(row.rule_id, row.rows, row.state, row.reason) for row in gone] == [
        (LARGE, 1, OFF, "test data")
    ]
    assert gone[0].actor
    assert balance(world) == (3, 1, 1, 1, 0)
    assert in_table(tmp_path) == [-2]
    assert world.client.ledger.verify(replay=True).findings == ()


def test_what_is_discarded_is_not_discarded_again(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    with pytest.raises(NothingQuarantined):
        world.client.operations.discard(NUMBERS, EVERY, "there is none")
    world.run([1, -2])
    world.client.operations.discard(NUMBERS, EVERY, "test data")
    with pytest.raises(
        NothingQuarantined, match=r"no quarantined rows of bronze.numbers$"
    ) as reported:
        world.client.operations.discard(NUMBERS, EVERY, "again")
    assert reported.value.next_step == f"lakeguard quarantine list {NUMBERS} --all"


def test_a_discard_belongs_to_what_it_gave_up(tmp_path: Path) -> None:
    """Rolled forward to a replay that took the rows, they are in the table all the same."""
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    world.replay(order(world.client))
    world.client.operations.rollback(NUMBERS, 1, "because")
    world.client.operations.discard(NUMBERS, EVERY, "test data")
    assert balance(world) == (2, 1, 0, 1, 0)
    world.client.operations.rollback(NUMBERS, 2, "and forward again")
    assert states(world) == [(1, NEGATIVE, 1, SENT)]
    assert balance(world) == (2, 2, 0, 0, 0)


@pytest.mark.parametrize("reason", ["", "  ", "a\nb", "x" * 2001])
def test_nothing_is_discarded_without_a_reason(tmp_path: Path, reason: str) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    with pytest.raises(DiscardInvalid, match="reason"):
        world.client.operations.discard(NUMBERS, EVERY, reason)
    assert balance(world) == (2, 1, 1, 0, 0)


def test_no_reason_holds_a_secret(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -2])
    with pytest.raises(SecretInReason):
        world.client.operations.discard(
            NUMBERS, EVERY, "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
        )
    assert balance(world) == (2, 1, 1, 0, 0)
