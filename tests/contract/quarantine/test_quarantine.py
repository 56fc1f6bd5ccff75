"""Rows that rules keep out of a table, over the ports of a control plane."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from lakeguard_sdk.core.enums import (
    LoadType,
    Outcome,
    PolicyType,
    RunStatus,
)
from lakeguard_sdk.expressions.measures import CountIf, RowCount
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.quarantine import QuarantineBalance, QuarantineSelection, QuarantineState
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.types.schema import Column
from tests.support.lakes.published_by_hand import compact_by_hand, shown
from tests.support.lakes.quarantined_by_hand import (
    LARGE,
    NEGATIVE,
    RULES,
    ByHand,
    definitions,
)
from tests.support.projects.definitions import policy, rule
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

WAITING, UNDONE, REPLACED = (
    QuarantineState.QUARANTINED,
    QuarantineState.UNDONE,
    QuarantineState.REPLACED,
)


def states(world: ByHand) -> list[tuple[int, str, int, QuarantineState]]:
    """Version, rule, rows and state of all that was ever quarantined."""
    found = world.client.reader.quarantine(NUMBERS)
    return [(row.version, row.rule_id, row.rows, row.state) for row in found]


def balance(world: ByHand) -> tuple[int, int, int, int, int]:
    found = world.client.reader.quarantine_balance(NUMBERS)
    assert found.adds_up, found
    return found.read, found.published, found.quarantined, found.discarded, found.malformed


def in_table(folder: Path) -> list[int]:
    """The numbers that a reader of the quarantine's table sees, of whatever columns."""
    found: list[int] = []
    for log in (folder / "quarantine" / "bronze" / "numbers").glob("*/_delta_log"):
        found += DeltaTable(log.parent).to_pyarrow_table()["n"].to_pylist()
    return sorted(found)


def test_a_plan_says_which_rules_quarantine(tmp_path: Path) -> None:
    world = ByHand.project(
        tmp_path,
        rules=(*RULES, rule("not_null(n)"), rule("eq(n, 1) on_fail quarantine", active=False)),
    )
    plan = world.opened()
    assert [item.rule_id for item in plan.quarantine_rules] == [NEGATIVE, LARGE]
    assert [type(item.failed) for item in plan.quarantine_rules] == [CountIf, CountIf]
    assert all(item.scope == RowCount() for item in plan.quarantine_rules)
    assert {item.failed for item in plan.quarantine_rules} <= set(plan.measures)


def test_columns_that_drift_in_keep_the_rules_that_quarantine(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path, profile="additive")
    plan = world.opened()
    live = plan.declared.model_copy(
        update={"columns": (*plan.declared.columns, Column(name="more", type="string"))}
    )
    verdict = world.client.runs.submit_schema(plan.ticket, live)
    assert verdict.declared is not None
    assert verdict.quarantine_rules == plan.quarantine_rules
    assert plan.under(verdict).quarantine_rules == plan.quarantine_rules


def test_what_is_quarantined_waits_once_it_is_published(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    plan = world.opened()
    decision = world.decide(plan, [1, -2, 3, 400, -5])
    assert states(world) == [], "it is decided, and not published"
    ended = world.publish(plan)
    assert (decision.allowed, ended.version, ended.rows) == (True, 1, 2)
    assert states(world) == [(1, NEGATIVE, 2, WAITING), (1, LARGE, 1, WAITING)]
    assert balance(world) == (5, 2, 3, 0, 0)
    assert shown(tmp_path) == [1, 3]
    assert in_table(tmp_path) == [-5, -2, 400]
    outcomes = {check.check_id: check.outcome for check in decision.ruling.checks}
    assert (outcomes[NEGATIVE], outcomes[LARGE]) == (Outcome.WARN, Outcome.WARN)
    assert world.client.ledger.verify(replay=True).findings == ()


def test_a_run_that_publishes_nothing_holds_nothing(tmp_path: Path) -> None:
    world = ByHand.project(
        tmp_path, rules=(rule("range(n, min=0) fail_if > 1 on_fail quarantine", rule_id=NEGATIVE),)
    )
    world.run([1, -1])
    blocked = world.opened()
    assert not world.decide(blocked, [2, -2, -3]).allowed
    failed = world.opened()
    assert world.decide(failed, [3, -4]).allowed
    world.fail(failed)
    assert states(world) == [(1, NEGATIVE, 1, WAITING)]
    assert balance(world) == (2, 1, 1, 0, 0)
    assert in_table(tmp_path) == [-1]


def test_a_rollback_undoes_what_was_quarantined_later(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -1])
    world.run([2, -2, 200])
    world.client.operations.rollback(NUMBERS, 1, "because")
    assert states(world) == [
        (1, NEGATIVE, 1, WAITING),
        (2, NEGATIVE, 1, UNDONE),
        (2, LARGE, 1, UNDONE),
    ]
    assert balance(world) == (2, 1, 1, 0, 0)
    assert in_table(tmp_path) == [-1]
    world.run([3, -3])
    assert balance(world) == (4, 2, 2, 0, 0)
    world.client.operations.rollback(NUMBERS, 2, "and forward again")
    assert [state for *_, state in states(world)] == [WAITING, WAITING, WAITING, UNDONE]
    assert balance(world) == (5, 2, 3, 0, 0)
    assert in_table(tmp_path) == [-2, -1, 200]
    assert world.client.ledger.verify(replay=True).findings == ()


