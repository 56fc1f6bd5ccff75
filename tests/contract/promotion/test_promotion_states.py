"""Whatever happens to a dataset, its promotion states follow each other as they may."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Row, select

from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.promotions import (
    PromotionRoute,
    record_evaluation,
    record_promotion,
    record_registrations,
)
from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import promotion_current, promotion_status
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import PolicyType, Severity
from lakeguard_sdk.errors import PromotionRefused, RollbackBlocked
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.foreign_tables import adopt, foreign_project
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    numbers,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import compact_by_hand, evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS, Clock
from tests.support.projects.projects import numbers_project

pytestmark = pytest.mark.usefixtures("each_state")

PRESENT = RuleDefinition(
    rule_id="present", rule_type="NOT_NULL", expression="not_null(n)", severity=Severity.FAIL
)
REGISTERED = ("source", "bronze", "REGISTERED")


def rows(folder: Path) -> list[Row[Any]]:
    """All that was ever said, each row held against those before it."""
    database = open_state(load_settings(folder))
    with database.read("default") as connection:
        found = list(
            connection.execute(select(promotion_status).order_by(promotion_status.c.ordinal))
        )
    database.close()
    by_decision: dict[str | None, list[str]] = {}
    begun = set()
    for row in found:
        way = row.dataset_id, row.from_layer, row.to_layer
        assert (row.state == "REGISTERED") is (way not in begun), "once, and before all else"
        assert (row.decision_id is None) is (row.state == "REGISTERED")
        begun.add(way)
        by_decision.setdefault(row.decision_id, []).append(row.state)
    by_decision.pop(None)
    for given in by_decision.values():
        assert given in (["BLOCKED"], ["ELIGIBLE"], ["ELIGIBLE", "PROMOTED"])
    return found


def states(folder: Path) -> list[str]:
    return [row.state for row in rows(folder)]


def decide(client: Client, failing: int) -> Decision:
    """A run of two numbers of which so many fail the rule; published where it is allowed."""
    task = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1, 2])
    counts = {measure_key(m): failing for m in plan.measures if isinstance(m, CountIf)}
    measured = {"measures": {**evidence.measures, **counts}}
    decision = client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=measured))
    if decision.allowed:
        commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    return decision


def test_a_dataset_has_a_state_from_its_registration_on(tmp_path: Path) -> None:
    numbers_project(tmp_path)
    (row,) = rows(tmp_path)
    assert (row.from_layer, row.to_layer, row.state) == REGISTERED
    assert (row.allowed, row.run_id) == (False, None)
    assert row.reason == "registered; nothing was decided yet"


def test_registering_again_says_nothing_new(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    revise(client, numbers(owner="somebody else"))
    assert states(tmp_path) == ["REGISTERED", "ELIGIBLE", "PROMOTED"]


@pytest.mark.parametrize("failing", [None, 1, 0], ids=["registered", "blocked", "promoted"])
def test_no_state_is_followed_by_a_registration(tmp_path: Path, failing: int | None) -> None:
    """Another way of the same dataset is new all the same; and asked twice at once, it is one."""
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    if failing is not None:
        decide(client, failing)
    before = states(tmp_path)
    dataset_id = client.reader.dataset(NUMBERS).dataset_id
    known, other = (
        PromotionRoute(dataset_id, "source", "bronze"),
        PromotionRoute(dataset_id, "bronze", "bronze"),
    )
    database = open_state(load_settings(tmp_path))
    with OrganisationState.of(database, "default").write() as tx:
        at = datetime.now(UTC)
        record_registrations(tx, [known], at)
        record_registrations(tx, [other, known, other], at)
    database.close()
    assert states(tmp_path) == [*before, "REGISTERED"]


def test_block_then_pass_then_block(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    assert [decide(client, failing).allowed for failing in (1, 0, 1)] == [False, True, False]
    assert states(tmp_path) == ["REGISTERED", "BLOCKED", "ELIGIBLE", "PROMOTED", "BLOCKED"]


def test_a_refusal_before_any_data_is_a_block(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), policies=(promise(PolicyType.OWNERSHIP, "owner in [x]"),))
    client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert states(tmp_path) == ["REGISTERED", "BLOCKED"]


def test_a_rollback_is_decided_and_promoted(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    client.operations.rollback(NUMBERS, 1, "back")
    assert states(tmp_path) == ["REGISTERED", *["ELIGIBLE", "PROMOTED"] * 3]


def test_a_rollback_that_a_policy_forbids_is_a_block(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    revise(client, policies=(promise(PolicyType.OWNERSHIP, "owner in [x]"),))
    with pytest.raises(RollbackBlocked):
        client.operations.rollback(NUMBERS, 1, "back")
    assert states(tmp_path)[-2:] == ["PROMOTED", "BLOCKED"]


def test_a_compaction_is_decided_and_promoted(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    compact_by_hand(client)
    assert states(tmp_path) == ["REGISTERED", *["ELIGIBLE", "PROMOTED"] * 3]


@pytest.mark.parametrize(
    ("batch", "after"), [([1, 2], ["ELIGIBLE", "PROMOTED"]), ([1, 1], ["BLOCKED"])]
)
def test_an_adoption(tmp_path: Path, batch: list[int], after: list[str]) -> None:
    client, _ = foreign_project(tmp_path, batch, rules=("unique(n)",))
    adopt(client)
    assert states(tmp_path / "lake") == ["REGISTERED", *after]


def test_a_retry_is_decided_again(tmp_path: Path) -> None:
    """Its first attempt was allowed, and failed before anything was visible."""
    client = numbers_project(tmp_path)
    task = client.operations.submit(NUMBERS, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    assert client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1])).allowed
    gone = Failure(code="LG-5009", message="the server is away", retryable=True)
    client.runs.fail_run(plan.ticket, gone)
    assert client.operations.requeue(task)
    run_by_hand(client, [1], task)
    assert states(tmp_path) == ["REGISTERED", "ELIGIBLE", "ELIGIBLE", "PROMOTED"]


def test_a_waiver_needs_a_decision_of_its_own(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    decide(client, failing=1)
    until = turned_clock.now + timedelta(days=1)
    client.operations.waive(NUMBERS, "present", approver="Ada", reason="late feed", until=until)
    assert states(tmp_path) == ["REGISTERED", "BLOCKED"], "nothing moves by being waived"
    decide(client, failing=1)
    assert states(tmp_path) == ["REGISTERED", "BLOCKED", "ELIGIBLE", "PROMOTED"]


def test_of_two_runs_at_once_each_has_its_own_states(tmp_path: Path) -> None:
    """One is blocked while the other, allowed before, is on its way."""
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    task = client.operations.submit(NUMBERS, "first")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [1])
    counts = {measure_key(m): 0 for m in plan.measures if isinstance(m, CountIf)}
    measured = {"measures": {**evidence.measures, **counts}}
    client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=measured))
    decide(client, failing=1)
    commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
    client.runs.complete_move(plan.ticket, commit)
    assert states(tmp_path) == ["REGISTERED", "ELIGIBLE", "BLOCKED", "PROMOTED"]


def test_a_promotion_is_of_the_way_that_it_was_decided_for(tmp_path: Path) -> None:
    """The definition names another layer to build from before the run is over."""
    silver = DatasetName("silver.numbers")
    client = world(tmp_path, numbers(), built("SELECT n FROM bronze.numbers"))
    run_by_hand(client, [1])
    task = client.operations.submit(DOUBLED, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [2]))
    beside = built("SELECT n FROM bronze.numbers", name=silver)
    revise(client, beside, built("SELECT n FROM silver.numbers", silver))
    commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
    client.runs.complete_move(plan.ticket, commit)
    dataset = client.reader.dataset(DOUBLED).dataset_id
    given = [
        (row.from_layer, row.to_layer, row.state)
        for row in rows(tmp_path)
        if row.dataset_id == dataset
    ]
    assert given == [
        ("bronze", "silver", "REGISTERED"),
        ("bronze", "silver", "ELIGIBLE"),
        ("silver", "silver", "REGISTERED"),
        ("bronze", "silver", "PROMOTED"),
    ]


def test_what_may_not_follow_is_refused_and_not_written(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(PRESENT,)))
    blocked, promoted = decide(client, failing=1), decide(client, failing=0)
    before = states(tmp_path)
    database = open_state(load_settings(tmp_path))
    for run_id in (blocked.run_id, promoted.run_id):
        with OrganisationState.of(database, "default").write() as tx:
            decision = decision_of_run(tx, run_id, NUMBERS)
            assert decision is not None
            with pytest.raises(PromotionRefused, match="to PROMOTED by"):
                record_promotion(tx, decision)
            with pytest.raises(PromotionRefused, match="by the evaluation of"):
                record_evaluation(tx, decision, "source")
            unknown = decision.model_copy(update={"decision_id": "dec_unknown"})
            with pytest.raises(PromotionRefused, match="from nothing"):
                record_promotion(tx, unknown)
    with database.read("default") as connection:
        (now,) = connection.execute(select(promotion_current))
    database.close()
    assert states(tmp_path) == before
    assert (now.state, now.allowed) == ("PROMOTED", True)
