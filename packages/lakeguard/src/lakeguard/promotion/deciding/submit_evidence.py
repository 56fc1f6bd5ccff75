"""Handles a run's schema and evidence submissions."""

from __future__ import annotations

from dataclasses import replace

from lakeguard.dispatch import tasks
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.openings import lineage_of_run, record_schema, schema_verdict
from lakeguard.ledger.versions import require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.record_decision import Case, decide_and_record, refuse
from lakeguard.promotion.deciding.row_balance import check_rows
from lakeguard.promotion.deciding.schema_verdict import judge_schema
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.promotion.opening.input_damage import note_damage_of_inputs
from lakeguard.promotion.opening.statistics_redaction import disclosed_statistics
from lakeguard.promotion.privacy.batch_lineage import received_lineage
from lakeguard.promotion.quarantine.record_rows import check_quarantined, damaged_files, quarantined
from lakeguard.promotion.records.alerts import alert_on_columns
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.open_runs import OpenRun, load_open_run
from lakeguard.promotion.records.task_tokens import require_places
from lakeguard.registry.store import current_definition
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import is_sha256
from lakeguard_sdk.core.enums import Lifecycle, RunStatus
from lakeguard_sdk.errors import LoadFailed, NotApproved
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.evidence import Evidence, checked_notes
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.partitions import partition_difference
from lakeguard_sdk.model.run import (
    RunPlan,
    RunTicket,
    SchemaReaction,
    SchemaVerdict,
    SourceBuild,
)
from lakeguard_sdk.model.windows import watermark_value
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.file_records import suggests_damage
from lakeguard_sdk.types.schema import RESERVED_PREFIX, TableSchema, is_reserved_column


def submit_schema(
    context: PlaneContext,
    ticket: RunTicket,
    live: TableSchema,
    reported: BatchLineage | None = None,
) -> SchemaVerdict:
    """Give a verdict on the schema; a blocking difference ends the run with a decision. The tags
    that come with the lineage count from here on."""
    with context.write() as tx:
        run = load_open_run(tx, ticket)
        known = schema_verdict(tx, ticket.run_id)
        if known is not None:
            return known
        _refuse_reserved(run, live)
        batch = received_lineage(tx, context, run, live, reported)
        verdict, lineage = judge_schema(tx, context, run, _case(run, Findings()).facts, live, batch)
        record_schema(tx, ticket.run_id, live, verdict, lineage)
        alert_on_columns(tx, context, run.dataset, ticket.run_id, verdict.differences)
        if not verdict.accepted:
            case = _case(run, Findings(), verdict.differences)
            result = refuse(tx, context, run.task, case)
            verdict = verdict.model_copy(update={"result": result})
    reached("schema.submitted")
    return verdict


def _refuse_reserved(run: OpenRun, live: TableSchema) -> None:
    """Raise ``LoadFailed`` for a column with a reserved name: a column of the data plane could
    replace it after the lineage was reported."""
    taken = next(filter(is_reserved_column, live.names), None)
    if taken is not None:
        reason = f"its rows have a column {taken[:80]}: names with {RESERVED_PREFIX} are reserved"
        raise LoadFailed(dataset=run.plan.dataset, reason=f"{reason}, so rename it at its origin")


def submit_evidence(context: PlaneContext, ticket: RunTicket, evidence: Evidence) -> Decision:
    """Decide on evidence. Idempotent for the same evidence; different evidence is refused.

    Raises ``NoteRefused`` if a note is too large or holds a secret, which a decision would store.
    """
    checked_notes(evidence.notes)
    require_places(context, ticket, evidence)
    damage = damaged_files(context, evidence)
    with context.write() as tx:
        tasks.require_holder(tx, ticket)
        known = decision_of_run(tx, ticket.run_id, evidence.dataset)
        if known is not None:
            if known.case.evidence != evidence.content_hash():
                raise NotApproved(run=ticket.run_id, reason="it was decided on other evidence")
            return known
        run = load_open_run(tx, ticket)
        verdict = run.verdict
        findings = Findings()
        _check_evidence(tx, context, run, evidence, findings)
        _warn_of_deprecated(tx, run.plan, findings)
        for problem in damage:
            findings.refuse("evidence", problem)
        if verdict is None:
            findings.refuse("schema", "the live schema was never submitted")
        case = replace(
            _case(run, findings, verdict.differences if verdict else ()),
            quarantine_rule_ids=tuple(rule.rule_id for rule in run.plan.quarantine_rules),
            quarantine=quarantined(tx, run.plan, run.pinned.policies),
        )
        decision = decide_and_record(tx, context, case, evidence)
        if not decision.allowed:
            end_run(
                tx,
                context,
                run.task,
                run.dataset,
                RunStatus.BLOCKED,
                decision=decision,
                rows=evidence.rows,
                inputs=evidence.inputs,
            )
    reached("decision.recorded")
    if not decision.allowed and any(map(suggests_damage, evidence.unmeasured.values())):
        note_damage_of_inputs(context, ticket.run_id)
    return decision


