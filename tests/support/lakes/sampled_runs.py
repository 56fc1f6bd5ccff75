"""Runs of one column of numbers whose rules fail and warn, by hand."""

from __future__ import annotations

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.expressions.measures import Aggregate, CountIf, MeasureValue, measure_key
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions, PolicyDefinition
from lakeguard_sdk.model.row_sample import RowSample
from lakeguard_sdk.model.run import RunPlan, RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.definitions import dataset, rule, source
from tests.support.projects.planes import NUMBERS

FAILS = RowSample(rule_id="present", columns=("n",), rows=((None,), (None,)))
WARNS = RowSample(rule_id="small", columns=("n",), rows=(("7",),))


def sampled_definitions(
    *tags: str,
    policies: tuple[PolicyDefinition, ...] = (),
    more: tuple[ColumnDefinition, ...] = (),
) -> Definitions:
    """A rule that fails, one that warns, and one that passes."""
    rules = (
        rule("not_null(n)", rule_id="present"),
        rule("range(n, max=5)", rule_id="small", severity=Severity.WARN),
        rule("row_count(min=1)", rule_id="some"),
    )
    columns = (ColumnDefinition(name="n", type="long", tags=tags), *more)
    numbers = dataset(str(NUMBERS), columns=columns, rules=rules)
    return Definitions(sources=(source(),), datasets=(numbers,), policies=policies)


def open_run(client: Client, name: DatasetName = NUMBERS) -> RunPlan:
    task = client.operations.submit(name, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, plan.declared)
    return plan


def decide(client: Client, plan: RunPlan, found: dict[str, MeasureValue] | None = None) -> Decision:
    """One row fails each rule about rows."""
    evidence = evidence_of(DeltaLake(), plan, [1, 7])
    counts: dict[str, MeasureValue] = {measure_key(measure): 2 for measure in plan.measures}
    counts |= {measure_key(m): 1 for m in plan.measures if isinstance(m, CountIf)}
    counts |= {measure_key(m): 7 for m in plan.measures if isinstance(m, Aggregate)}
    measured = {**counts, **evidence.measures, **(found or {})}
    return client.runs.submit_evidence(
        plan.ticket, evidence.model_copy(update={"measures": measured})
    )


def blocked_run(client: Client) -> RunTicket:
    plan = open_run(client)
    assert not decide(client, plan).allowed
    return plan.ticket