def test_what_reads_everything_anew_replaces_what_waited(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path, LoadType.FULL)
    world.run([1, -1])
    world.run([1, 2, -1, -2])
    assert states(world) == [(1, NEGATIVE, 1, REPLACED), (2, NEGATIVE, 2, WAITING)]
    assert balance(world) == (4, 2, 2, 0, 0)
    world.client.operations.rollback(NUMBERS, 1, "because")
    assert states(world) == [(1, NEGATIVE, 1, WAITING), (2, NEGATIVE, 2, UNDONE)]
    assert in_table(tmp_path) == [-1]


def test_a_compaction_changes_nothing(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -1])
    world.run([2, -2])
    before = (states(world), balance(world))
    assert compact_by_hand(world.client).status is RunStatus.SUCCESS
    assert (states(world), balance(world)) == before
    world.run([3, -3])
    assert balance(world) == (6, 3, 3, 0, 0)


def test_malformed_lines_are_read_and_neither_published_nor_replayed(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -1], rejected=3)
    assert balance(world) == (5, 1, 1, 0, 3)


def test_the_oldest_row_says_since_when(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    assert world.client.reader.quarantine_balance(NUMBERS) == QuarantineBalance(
        dataset=NUMBERS, version=None
    )
    world.run([-1])
    world.run([-2])
    first = world.client.reader.quarantine(NUMBERS)[0]
    assert world.client.reader.quarantine_balance(NUMBERS).oldest == first.first_seen


# -- distrust --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"path": "quarantine/bronze/numbers/x/execution_id=run_1/f"}, "is not where the run"),
        ({"path": "bronze/numbers/f"}, "is not where the run quarantines rows"),
        ({"sha256": "x"}, "has no hash of its content"),
        ({"rule_id": "other"}, "which does not quarantine rows"),
        ({"rows": 9}, "9 rows are quarantined"),
    ],
)
def test_files_that_are_not_the_runs_own_block(
    tmp_path: Path, changed: dict[str, Any], expected: str
) -> None:
    world = ByHand.project(tmp_path)
    plan = world.opened()
    quarantined = world.evidence(plan, [1, -1]).quarantined
    assert quarantined is not None
    files = tuple(file.model_copy(update=changed) for file in quarantined.files)
    rows = sum(file.rows for file in files)
    strange = quarantined.model_copy(update={"files": files, "rows": rows})
    decision = world.decide(plan, [1, -1], quarantined=strange)
    assert not decision.allowed
    assert expected in " ".join(decision.ruling.reasons)


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "cannot be read"), (b"other", "has other content than was said")],
)
def test_files_are_looked_at_before_they_are_believed(
    tmp_path: Path, content: bytes | None, expected: str
) -> None:
    world = ByHand.project(tmp_path)
    plan = world.opened()
    quarantined = world.evidence(plan, [1, -1]).quarantined
    assert quarantined is not None
    place = tmp_path / quarantined.files[0].path
    place.unlink() if content is None else place.write_bytes(content)
    decision = world.decide(plan, [1, -1], quarantined=quarantined)
    assert not decision.allowed
    assert expected in " ".join(decision.ruling.reasons)