def _case(run: OpenRun, findings: Findings, differences: tuple[SchemaReaction, ...] = ()) -> Case:
    plan = run.plan
    return Case(
        plan.ticket.run_id, run.dataset, plan.table_schema, run.pinned, findings, differences
    )


# Checks evidence against what the control plane knows.


def _check_evidence(
    tx: Transaction, context: PlaneContext, run: OpenRun, evidence: Evidence, findings: Findings
) -> None:
    """Evidence must match the run: plan, base, inputs and staging folder.

    Raises ``NotApproved`` if it contains a private value, which a finding would store for ever.
    """
    plan = run.plan
    if disclosed := disclosed_statistics(evidence.files, plan.redacted_statistics):
        raise NotApproved(run=plan.ticket.run_id, reason=disclosed)
    base = None
    if plan.base is not None:
        base = require_version(tx, run.dataset.dataset_id, plan.base.version)
    expected = {
        "run_id": (evidence.run_id, plan.ticket.run_id),
        "dataset": (evidence.dataset, plan.dataset),
        "base_commit": (evidence.base_commit, plan.base.commit if plan.base else None),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            findings.refuse("evidence", f"{field} is {found!r}, it must be {wanted!r}")
    check_rows(context, plan, base, evidence, findings)
    check_quarantined(tx, context, plan, evidence, findings)
    _check_position(plan, evidence, findings)
    pins = {pin.input for pin in plan.pins}
    lineage = lineage_of_run(tx, plan.ticket.run_id)
    readable = pins if lineage is None else pins | set(lineage.inputs)
    if not pins <= set(evidence.inputs) <= readable:
        findings.refuse("evidence", "the inputs read are not those that were pinned")
    for file in evidence.files:
        parts = file.path.split("/")
        if not file.path.startswith(f"{plan.staging}/") or {"", ".", ".."} & set(parts):
            findings.refuse("evidence", f"{file.path!r} is not in the run's staging folder")
        if not is_sha256(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
        odd = partition_difference(file.partition, plan.partition_by, plan.table_schema)
        if odd is not None:
            findings.refuse("evidence", f"{file.path!r} is in no partition of the table: {odd}")


def _warn_of_deprecated(tx: Transaction, plan: RunPlan, findings: Findings) -> None:
    """Who builds on a deprecated dataset is told so in every decision."""
    for parent in sorted({pin.input.dataset for pin in plan.pins}):
        found = current_definition(tx, parent)
        if found is not None and found.definition.status is Lifecycle.DEPRECATED:
            owner = found.definition.owner
            findings.warn(f"parent:{parent}", f"parent {parent} is deprecated; ask {owner}")


def _check_position(plan: RunPlan, evidence: Evidence, findings: Findings) -> None:
    """A position continues that of the base or none. A watermark never decreases, and a back-fill
    does not move it."""
    base = plan.build.position if isinstance(plan.build, SourceBuild) else None
    since = evidence.position.since if evidence.position else 0
    if since not in (0, base.version if base else 0):
        findings.refuse("evidence", f"its position continues v{since}, which is not its base")
    elif evidence.position is not None and evidence.position.gone and not since:
        findings.refuse("evidence", "its position lacks files, but continues no other")
    found = evidence.position.watermark if evidence.position else None
    if plan.window is not None:
        if found != plan.watermark:
            findings.refuse("evidence", "a back-fill moved the watermark")
        return
    if plan.watermark is None:
        return
    data_type = str(plan.declared.type_of(plan.load.watermark))
    try:
        fell = found is None or watermark_value(found, data_type) < watermark_value(
            plan.watermark, data_type
        )
    except (TypeError, ValueError):
        fell = True
    if fell:
        findings.refuse("evidence", f"the watermark fell from {plan.watermark} to {found}")
