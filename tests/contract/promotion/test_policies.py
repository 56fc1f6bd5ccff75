"""Policies outrank pipelines: each type holds and blocks, on real runs over both databases."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    Outcome,
    PolicyType,
    RunStatus,
    Severity,
)
from lakeguard_sdk.errors import InvalidDefinitions, RollbackBlocked
from lakeguard_sdk.expressions.measures import SampleMatches, measure_key
from lakeguard_sdk.model.definitions import ColumnDefinition, PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    decided,
    end,
    numbers,
    opened,
    promise,
    promised,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS, Clock

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")


POSITIVE = RuleDefinition(
    rule_id="positive", rule_type="RANGE", expression="range(n, min=0)", severity=Severity.WARN
)


@pytest.mark.parametrize(
    ("type", "held", "broken"),
    [
        (PolicyType.PII, "forbid tag:secret", "forbid tag:pii"),
        (PolicyType.PII, "forbid columns [m]", "forbid columns ['N*']"),
        (PolicyType.OWNERSHIP, "owner in [tests]", "owner in [others]"),
        (PolicyType.OWNERSHIP, "owner required", "description required"),
        (PolicyType.RULE_COVERAGE, "rules >= 1", "rules >= 2"),
        (PolicyType.RULE_COVERAGE, "columns covered >= 100%", "rules >= 5"),
        (PolicyType.LINEAGE_PARENT, "parents forbidden", "parents required"),
        (PolicyType.NAMING, "columns match '[a-z]'", "columns match '[a-m]'"),
        (PolicyType.NAMING, "dataset match 'numbers'", "dataset match 'fact_[a-z]+'"),
        (
            PolicyType.CHANGE_FREEZE,
            "freeze 2026-02-01..2026-02-02",
            "freeze 2025-12-20..2026-01-03",
        ),
        (PolicyType.CHANGE_FREEZE, "freeze saturday..sunday", "freeze thursday..thursday"),
    ],
)
def test_what_needs_no_data_is_refused_before_a_byte_is_staged(
    tmp_path: Path, type: PolicyType, held: str, broken: str
) -> None:
    tagged = ColumnDefinition(name="n", type="long", tags=("pii",))
    dataset = numbers(columns=(tagged,), rules=(POSITIVE,))
    client = world(tmp_path, dataset, policies=(promise(type, broken),))
    refused, check, run_id = decided(client)
    assert refused is not None
    assert refused.status is RunStatus.BLOCKED
    assert check.outcome is Outcome.FAIL
    assert not (tmp_path / "bronze").exists(), "no byte was staged"
    assert client.reader.replay(run_id).identical
    revise(client, policies=(promise(type, broken, enforcement=Enforcement.ALERT),))
    refused, check, run_id = decided(client)
    assert (refused, check.outcome) == (None, Outcome.WARN), "an alert is recorded, and goes on"
    assert client.reader.replay(run_id).identical
    revise(client, policies=(promise(type, held),))
    refused, check, run_id = decided(client)
    assert (refused, check.outcome) == (None, Outcome.PASS)
    assert client.reader.replay(run_id).identical


@pytest.mark.parametrize(
    ("type", "held", "broken"),
    [
        (PolicyType.VOLUME_CAP, "rows <= 3", "rows <= 2"),
        (PolicyType.VOLUME_CAP, "bytes <= 1MB", "bytes <= 10"),
        (PolicyType.VOLUME_CAP, "growth <= 200%", "growth <= 199%"),
        (PolicyType.QUARANTINE_BUDGET, "quarantine <= 25%", "quarantine <= 24%"),
        (PolicyType.QUARANTINE_BUDGET, "quarantine <= 1 rows", "quarantine <= 0 rows"),
        (PolicyType.SLA, "duration <= 2h", "duration <= 1h"),
    ],
)
def test_what_needs_data_is_decided_before_it_is_seen(
    tmp_path: Path,
    turned_clock: Clock,
    type: PolicyType,
    held: str,
    broken: str,
) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    for expression, outcome in ((broken, Outcome.FAIL), (held, Outcome.PASS)):
        revise(client, policies=(promise(type, expression),))
        plan = opened(client)
        client.runs.submit_schema(plan.ticket, plan.declared)
        for _ in range(62):
            turned_clock.pass_time(60)
            client.runs.heartbeat(plan.ticket)
        evidence = evidence_of(DeltaLake(), plan, [1, 2, 3]).model_copy(update={"rejected": 1})
        decision = client.runs.submit_evidence(plan.ticket, evidence)
        end(client, plan, decision)
        assert promised(decision.ruling.checks).outcome is outcome
        assert client.reader.replay(plan.ticket.run_id).identical
    assert [move.version for move in client.reader.pointer_moves(NUMBERS)] == [1]


def test_a_schema_that_the_mode_forbids_is_not_staged(tmp_path: Path) -> None:
    for mode, accepted in (("STRICT", False), ("BACKWARD", True)):
        policy = promise(PolicyType.SCHEMA, f"mode {mode}")
        client = world(tmp_path / mode, numbers(), policies=(policy,))
        plan = opened(client)
        live = TableSchema(columns=(*plan.declared.columns, Column(name="m", type="string")))
        assert client.runs.submit_schema(plan.ticket, live).accepted is accepted


@pytest.mark.parametrize(
    ("scope", "governed"),
    [
        ({}, True),
        ({"applies_to_layer": Layer.BRONZE, "applies_to_domain": "test"}, True),
        ({"applies_to_layer": Layer.GOLD}, False),
        ({"applies_to_domain": "finance"}, False),
        ({"applies_to_tag": "pii"}, True),
        ({"applies_to_tag": "pii", "applies_to_domain": "finance"}, False),
    ],
)
def test_a_policy_is_for_a_layer_a_domain_and_a_tag(
    tmp_path: Path, scope: dict[str, Any], governed: bool
) -> None:
    tagged = numbers(columns=(ColumnDefinition(name="n", type="long", tags=("pii",)),))
    policy = promise(PolicyType.OWNERSHIP, "owner in [others]", **scope)
    client = world(tmp_path, tagged, policies=(policy,))
    task = client.operations.submit(NUMBERS, "test")
    result = client.runs.open_run(task, this_process("test"))
    assert isinstance(result, RunResult) is governed
    (row,) = client.reader.policies()
    assert row.applies_to_layer == policy.applies_to_layer
    assert (row.applies_to_domain, row.applies_to_tag) == (
        policy.applies_to_domain,
        policy.applies_to_tag,
    )


def test_an_input_that_is_too_old_is_not_read(tmp_path: Path, turned_clock: Clock) -> None:
    policy = promise(PolicyType.SLA, "freshness <= 24h", applies_to_layer=Layer.SILVER)
    client = world(tmp_path, numbers(), built("SELECT n FROM bronze.numbers"), policies=(policy,))
    run_by_hand(client, [1])
    assert decided(client, DOUBLED)[1].outcome is Outcome.PASS
    turned_clock.now += timedelta(hours=25)
    refused, check, _ = decided(client, DOUBLED)
    assert refused is not None
    assert "input bronze.numbers@v1 is 1 d 1 h old, limit 24h" in check.message


def test_what_comes_too_late_in_the_day_is_told(tmp_path: Path, turned_clock: Clock) -> None:
    client = world(tmp_path, numbers(), policies=(promise(PolicyType.SLA, "arrival by 06:00"),))
    run_by_hand(client, [1])
    turned_clock.now += timedelta(hours=5)
    assert decided(client)[1].outcome is Outcome.PASS
    turned_clock.now += timedelta(days=1, hours=2)
    assert decided(client)[1].outcome is Outcome.FAIL


def test_status_shows_what_is_late_where_no_run_comes(tmp_path: Path, turned_clock: Clock) -> None:
    policy = promise(PolicyType.SLA, "freshness <= 24h", enforcement=Enforcement.ALERT)
    other = PolicyDefinition(
        policy="elsewhere",
        type=PolicyType.SLA,
        expression="freshness <= 1m",
        applies_to_tag="secret",
    )
    client = world(tmp_path, numbers(), policies=(policy, other))
    assert client.reader.status()[0].breaches == (), "nothing is promised of what never was"
    run_by_hand(client, [1])
    assert client.reader.status()[0].breaches == ()
    turned_clock.now += timedelta(hours=25)
    (breach,) = client.reader.status()[0].breaches
    assert (breach.policy, breach.enforcement) == ("promise", Enforcement.ALERT)
    assert "limit 24h" in breach.message


def test_a_freeze_binds_a_rollback_too(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    revise(client, policies=(promise(PolicyType.CHANGE_FREEZE, "freeze 2026-01-01..2026-01-02"),))
    with pytest.raises(RollbackBlocked, match="frozen"):
        client.operations.rollback(NUMBERS, 1, "in a freeze")
    revise(client, policies=(promise(PolicyType.CHANGE_FREEZE, "freeze 2026-02-01..2026-02-02"),))
    assert client.operations.rollback(NUMBERS, 1, "after it").version == 1


def test_rollbacks_are_not_held_to_what_only_runs_can_do(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    run_by_hand(client, [1, 2, 3])
    policies = [
        PolicyDefinition(policy=f"p{at}", type=type, expression=text)
        for at, (type, text) in enumerate(
            [
                (PolicyType.SLA, "duration <= 1m"),
                (PolicyType.SLA, "freshness <= 1m"),
                (PolicyType.SLA, "arrival by 00:00"),
                (PolicyType.VOLUME_CAP, "growth <= 0%"),
            ]
        )
    ]
    revise(client, policies=tuple(policies))
    assert client.operations.rollback(NUMBERS, 1, "to fewer rows").version == 1


@pytest.mark.parametrize(
    "expression",
    [
        "forbid tag:pii; DROP TABLE decisions",
        "forbid pattern '(a+)+b' in samples",
        "forbid pattern '.*' in samples",
        "{{ 7 * 7 }}",
        "1=1",
        "forbid tag:pii\x00",
    ],
)
def test_hostile_texts_are_refused_when_they_are_applied(tmp_path: Path, expression: str) -> None:
    client = world(tmp_path, numbers())
    with pytest.raises(InvalidDefinitions):
        revise(client, policies=(promise(PolicyType.PII, expression),))
    assert client.reader.policies() == []


@pytest.mark.parametrize("versions", [0, 1])
def test_maintenance_removes_at_once_what_may_not_be_kept(tmp_path: Path, versions: int) -> None:
    client = world(tmp_path, numbers())
    for number in range(versions):
        run_by_hand(client, [number])
    note = ColumnDefinition(name="note", type="string")
    policy = promise(PolicyType.PII, "forbid pattern '[0-9]{3}' in samples")
    revise(client, numbers(columns=(*numbers().columns, note)), policies=(policy,))
    plan = opened(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [2])
    found = {measure_key(m): 1 for m in plan.measures if isinstance(m, SampleMatches)}
    measured = evidence.model_copy(update={"measures": {**evidence.measures, **found}})
    decision = client.runs.submit_evidence(plan.ticket, measured)
    assert (decision.allowed, decision.ruling.discard) == (False, True)
    staged = tmp_path / "bronze" / "numbers" / plan.staging
    assert staged.exists(), "the data plane died before it could delete them"
    run_id = plan.ticket.run_id
    quarantined = tmp_path / "quarantine" / "bronze" / "numbers" / f"execution_id={run_id}"
    quarantined.mkdir(parents=True)
    (quarantined / "part-0.json").write_text('{"note": "123"}')
    received = tmp_path / "landing" / "numbers" / "ingest_date=2026-01-31"
    for run in (run_id, "run_of_another"):
        (received / f"execution_id={run}").mkdir(parents=True)
        (received / f"execution_id={run}" / "notes.csv").write_text("note\n123\n")
    removals = client.operations.maintain(NUMBERS).removals
    assert [removal.runs for removal in removals] == [(run_id,), (run_id,)]
    assert (staged.exists(), quarantined.exists()) == (False, False)
    assert [path.parent.name for path in received.glob("*/*")] == ["execution_id=run_of_another"]
