"""One run: extract, transform, conform, stage, measure, decision, publish."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.run import RunPlan, RunResult
from lakeguard_sdk.storage import storage_for
from lakeguard_sdk.words import RunStatus
from openlaketx.conform import conform
from openlaketx.engine.session import run_session
from openlaketx.extract import Batch, extract, transform
from openlaketx.jobs.base_table import BaseTable, base_table
from openlaketx.jobs.build_hash import build_hash
from openlaketx.jobs.lease import Lease
from openlaketx.measure import Measured, Subject, take_measures
from openlaketx.publish import commit_publish
from openlaketx.stage import Candidate, seal, stage


def run_dataset(
    plan: RunPlan,
    client: WorkerClient,
    spark: SparkSession,
    lease: Lease,
    progress: Progress | None = None,
) -> RunResult:
    """The run's result; nothing is visible before a recorded decision allowed it."""
    tell = progress or _silent
    runs, ticket, storage = client.runs, plan.ticket, storage_for(plan.location)

    tell("extract", {})
    batch = extract(plan, run_session(spark), client.lake, storage)
    if batch is None:
        return runs.finish_unchanged(ticket)
    batch = transform(batch, plan)
    tell("schema", {"columns": len(batch.live.columns)})
    verdict = runs.submit_schema(ticket, batch.live)
    if verdict.result is not None:
        return verdict.result

    frame = conform(batch.frame, batch.live, plan.declared, plan.dataset)

    tell("stage", {})
    candidate = stage(frame, batch, plan, storage)
    lease.check()
    sealing = seal(candidate, plan, storage)

    tell("measure", {"rows": candidate.rows, "files": len(candidate.files)})
    base = base_table(plan)
    subject = Subject(candidate, plan.declared, base.stays, base.rows)
    measured = take_measures(plan.measures, subject)
    candidate = sealing.result()

    tell("decide", {"measures": len(measured.values)})
    lease.check()
    decision = runs.submit_evidence(ticket, _evidence(plan, batch, candidate, base, measured))
    if not decision.allowed:
        return _blocked(plan, batch, candidate, decision)

    tell("publish", {})
    lease.check()
    intent = runs.begin_move(ticket)
    lease.check()
    commit = commit_publish(intent, storage)
    return runs.complete_move(ticket, commit)


def _evidence(
    plan: RunPlan, batch: Batch, candidate: Candidate, base: BaseTable, measured: Measured
) -> Evidence:
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        table_schema=plan.declared,
        rows=candidate.rows,
        table_rows=candidate.rows + base.rows,
        files=candidate.files,
        removes=base.removes,
        base_commit=plan.base.commit if plan.base else None,
        measures=measured.values,
        unmeasured=measured.unmeasured,
        inputs=batch.inputs,
        position=batch.position,
        build_hash=build_hash(plan),
        engine=measured.engine,
    )


def _blocked(plan: RunPlan, batch: Batch, candidate: Candidate, decision: Decision) -> RunResult:
    return RunResult(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        status=RunStatus.BLOCKED,
        rows=candidate.rows,
        inputs=batch.inputs,
        decision=decision,
        ended_at=decision.ruling.decided_at,
    )


def _silent(stage: str, facts: dict[str, Any]) -> None:
    """Nobody listens."""
