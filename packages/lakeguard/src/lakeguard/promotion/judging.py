"""Schema and evidence of a run, answered."""

from __future__ import annotations

from dataclasses import replace

from lakeguard.dispatch import tasks
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.openings import record_schema, schema_verdict
from lakeguard.promotion.aside import damage_aside, quarantined
from lakeguard.promotion.deciding import Case, decide_and_record, refuse
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.ending import end_run
from lakeguard.promotion.evidence_check import check_evidence
from lakeguard.promotion.heart import Heart, OpenRun, load_open_run
from lakeguard.promotion.schema_verdict import judge_schema
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.run import RunTicket, SchemaReaction, SchemaVerdict
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import RunStatus


def submit_schema(heart: Heart, ticket: RunTicket, live: TableSchema) -> SchemaVerdict:
    """Answer every difference; one that blocks ends the run with a decision."""
    with heart.database.write() as connection:
        run = load_open_run(connection, heart, ticket)
        known = schema_verdict(connection, heart.org_id, ticket.run_id)
        if known is not None:
            return known
        verdict = judge_schema(connection, heart, run, _case(run, Findings()).facts, live)
        record_schema(connection, heart.org_id, ticket.run_id, live, verdict, heart.clock())
        if not verdict.accepted:
            case = _case(run, Findings(), verdict.differences)
            result = refuse(connection, heart, run.task, case)
            verdict = verdict.model_copy(update={"result": result})
    reached("schema.submitted")
    return verdict


def submit_evidence(heart: Heart, ticket: RunTicket, evidence: Evidence) -> Decision:
    """Decide. The same evidence again gives the recorded decision; other evidence is refused."""
    damage = damage_aside(heart, evidence)
    with heart.database.write() as connection:
        tasks.require_holder(connection, heart.org_id, ticket)
        known = decision_of_run(connection, heart.org_id, ticket.run_id, evidence.dataset)
        if known is not None:
            if known.case.evidence != evidence.content_hash():
                raise NotApproved(run=ticket.run_id, reason="it was decided on other evidence")
            return known
        run = load_open_run(connection, heart, ticket)
        verdict = schema_verdict(connection, heart.org_id, ticket.run_id)
        findings = Findings()
        check_evidence(connection, heart, run, evidence, findings)
        for problem in damage:
            findings.refuse("evidence", problem)
        if verdict is None:
            findings.refuse("schema", "the live schema was never submitted")
        case = replace(
            _case(run, findings, verdict.differences if verdict else ()),
            aside=tuple(rule.rule_id for rule in run.plan.aside),
            quarantine=quarantined(connection, heart, run.plan, run.pinned.policies),
        )
        decision = decide_and_record(connection, heart, case, evidence)
        if not decision.allowed:
            end_run(
                connection,
                heart,
                run.task,
                run.dataset,
                RunStatus.BLOCKED,
                decision=decision,
                rows=evidence.rows,
                inputs=evidence.inputs,
            )
    reached("decision.recorded")
    return decision


def _case(run: OpenRun, findings: Findings, differences: tuple[SchemaReaction, ...] = ()) -> Case:
    plan = run.plan
    return Case(
        plan.ticket.run_id, run.dataset, plan.table_schema, run.pinned, findings, differences
    )
