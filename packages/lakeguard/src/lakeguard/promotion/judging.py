"""Schema and evidence of a run, answered."""

from __future__ import annotations

from sqlalchemy import insert

from lakeguard.gate.decide import CaseFacts
from lakeguard.gate.schema_comparison import compare_schema
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import put_document
from lakeguard.promotion.deciding import decide_and_record, from_layer
from lakeguard.promotion.eligibility import Findings
from lakeguard.promotion.ending import end_run
from lakeguard.promotion.heart import Heart, OpenRun, load_open_run, schema_verdict
from lakeguard.state.tables import run_schemas
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.faultpoints import reached
from lakeguard_sdk.run import RunTicket, SchemaReaction, SchemaVerdict, SourceBuild, SqlBuild
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import RunStatus, SourceFormat


def submit_schema(heart: Heart, ticket: RunTicket, live: TableSchema) -> SchemaVerdict:
    """Answer every difference; one that blocks ends the run with a decision."""
    with heart.database.write() as connection:
        run = load_open_run(connection, heart, ticket)
        known = schema_verdict(connection, heart, ticket.run_id)
        if known is not None:
            return known
        build = run.plan.build
        differences = compare_schema(
            live,
            run.plan.declared,
            run.pinned.policies,
            run.dataset.name.layer,
            text_source=isinstance(build, SourceBuild) and build.format is SourceFormat.CSV,
        )
        accepted = all(item.reaction != "BLOCK" for item in differences)
        verdict = SchemaVerdict(accepted=accepted, differences=differences)
        connection.execute(
            insert(run_schemas).values(
                run_id=ticket.run_id,
                org_id=heart.org_id,
                live_hash=put_document(connection, heart.org_id, live.to_data()),
                verdict_hash=put_document(connection, heart.org_id, verdict.to_data()),
                submitted_at=heart.clock(),
            )
        )
        if not accepted:
            decision = decide_and_record(
                connection,
                heart,
                ticket.run_id,
                run.dataset.dataset_id,
                from_layer(run.dataset.definition),
                _facts(run, Findings(), differences),
                None,
                run.pinned,
            )
            result = end_run(
                connection, heart, run.task, run.dataset, RunStatus.BLOCKED, decision=decision
            )
            verdict = verdict.model_copy(update={"result": result})
    reached("schema.submitted")
    return verdict


def submit_evidence(heart: Heart, ticket: RunTicket, evidence: Evidence) -> Decision:
    """Decide. The same evidence again gives the recorded decision; other evidence is refused."""
    with heart.database.write() as connection:
        dataset = evidence.dataset
        known = decision_of_run(connection, heart.org_id, ticket.run_id, dataset)
        if known is not None:
            if known.case.evidence != evidence.content_hash():
                raise NotApproved(run=ticket.run_id, reason="it was decided on other evidence")
            return known
        run = load_open_run(connection, heart, ticket)
        verdict = schema_verdict(connection, heart, ticket.run_id)
        findings = Findings()
        _check_evidence(run, evidence, findings)
        if verdict is None:
            findings.refuse("schema", "the live schema was never submitted")
        decision = decide_and_record(
            connection,
            heart,
            ticket.run_id,
            run.dataset.dataset_id,
            from_layer(run.dataset.definition),
            _facts(run, findings, verdict.differences if verdict else ()),
            evidence,
            run.pinned,
        )
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
    return decision


def _facts(run: OpenRun, findings: Findings, differences: tuple[SchemaReaction, ...]) -> CaseFacts:
    return CaseFacts(
        dataset=run.dataset.name,
        declared=run.plan.declared,
        tags=run.pinned.tags,
        eligibility=findings.checks,
        schema_differences=differences,
    )


def _check_evidence(run: OpenRun, evidence: Evidence, findings: Findings) -> None:
    """Evidence must be of this run: its plan, its base, its inputs, its own staging folder."""
    plan = run.plan
    expected = {
        "run_id": (evidence.run_id, plan.ticket.run_id),
        "dataset": (evidence.dataset, plan.dataset),
        "base_commit": (evidence.base_commit, plan.base.commit if plan.base else None),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            findings.refuse("evidence", f"{field} is {found!r}, the plan says {wanted!r}")
    pinned = (
        {pin.input for pin in plan.build.views.values()}
        if isinstance(plan.build, SqlBuild)
        else set()
    )
    if set(evidence.inputs) != pinned:
        findings.refuse("evidence", "the inputs read are not those that were pinned")
    for file in evidence.files:
        parts = file.path.split("/")
        if not file.path.startswith(f"{plan.staging}/") or {"", ".", ".."} & set(parts):
            findings.refuse("evidence", f"{file.path!r} is not in the run's staging folder")
