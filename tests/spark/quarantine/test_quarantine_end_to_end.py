"""Rows quarantined by real runs are stored, replayed and accounted for by the control plane."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LoadType,
    Outcome,
    RunStatus,
)
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineSelection, QuarantineState
from lakeguard_sdk.model.run import RunResult
from openlaketx.worker import create_worker
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.loaded_tables import TABLE, LoadedTable, Row

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
COLUMNS = {"id": "long", "amount": "long", "seq": "long"}
EVERY = QuarantineSelection()
LOADS = [
    Load(type=LoadType.FULL),
    Load(type=LoadType.APPEND),
    Load(type=LoadType.APPEND, keys=("id",), hash=HashStrategy.ROW_HASH),
    Load(type=LoadType.APPEND, watermark="seq"),
    Load(type=LoadType.INCREMENTAL, keys=("id",), order_by=("seq",)),
    Load(type=LoadType.SNAPSHOT, keys=("id",), order_by=("seq",)),
    Load(type=LoadType.SNAPSHOT, keys=("id",), order_by=("seq",), deletes=Deletes.SOFT),
    Load(type=LoadType.CDC, keys=("id",), order_by=("seq",), operation="op"),
    Load(type=LoadType.SCD2, keys=("id",)),
]


def rule(text: str, rule_id: str = "amount") -> RuleDefinition:
    read = parse_rule(f"{text} on_fail quarantine")
    return define_rule(read, rule_id=rule_id, severity=None)


STRICT, LAX = rule("ge(amount, value=0)"), rule("ge(amount, value=-5)")


def row(number: int, amount: int, seq: int) -> Row:
    return {"id": number, "amount": amount, "seq": seq, "op": "u"}


def of(table: LoadedTable, *rows: Row) -> list[Row]:
    wanted = {*COLUMNS, table.load.operation}
    return [{name: value for name, value in item.items() if name in wanted} for item in rows]


def replay(table: LoadedTable, *, as_newest: bool = False) -> RunResult:
    task = table.client.operations.submit_replay(TABLE, "tests", EVERY, as_newest=as_newest)
    return create_worker(table.client.for_worker(), spark_options={}).run_task(task)


def say(table: LoadedTable, *rules: RuleDefinition) -> None:
    table.rules = rules
    table.redefine()


def balance(table: LoadedTable) -> tuple[int, int, int, int]:
    found = table.client.reader.quarantine_balance(TABLE)
    assert found.adds_up
    return found.read, found.published, found.quarantined, found.discarded


def waits(table: LoadedTable) -> list[Any]:
    """Ids in the quarantine tables."""
    places = {log.parent for log in table.folder.glob("quarantine/bronze/things/*/_delta_log")}
    shown = [DeltaTable(str(place)).to_pyarrow_table() for place in places]
    return sorted(value for found in shown for value in found.column("id").to_pylist())


def assert_whole(table: LoadedTable) -> None:
    assert table.client.ledger.verify(replay=True).findings == ()


@pytest.mark.parametrize("load", LOADS, ids=range(len(LOADS)))
def test_the_life_of_rows_that_are_quarantined(tmp_path: Path, load: Load) -> None:
    table = LoadedTable(tmp_path, load, COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1), row(2, -3, 2), row(3, -9, 3)))
    first = table.run()
    assert (first.status, first.version) == (RunStatus.SUCCESS, 1)
    assert first.decision is not None
    (check,) = [c for c in first.decision.ruling.checks if c.check_id == "amount"]
    assert (check.outcome, check.failed_rows, check.scope_rows) == (Outcome.WARN, 2, 3)
    assert balance(table) == (3, 1, 2, 0)
    assert waits(table) == [2, 3]

    say(table, LAX)
    sent = replay(table, as_newest=True)
    assert sent.status is RunStatus.SUCCESS, sent
    assert {item["id"] for item in table.by_deltalake()} == {1, 2}
    assert balance(table) == (3, 2, 1, 0)
    assert waits(table) == [3]
    seen = {item.state: item.first_seen for item in table.client.reader.quarantine(TABLE)}
    assert seen[QuarantineState.REPLAYED] == seen[QuarantineState.QUARANTINED]
    assert_whole(table)

    table.client.operations.rollback(TABLE, 1, "tests")
    assert balance(table) == (3, 1, 2, 0)
    assert waits(table) == [2, 3]
    table.client.operations.discard(TABLE, EVERY, "nobody needs them")
    assert balance(table) == (3, 1, 0, 2)
    assert waits(table) == []
    assert_whole(table)


def test_partitions(tmp_path: Path) -> None:
    load = Load(type=LoadType.PARTITION, partition_by=("seq",))
    table = LoadedTable(tmp_path, load, COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1), row(2, -3, 1), row(3, -9, 2)))
    assert table.run().version == 1
    assert balance(table) == (3, 1, 2, 0)
    say(table, LAX)
    assert replay(table, as_newest=True).version == 2
    assert sorted(item["id"] for item in table.by_deltalake()) == [1, 2]
    assert balance(table) == (3, 2, 1, 0)
    assert_whole(table)


def test_more_than_fail_if_blocks_and_nothing_waits(tmp_path: Path) -> None:
    limited = rule("ge(amount, value=0) fail_if > 1")
    table = LoadedTable(tmp_path, Load(type=LoadType.APPEND), COLUMNS, (limited,))
    table.land(of(table, row(1, 1, 1), row(2, -3, 2), row(3, -9, 3)))
    assert table.run().status is RunStatus.BLOCKED
    assert table.client.reader.quarantine(TABLE) == ()
    assert balance(table) == (0, 0, 0, 0)
    assert_whole(table)


def test_rows_of_two_batches_are_in_the_order_of_their_runs(tmp_path: Path) -> None:
    load = Load(type=LoadType.INCREMENTAL, keys=("id",))
    table = LoadedTable(tmp_path, load, COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1), row(2, -3, 2)))
    table.run()
    table.land(of(table, row(2, -4, 3)))
    table.run()
    say(table, LAX)
    sent = replay(table, as_newest=True)
    assert sent.status is RunStatus.SUCCESS, sent
    assert {(item["id"], item["amount"]) for item in table.by_deltalake()} == {(1, 1), (2, -4)}
    assert balance(table) == (3, 3, 0, 0)
    assert_whole(table)


POINTS = ["quarantine.written", "measure.taken", "decision.recorded"]


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(
    "load", [Load(type=LoadType.APPEND), Load(type=LoadType.SNAPSHOT, keys=("id",))], ids=str
)
def test_a_run_that_dies_leaves_nothing_that_counts(tmp_path: Path, load: Load, point: str) -> None:
    table = LoadedTable(tmp_path, load, COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1)))
    table.run()
    table.land(of(table, row(1, 1, 1), row(2, -3, 2), row(4, 4, 4)), alone=True)
    with dying_at(point):
        table.run()
    assert {item["id"] for item in table.by_deltalake()} == {1}
    assert table.client.reader.quarantine(TABLE) == ()
    table.client.operations.reap()
    again = table.run()
    assert again.version == 2, again
    assert {item["id"] for item in table.by_deltalake()} == {1, 4}
    assert waits(table) == [2]
    assert balance(table)[2] == 1
    assert_whole(table)


def test_what_was_quarantined_is_told_by_the_terminal(tmp_path: Path) -> None:
    from tests.support.projects.terminal import Terminal

    table = LoadedTable(tmp_path, Load(type=LoadType.APPEND), COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1), row(2, -3, 2), row(3, -9, 3)))
    terminal = Terminal(tmp_path)
    ran = terminal.type(f"lakeguard run {TABLE}")
    assert ran.code == 0, ran
    assert "quarantined" in ran.out + ran.err
    listed = terminal.type(f"lakeguard quarantine list {TABLE} --json").data
    assert listed["quarantined"] == 2
    shown = terminal.type(f"lakeguard quarantine show {TABLE} --json").data
    assert "-9" in json.dumps(shown)
    first = terminal.type(f"lakeguard quarantine replay {TABLE}")
    assert first.code == 0, first
    assert "none of 2 rows passed; they stay in quarantine; v1 stays" in first.out
    assert terminal.type(f"lakeguard quarantine list {TABLE} --json").data["quarantined"] == 2
    assert "no row passed" in terminal.type(f"lakeguard runs {TABLE}").out
    say(table, LAX)
    sent = terminal.type(f"lakeguard quarantine replay {TABLE}")
    assert sent.code == 0, sent
    assert terminal.type(f"lakeguard quarantine list {TABLE} --json").data["quarantined"] == 1
    gone = terminal.type(f'lakeguard quarantine discard {TABLE} --reason "not ours"')
    assert gone.code == 0, gone
    listed = terminal.type(f"lakeguard quarantine list {TABLE} --json").data
    assert (listed["quarantined"], listed["balances"][0]["adds_up"]) == (0, True)
    assert terminal.type("lakeguard verify").code == 0


def test_an_idle_run_that_finds_the_same_failing_row_is_judged_on_nothing(tmp_path: Path) -> None:
    """A snapshot reads everything again: the row that is in quarantine, and nothing new."""
    present = define_rule(parse_rule("row_count(min=1)"), rule_id="present", severity=None)
    load = Load(type=LoadType.SNAPSHOT, keys=("id",), order_by=("seq",))
    table = LoadedTable(tmp_path, load, COLUMNS, (STRICT, present))
    table.land(of(table, row(1, 1, 1), row(2, -3, 2)))
    assert table.run().status is RunStatus.SUCCESS
    (first,) = table.client.reader.quarantine(TABLE)

    idle = table.run()
    assert (idle.status, idle.version) == (RunStatus.SUCCESS, None), idle
    assert table.client.reader.quarantine(TABLE) == (first,)
    assert balance(table) == (2, 1, 1, 0)

    table.land(of(table, row(1, 1, 1), row(2, -3, 2), row(3, -4, 3)))
    assert table.run().status is RunStatus.BLOCKED  # another row fails, and none is new
    assert_whole(table)
