"""Decides a case and records the decision."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from lakeguard.dispatch.tasks import Task
from lakeguard.gate.decide import CaseFacts, decide
from lakeguard.gate.evaluation.case import Quarantined
from lakeguard.gate.rules.worst_values import tagged_columns
from lakeguard.ledger.decisions import record_decision
from lakeguard.ledger.documents import put_documents
from lakeguard.ledger.openings import opening_of, schema_verdict
from lakeguard.ledger.promotions import PromotionRoute, record_evaluation, record_registrations
from lakeguard.ledger.waivers import waivers_in_force
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.measure_history import earlier_values
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.promotion.privacy.private_columns import private_in
from lakeguard.promotion.privacy.row_samples import patterns_passed
from lakeguard.promotion.records.alerts import alert_on_decision, raises_alert
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.promotion.records.table_findings import note_trouble
from lakeguard.registry import queries
from lakeguard.registry.store import RegisteredDataset, current_policies
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import SOURCE_LAYER, PolicyType, RunStatus
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.decision import CaseHashes, Decision
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.plan import Applied
from lakeguard_sdk.model.row_sample import texts
from lakeguard_sdk.model.run import RunResult, SchemaReaction
from lakeguard_sdk.types.schema import TableSchema


@dataclass(frozen=True)
class Case:
    """A run to decide: its dataset, pinned rules and known facts."""

    run_id: str
    dataset: RegisteredDataset
    declared: TableSchema
    pinned: PinnedRules
    findings: Findings
    differences: tuple[SchemaReaction, ...] = ()
    quarantine_rule_ids: tuple[str, ...] = ()
    """Ids of the rules whose failing rows the run quarantines."""
    quarantine: Quarantined | None = None
    """Quarantined rows; None if no policy needs them, or the run adds no rows."""
    occasion: str = ""
    """What is decided, if it is not a new version: a rollback, say."""

    @property
    def facts(self) -> CaseFacts:
        return CaseFacts(
            dataset=self.dataset.name,
            declared=self.declared,
            tags=self.pinned.tags,
            eligibility=self.findings.checks,
            schema_differences=self.differences,
            subject=self.pinned.subject,
            quarantine_rule_ids=self.quarantine_rule_ids,
            quarantine=self.quarantine or self._untouched,
        )

    @property
    def _untouched(self) -> Quarantined | None:
        """What brings no new rows is held to no limit on quarantined rows."""
        asked = any(p.type is PolicyType.QUARANTINE_BUDGET for p in self.pinned.policies)
        return Quarantined(rows=0, exempt=True) if asked else None


def refuse(tx: Transaction, context: PlaneContext, task: Task, case: Case) -> RunResult:
    """Block the run before any data is read."""
    decision = decide_and_record(tx, context, case, None)
    for trouble in case.findings.troubles:
        note_trouble(tx, context, trouble, by=case.run_id)
    return end_run(tx, context, task, case.dataset, RunStatus.BLOCKED, decision=decision)


def decide_and_record(
    tx: Transaction, context: PlaneContext, case: Case, evidence: Evidence | None
) -> Decision:
    """Decide on exactly the stored inputs, so that a replay sees the same."""
    pinned, dataset_id = case.pinned, case.dataset.dataset_id
    history = earlier_values(tx, dataset_id, pinned.rules, case.declared)
    at = tx.now()
    waivers = waivers_in_force(tx, dataset_id, at)
    facts = case.facts.model_copy(update={"waivers": waivers})
    ruling = decide(facts, evidence, pinned.rules, pinned.policies, history, at)
    given = [
        facts.to_data(),
        [rule.to_data() for rule in pinned.rules],
        [policy.to_data() for policy in pinned.policies],
        history.to_data(),
        *([] if evidence is None else [evidence.to_data()]),
    ]
    stored, ruleset, policies, known, *measured = put_documents(tx, given, at)
    decision = Decision(
        decision_id=new_id("dec"),
        run_id=case.run_id,
        dataset=facts.dataset,
        dataset_id=dataset_id,
        ruling=ruling,
        case=CaseHashes(
            facts=stored,
            evidence=measured[0] if measured else None,
            ruleset=ruleset,
            policies=policies,
            history=known,
        ),
    )
    record_decision(tx, decision)
    record_evaluation(tx, decision, from_layer(case.dataset.definition), case.occasion)
    if raises_alert(decision):
        hidden = hidden_in_run(tx, case, decision)
        alert_on_decision(tx, context, case.dataset, decision, hidden)
    return decision


def hidden_in_run(tx: Transaction, case: Case, decision: Decision) -> frozenset[str]:
    """Columns whose values must not leave the ledger: those masked in samples, and all texts if one
    may contain what a policy forbids."""
    policies = (*case.pinned.policies, *current_policies(tx))
    pinned, definition = case.pinned, case.dataset.definition
    found = {*tagged_columns(pinned.tags, pinned.subject)}
    found |= {*private_in(definition, policies, pinned, ())}
    with suppress(UnknownRun):  # a run that never opened has no measures
        plan = opening_of(tx, case.run_id).plan
        verdict = schema_verdict(tx, case.run_id)
        plan = plan if verdict is None else plan.under(verdict)
        found |= {*plan.masked, *plan.private}
    if not patterns_passed(pinned, decision):
        found |= set(texts(case.declared))
    return frozenset(found)


def from_layer(definition: DatasetDefinition) -> str:
    """The nearest parent layer, the dataset's own included; else the source."""
    layers = sorted({parent.layer for parent in definition.parents}, key=lambda item: item.height)
    below = [layer for layer in layers if layer.height < definition.dataset.layer.height]
    nearest = (below or layers)[-1:]
    return nearest[0].value if nearest else SOURCE_LAYER


# Initial promotion status of newly registered datasets.


def register_datasets(tx: Transaction, applied: Applied) -> None:
    """Datasets with a new route to their layer; a revision may change the route."""
    if applied.apply_id is None:
        return
    routes = []
    for row in tx.execute(queries.revisions_of_apply(applied.apply_id)):
        definition = DatasetDefinition.from_json(row.definition)
        layer = definition.dataset.layer.value
        routes.append(PromotionRoute(row.dataset_id, from_layer(definition), layer))
    record_registrations(tx, routes, applied.applied_at)
