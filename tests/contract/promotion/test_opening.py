"""What can be refused without data is refused before a byte is staged, by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    LoadType,
    Outcome,
    PolicyType,
    RunStatus,
    Severity,
    SourceFormat,
)
from lakeguard_sdk.errors import BaseChanged, InvalidDefinitions, RollbackBlocked, TableBusy
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
    PolicyDefinition,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan, RunResult, SqlBuild
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

DOUBLED = DatasetName("silver.doubled")
SOURCE = SourceDefinition(source="numbers", format=SourceFormat.PARQUET, path="in/*.parquet")
POSITIVE = RuleDefinition(
    rule_id="positive", rule_type="RANGE", expression="range(n, min=0)", severity=Severity.FAIL
)
NO_PII = PolicyDefinition(
    policy="no_pii",
    applies_to_layer=Layer.BRONZE,
    type=PolicyType.PII,
    expression="forbid tag:pii",
)
STRICT = PolicyDefinition(
    policy="strict",
    applies_to_layer=Layer.BRONZE,
    type=PolicyType.SCHEMA,
    expression="mode STRICT",
)


def numbers(**changes: object) -> DatasetDefinition:
    fields: dict[str, object] = {
        "dataset": NUMBERS,
        "domain": "test",
        "owner": "tests",
        "build": FromSource(source="numbers"),
        "load": LoadType.APPEND,
        "columns": (ColumnDefinition(name="n", type="long"),),
    }
    return DatasetDefinition(**{**fields, **changes})


def doubled(load: LoadType = LoadType.APPEND) -> DatasetDefinition:
    return numbers(
        dataset=DOUBLED,
        load=load,
        parents=(NUMBERS,),
        build=FromSql(file="sql/d.sql", text="SELECT n FROM bronze.numbers"),
    )


def world(folder: Path, *datasets: DatasetDefinition, **more: object) -> Client:
    return make_project(folder, Definitions(**{"sources": (SOURCE,), "datasets": datasets, **more}))


def revise(client: Client, *datasets: DatasetDefinition, **more: object) -> None:
    definitions = Definitions(**{"datasets": datasets, **more})
    client.registry.apply(client.registry.plan(definitions))


def open_run(client: Client, name: DatasetName = NUMBERS) -> RunPlan | RunResult:
    return client.runs.open_run(client.operations.submit(name, "test"), this_process("test"))


def refused(opened: RunPlan | RunResult) -> list[str]:
    assert isinstance(opened, RunResult)
    assert opened.status is RunStatus.BLOCKED
    assert opened.decision is not None
    assert not opened.decision.allowed
    return list(opened.decision.ruling.reasons)


def test_a_tag_that_policy_forbids_is_refused_at_open(tmp_path: Path) -> None:
    tagged = numbers(
        columns=(ColumnDefinition(name="n", type="long", tags=("pii",)),), rules=(POSITIVE,)
    )
    client = world(tmp_path, tagged, policies=(NO_PII,))
    opened = open_run(client)
    assert any("pii" in reason for reason in refused(opened))
    assert isinstance(opened, RunResult)
    assert opened.decision is not None
    outcomes = {check.check_id: check.outcome for check in opened.decision.ruling.checks}
    assert outcomes["positive"] is Outcome.NOT_EVALUATED, "listed, and said not to be judged"
    assert not (tmp_path / "bronze").exists(), "no byte was staged"
    assert client.reader.replay(opened.run_id).identical


def test_an_alert_policy_lets_the_run_go_on(tmp_path: Path) -> None:
    tagged = numbers(columns=(ColumnDefinition(name="n", type="long", tags=("pii",)),))
    alert = NO_PII.model_copy(update={"enforcement": Enforcement.ALERT})
    client = world(tmp_path, tagged, policies=(alert,))
    result = run_by_hand(client, [1])
    assert result.status is RunStatus.SUCCESS
    assert result.decision is not None
    assert Outcome.WARN in {check.outcome for check in result.decision.ruling.checks}


def test_a_disabled_dataset_is_refused_by_name(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(active=False))
    assert any("bronze.numbers is disabled" in reason for reason in refused(open_run(client)))


def test_a_disabled_source_is_refused_by_name(tmp_path: Path) -> None:
    off = SOURCE.model_copy(update={"active": False})
    client = world(tmp_path, numbers(), sources=(off,))
    assert any("source numbers is disabled" in reason for reason in refused(open_run(client)))


def test_a_missing_input_version_is_refused_by_name(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), doubled())
    reasons = refused(open_run(client, DOUBLED))
    assert any("bronze.numbers has no published version" in reason for reason in reasons)


def test_a_disabled_input_is_refused_by_name(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), doubled())
    run_by_hand(client, [1])
    revise(client, numbers(active=False))
    reasons = refused(open_run(client, DOUBLED))
    assert any("bronze.numbers is disabled" in reason for reason in reasons)


def test_inputs_are_pinned_when_the_run_opens(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), doubled())
    run_by_hand(client, [1])
    plan = open_run(client, DOUBLED)
    run_by_hand(client, [2])
    assert isinstance(plan, RunPlan)
    assert isinstance(plan.build, SqlBuild)
    (view,) = plan.build.views
    pin = plan.build.views[view]
    assert (pin.input.version, pin.since) == (1, None)
    assert "bronze.numbers" not in plan.build.text
    assert view in plan.build.text


def test_rules_are_pinned_when_the_run_opens(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    plan = open_run(client)
    assert isinstance(plan, RunPlan)
    revise(client, numbers(rules=(POSITIVE,)))
    client.runs.submit_schema(plan.ticket, plan.declared)
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [-1]))
    assert decision.allowed, "an edit counts from the next run"
    later = open_run(client)
    assert isinstance(later, RunPlan)
    assert len(later.measures) > len(plan.measures)


@pytest.mark.parametrize(
    "columns",
    [(("n", "string"),), (("m", "long"),), (("n", "integer"), ("m", "string"))],
    ids=["of another type", "dropped", "of another type beside a new one"],
)
def test_append_refuses_to_change_what_is_there(
    tmp_path: Path, columns: tuple[tuple[str, str], ...]
) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    other = tuple(ColumnDefinition(name=name, type=kind) for name, kind in columns)
    revise(client, numbers(columns=other, rules=()))
    (reason,) = refused(open_run(client))
    assert "n of bronze.numbers changed since v1: APPEND can add columns" in reason
    assert "load type FULL" in reason


def test_append_takes_a_column_that_is_added(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    wider = (*numbers().columns, ColumnDefinition(name="m", type="string"))
    revise(client, numbers(columns=wider))
    plan = open_run(client)
    assert isinstance(plan, RunPlan)
    assert plan.table_schema.names == ("n", "m")


def schema(**columns: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in columns.items()))


@pytest.mark.parametrize(
    ("live", "accepted", "accepted_by_strict"),
    [
        (schema(n="long"), True, True),
        (schema(n="integer"), True, False),
        (schema(n="long", extra="string"), True, False),
        (schema(n="string"), False, False),
        (schema(N="long"), False, False),
        (schema(), False, False),
    ],
)
def test_the_live_schema_is_judged_before_staging(
    tmp_path: Path, live: TableSchema, accepted: bool, accepted_by_strict: bool
) -> None:
    for name, policies, expected in (
        ("free", (), accepted),
        ("strict", (STRICT,), accepted_by_strict),
    ):
        client = world(tmp_path / name, numbers(), policies=policies)
        plan = open_run(client)
        assert isinstance(plan, RunPlan)
        verdict = client.runs.submit_schema(plan.ticket, live)
        assert verdict.accepted is expected, name
        if not expected:
            assert verdict.result is not None
            refused(verdict.result)
            assert client.reader.run(plan.ticket.run_id).status is RunStatus.BLOCKED


def test_the_second_of_two_runs_finds_the_base_moved(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    plan = open_run(client)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))
    run_by_hand(client, [2])
    with pytest.raises(BaseChanged) as moved:
        client.runs.begin_move(plan.ticket)
    assert moved.value.retryable


def test_a_second_move_on_a_table_is_busy(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    plans = [open_run(client), open_run(client)]
    for plan in plans:
        assert isinstance(plan, RunPlan)
        client.runs.submit_schema(plan.ticket, plan.declared)
        client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))
    first, second = plans
    assert isinstance(first, RunPlan)
    assert isinstance(second, RunPlan)
    client.runs.begin_move(first.ticket)
    with pytest.raises(TableBusy) as busy:
        client.runs.begin_move(second.ticket)
    assert busy.value.retryable


def test_a_rollback_is_judged_by_the_policies_of_today(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    tagged = (ColumnDefinition(name="n", type="long", tags=("pii",)),)
    revise(client, numbers(columns=tagged), policies=(NO_PII,))
    with pytest.raises(RollbackBlocked):
        client.operations.rollback(NUMBERS, 1, "to what is now forbidden")
    last = client.reader.runs(NUMBERS, limit=1)[0]
    assert last.status is RunStatus.BLOCKED
    assert [move.version for move in client.reader.pointer_moves(NUMBERS)] == [1, 2]


def test_an_alerting_schema_policy_does_not_bind_a_rollback(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(load=LoadType.FULL))
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    wider = (*numbers().columns, ColumnDefinition(name="m", type="string"))
    alert = STRICT.model_copy(update={"enforcement": Enforcement.ALERT})
    revise(client, numbers(load=LoadType.FULL, columns=wider), policies=(alert,))
    assert client.operations.rollback(NUMBERS, 1, "only an alert").version == 1
    revise(client, policies=(STRICT,))
    with pytest.raises(RollbackBlocked):
        client.operations.rollback(NUMBERS, 2, "now it binds")


def test_an_append_from_a_parent_it_never_read_is_refused(tmp_path: Path) -> None:
    other = DatasetName("bronze.other")
    client = world(tmp_path, numbers(), numbers(dataset=other), doubled())
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(other, "test"))
    run_by_hand(client, [1], client.operations.submit(DOUBLED, "test"))
    swapped = doubled().model_copy(
        update={
            "parents": (other,),
            "build": FromSql(file="sql/d.sql", text="SELECT n FROM bronze.other"),
        }
    )
    revise(client, swapped)
    assert any("load type FULL" in reason for reason in refused(open_run(client, DOUBLED)))


def test_the_registry_remembers_the_first_registration(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    first = client.reader.dataset(NUMBERS)
    revise(client, numbers(owner="somebody else"))
    again = client.reader.dataset(NUMBERS)
    assert (again.revision, again.owner) == (first.revision + 1, "somebody else")
    assert (again.created_at, again.dataset_id) == (first.created_at, first.dataset_id)


def test_promotion_status_is_the_history_of_yes_and_no(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(POSITIVE,)), doubled())
    plan = open_run(client)
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    decision = client.runs.submit_evidence(plan.ticket, evidence_of(DeltaLake(), plan, [1]))
    assert not decision.allowed, "the measures of the rule are missing, so it fails closed"
    refused(open_run(client, DOUBLED))
    state = open_state(load_settings(tmp_path))
    with state.read("default") as connection:
        rows = connection.execute(
            text(
                "SELECT from_layer, to_layer, allowed, state FROM promotion_status ORDER BY ordinal"
            )
        ).all()
    assert rows == [
        ("source", "bronze", 0, "REGISTERED"),
        ("bronze", "silver", 0, "REGISTERED"),
        ("source", "bronze", 0, "BLOCKED"),
        ("bronze", "silver", 0, "BLOCKED"),
    ]


def test_an_append_cannot_union_its_parents(tmp_path: Path) -> None:
    other = DatasetName("bronze.other")
    both = doubled().model_copy(
        update={
            "parents": (NUMBERS, other),
            "build": FromSql(
                file="sql/d.sql",
                text="SELECT n FROM bronze.numbers UNION ALL SELECT n FROM bronze.other",
            ),
        }
    )
    datasets = (numbers(), numbers(dataset=other))
    with pytest.raises(InvalidDefinitions) as refusal:
        world(tmp_path / "append", *datasets, both)
    assert "APPEND" in str(refusal.value.errors[0])
    world(tmp_path / "full", *datasets, both.model_copy(update={"load": Load(type=LoadType.FULL)}))


def test_the_order_of_rules_is_no_change_of_rules(tmp_path: Path) -> None:
    other = POSITIVE.model_copy(update={"rule_id": "bounded", "expression": "range(n, max=9)"})
    client = world(tmp_path, numbers(rules=(POSITIVE, other)))
    hashes = set()
    for rules in ((POSITIVE, other), (other, POSITIVE)):
        revise(client, numbers(rules=rules))
        plan = open_run(client)
        assert isinstance(plan, RunPlan)
        client.runs.submit_schema(plan.ticket, plan.declared)
        evidence = evidence_of(DeltaLake(), plan, [1])
        hashes.add(client.runs.submit_evidence(plan.ticket, evidence).case.ruleset)
    assert len(hashes) == 1