def test_a_replay_makes_no_row_younger(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -1])
    task = world.client.operations.submit_replay(NUMBERS, "tests", QuarantineSelection())
    plan = world.opened(task)
    quarantined = world.evidence(plan, [-1]).quarantined
    assert quarantined is not None
    files = tuple(f.model_copy(update={"first_seen": world.clock()}) for f in quarantined.files)
    decision = world.decide(plan, [-1], quarantined=quarantined.model_copy(update={"files": files}))
    assert "has rows of a time to come" in " ".join(decision.ruling.reasons)


def test_rows_that_were_not_quarantined_block(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    plan = world.opened()
    whole: Evidence = world.evidence(plan, [1, 2])
    measures = {key: 1 if key.startswith("count_if") else n for key, n in whole.measures.items()}
    decision = world.decide(plan, [1, 2], measures=measures)
    assert not decision.allowed
    assert "fail and were not quarantined" in " ".join(decision.ruling.reasons)


# -- budgets ---------------------------------------------------------------------------------------


def budget(text: str) -> Any:
    given = {"type": PolicyType.QUARANTINE_BUDGET, "expression": text}
    return policy("budget", applies_to_layer=None, **given)


def test_a_budget_counts_what_waits_after_the_run(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path, policies=(budget("quarantine holds <= 2 rows"),))
    world.run([1, -1])
    world.run([2, -2])
    decision = world.decide(world.opened(), [3, -3])
    assert not decision.allowed
    assert "3 rows in quarantine after the run, at most 2" in decision.ruling.reasons[0]
    world.client.operations.rollback(NUMBERS, 1, "a rollback brings no new rows")
    task = world.client.operations.submit_replay(NUMBERS, "tests", QuarantineSelection())
    plan = world.opened(task)
    assert world.decide(plan, [-1]).allowed, "a replay is never held to it"


def test_a_budget_of_a_load_that_reads_all_counts_its_own_rows(tmp_path: Path) -> None:
    world = ByHand.project(
        tmp_path, LoadType.FULL, policies=(budget("quarantine holds <= 2 rows"),)
    )
    world.run([1, -1, -2])
    assert isinstance(world.run([1, -1, -2]), RunResult)


# -- looking at rows -------------------------------------------------------------------------------


def test_quarantined_rows_can_be_looked_at(tmp_path: Path) -> None:
    world = ByHand.project(tmp_path)
    world.run([1, -1, -2, 300])
    listed = world.client.reader.quarantined_rows(NUMBERS, QuarantineSelection())
    assert listed.columns[0] == "n"
    assert [row[0] for row in listed.rows] == ["-1", "-2", "300"]
    assert (listed.masked, listed.quarantined) == ((), 3)
    some = world.client.reader.quarantined_rows(
        NUMBERS, QuarantineSelection(rules=(NEGATIVE,)), limit=1
    )
    assert ([row[0] for row in some.rows], some.quarantined) == (["-1"], 2)


def test_values_of_a_tagged_column_are_masked(tmp_path: Path) -> None:
    tagged = ColumnDefinition(name="n", type="long", tags=("salary",))
    world = ByHand.project(tmp_path, columns=(tagged,))
    world.run([1, -987654])
    listed = world.client.reader.quarantined_rows(NUMBERS, QuarantineSelection())
    assert (listed.masked, listed.rows[0][0]) == (("n",), "***")
    assert "987654" not in listed.to_json()


def test_values_stay_masked_where_a_tagged_column_left_the_definition(tmp_path: Path) -> None:
    """The tag came after the rows were quarantined."""
    world = ByHand.project(tmp_path)
    world.run([1, -987654])
    registry = world.client.registry
    tagged = ColumnDefinition(name="n", type="long", tags=("salary",))
    other = ColumnDefinition(name="m", type="long")
    for given in (definitions(columns=(tagged,)), definitions(columns=(other,), rules=())):
        registry.apply(registry.plan(given))
        listed = world.client.reader.quarantined_rows(NUMBERS, QuarantineSelection())
        assert (listed.masked, listed.rows[0][0]) == (("n",), "***")
