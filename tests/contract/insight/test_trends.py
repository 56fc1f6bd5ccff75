"""How a check fared in the runs before, from what was recorded then."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import event

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import CheckKind, Outcome, Severity
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.model.run_comparison import CheckTrend
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import numbers, revise, world
from tests.support.lakes.published_by_hand import compact_by_hand, evidence_of
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

PRESENT = RuleDefinition(
    rule_id="present", rule_type="NOT_NULL", expression="not_null(n)", severity=Severity.FAIL
)
ENOUGH = RuleDefinition(
    rule_id="enough",
    rule_type="ROW_COUNT",
    expression="row_count(min=1)",
    severity=Severity.FAIL,
)


def opened(client: Client) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    return plan


def run(client: Client, failing: int, rows: int = 10) -> str:
    """A run of so many rows of which some fail; published where it is allowed."""
    plan = opened(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, list(range(rows)))
    counts = {measure_key(m): failing for m in plan.measures if isinstance(m, CountIf)}
    measured = {"measures": {**evidence.measures, **counts}}
    decision = client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=measured))
    if decision.allowed:
        commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    return plan.ticket.run_id


def trend(client: Client, run_id: str, check_id: str = "present", limit: int = 12) -> CheckTrend:
    (found,) = [item for item in client.reader.trends(run_id, limit) if item.check_id == check_id]
    return found


def test_the_oldest_is_first_and_the_run_itself_last(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(PRESENT, ENOUGH)))
    runs = [run(client, failing) for failing in (0, 3, 0, 7)]
    found = trend(client, runs[-1])
    assert found.kind is CheckKind.RULE
    assert [point.run_id for point in found.points] == runs
    assert [point.failed_rows for point in found.points] == [0, 3, 0, 7]
    assert {point.scope_rows for point in found.points} == {10}
    assert [point.outcome for point in found.points] == [
        Outcome.PASS, Outcome.FAIL, Outcome.PASS, Outcome.FAIL,
    ]  # fmt: skip
    counted = trend(client, runs[-1], "enough").points
    assert [point.observed for point in counted] == [10, 10, 10, 10]


def test_what_came_later_is_not_in_it_and_a_limit_holds(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    runs = [run(client, failing) for failing in (0, 1, 2, 3)]
    assert [p.failed_rows for p in trend(client, runs[2]).points] == [0, 1, 2]
    assert [p.failed_rows for p in trend(client, runs[2], limit=2).points] == [1, 2]
    assert [p.failed_rows for p in trend(client, runs[0]).points] == [0]


def test_runs_that_did_not_ask_it_are_gaps(tmp_path: Path) -> None:
    """The rule is younger than the first run, and one run failed before the gate was asked."""
    client = world(tmp_path, numbers(rules=(ENOUGH,)))
    run(client, 0)
    revise(client, numbers(rules=(ENOUGH, PRESENT)))
    plan = opened(client)
    client.runs.fail_run(plan.ticket, Failure(code="LG-5003", message="no file"))
    last = run(client, 4)
    points = trend(client, last).points
    assert [point.outcome for point in points] == [
        Outcome.NOT_EVALUATED, Outcome.NOT_EVALUATED, Outcome.FAIL,
    ]  # fmt: skip
    assert [point.failed_rows for point in points] == [None, None, 4]
    assert client.reader.trends(plan.ticket.run_id) == (), "no check, no trend"


def test_what_brings_no_rows_is_no_point(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    first = run(client, 0)
    run(client, 0)
    client.operations.rollback(NUMBERS, 1, "back")
    compact_by_hand(client)
    last = run(client, 1)
    points = trend(client, last).points
    assert (len(points), points[0].run_id, points[-1].run_id) == (3, first, last)


def test_all_checks_are_asked_at_once(tmp_path: Path) -> None:
    many = tuple(PRESENT.model_copy(update={"rule_id": f"present_{n}"}) for n in range(5))
    client = world(tmp_path, numbers(rules=(*many, ENOUGH)))
    last = [run(client, failing) for failing in (0, 1)][-1]
    engine = client.reader.state.database.engine  # type: ignore[attr-defined]
    asked: list[str] = []

    def hear(_c: object, _k: object, statement: str, *_rest: object) -> None:
        asked.append(statement)

    event.listen(engine, "before_cursor_execute", hear)
    found = client.reader.trends(last)
    event.remove(engine, "before_cursor_execute", hear)
    assert len([one for one in asked if " decisions" in one]) == 1
    assert len([item for item in found if item.kind is CheckKind.RULE]) == 6
