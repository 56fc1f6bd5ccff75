"""One run: extract, transform, conform, stage, measure, decision, publish."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from pyspark.sql import SparkSession

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.expressions.measures import AnyMeasure, measure_key
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.evidence import Evidence, SourcePosition
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantinedRows
from lakeguard_sdk.model.row_sample import text_columns_to_mask
from lakeguard_sdk.model.run import (
    FrameBuild,
    RunPlan,
    RunResult,
    SourceBuild,
)
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.storage.run_folders import quarantine_place, quarantine_run_folder
from lakeguard_sdk.storage.storage import Storage, join, storage_for
from openlaketx.conform import as_accepted, conform, locate_misfits
from openlaketx.engine.file_check import checking_files
from openlaketx.engine.shown_values import mask_columns
from openlaketx.engine.spark.session import RUN_SETTINGS
from openlaketx.extract import Batch, ProgramFrame, extract, transform, with_lineage
from openlaketx.extract.files.landed_files import run_folder
from openlaketx.loads import Loaded, apply_load, check_base, new_position
from openlaketx.measure import (
    Measured,
    SampleRequest,
    Subject,
    draw_samples,
    measure_options,
    reads_table,
    referenced_rows,
    take_measures,
)
from openlaketx.pipeline.lease import Lease
from openlaketx.publish import commit_publish
from openlaketx.quarantine import QuarantineSplitter
from openlaketx.run import collected_notes
from openlaketx.stage import seal


def run_dataset(
    plan: RunPlan,
    client: WorkerClient,
    session: SparkSession,
    lease: Lease,
    progress: Progress | None = None,
    frame: ProgramFrame | None = None,
) -> RunResult:
    """Run the plan and return its result; nothing is visible before a recorded decision allows it.

    ``session`` belongs to this run only; ``frame`` is the batch of a dataset that a program
    publishes.
    """
    with checking_files(client.reader):
        return _run(plan, client, session, lease, progress or _no_progress, frame)


def _run(
    plan: RunPlan,
    client: WorkerClient,
    session: SparkSession,
    lease: Lease,
    report: Progress,
    frame: ProgramFrame | None,
) -> RunResult:
    """Extract, transform, schema verdict, load."""
    runs, ticket, storage = client.runs, plan.ticket, storage_for(plan.location)
    report("extract", {})
    batch = extract(plan, session, client.lake, storage, project=client.project, frame=frame)
    if batch is None or _nothing_new(plan, batch):
        return runs.finish_unchanged(ticket)
    batch = with_lineage(transform(batch, plan), plan)
    report("schema", {"columns": len(batch.live.columns)})
    verdict = runs.submit_schema(ticket, batch.live, batch.lineage)
    if verdict.result is not None:
        return verdict.result

    plan = plan.under(verdict)
    with mask_columns(plan.private):
        batch = as_accepted(batch, verdict, plan, client.lake)
        accepted = locate_misfits(batch, plan.batch_schema)
        return _load_accepted(plan, accepted, client, lease, report)


def _load_accepted(
    plan: RunPlan, batch: Batch, client: WorkerClient, lease: Lease, report: Progress
) -> RunResult:
    """Conform, stage, measure, decision, publish."""
    runs, storage = client.runs, storage_for(plan.location)
    report("stage", {})
    conformed = conform(batch.frame, batch.live, plan.batch_schema, plan.dataset)
    session = batch.frame.sparkSession
    splitter = QuarantineSplitter(plan, client.lake, storage, session)
    loaded = apply_load(conformed, batch, plan, storage, splitter.split_rows)
    idle = loaded.is_nothing and not _needs_decision(plan, batch, splitter)
    if idle or _all_fail_again(plan, splitter):
        return runs.finish_unchanged(plan.ticket)
    lease.check()

    report("measure", {"rows": loaded.rows, "files": len(loaded.candidate.files)})
    loaded, measured = _measured(plan, batch, loaded, storage, splitter)

    report("decide", {"measures": len(measured.values)})
    lease.check()
    evidence = _evidence(plan, batch, loaded, measured, splitter.quarantined)
    decision = runs.submit_evidence(plan.ticket, evidence)
    submit_row_samples(plan, decision, lambda: subject_of(plan, loaded), session, runs)
    if decision.ruling.discard:
        report("discard", {"files": discard_staged(plan, storage, client.lake)})
    if not decision.allowed:
        return _blocked(plan, batch, loaded, decision)

    report("publish", {})
    return _published(plan, runs, lease, storage)


def _nothing_new(plan: RunPlan, batch: Batch) -> bool:
    """Whether the load skips unchanged input and its base was built from the same input."""
    base = plan.base
    if not plan.load.skip_unchanged or base is None or plan.window is not None:
        return False
    if isinstance(plan.build, FrameBuild):  # a frame is known only by its rows
        return False
    if base.build_hash != build_hash(plan) or set(base.inputs) != set(batch.inputs):
        return False
    if not isinstance(plan.build, SourceBuild):
        return True
    return batch.position is not None and _same_files(plan.build.position, batch.position)


def _same_files(before: SourcePosition | None, after: SourcePosition) -> bool:
    def facts(position: SourcePosition) -> set[tuple[str, int, int]]:
        return {(file.path, file.size, file.modified_ms) for file in position.files}

    return before is not None and bool(after.files) and facts(before) == facts(after)


def _needs_decision(plan: RunPlan, batch: Batch, splitter: QuarantineSplitter) -> bool:
    """Whether a batch without changes still needs a decision: it quarantines rows that are not in
    quarantine yet, or it replays quarantined rows that now pass."""
    if isinstance(plan.build, QuarantineBuild):
        return True
    known_lines = not batch.rejected or _reads_same_files(plan, batch)
    return not (known_lines and splitter.finds_only_known)


def _reads_same_files(plan: RunPlan, batch: Batch) -> bool:
    """Whether malformed lines are those of the published version: it read the same files."""
    if not isinstance(plan.build, SourceBuild) or batch.position is None:
        return False
    return _same_files(plan.build.position, batch.position)


def _all_fail_again(plan: RunPlan, splitter: QuarantineSplitter) -> bool:
    """Whether every replayed row fails again, so that all of them remain quarantined."""
    build = plan.build
    return isinstance(build, QuarantineBuild) and splitter.rows == sum(f.rows for f in build.files)


def _measured(
    plan: RunPlan, batch: Batch, loaded: Loaded, storage: Storage, splitter: QuarantineSplitter
) -> tuple[Loaded, Measured]:
    """Measure the load, and hash its files meanwhile. If rows are quarantined, measure what
    remains."""
    options, session = measure_options(plan), batch.frame.sparkSession
    while True:
        sealing = seal(loaded.candidate, plan, storage)
        if reads_table(plan.measures, plan.dataset):
            check_base(plan, [file.path for file in loaded.stays])
        subject = subject_of(plan, loaded)
        measured = take_measures(plan.measures, subject, options, session)
        sealed = loaded.with_files(sealing.result())
        split = splitter.split_loaded(loaded, subject, measured)
        if split is None:
            return sealed, measured.without(splitter.unmeasured)
        loaded = split


def _published(plan: RunPlan, runs: Runs, lease: Lease, storage: Storage) -> RunResult:
    """Commit the run; the lease is checked before every step."""
    lease.check()
    intent = runs.begin_move(plan.ticket)
    lease.check()
    commit = commit_publish(intent, storage)
    return runs.complete_move(plan.ticket, commit)


def subject_of(plan: RunPlan, loaded: Loaded) -> Subject:
    """What is measured of a load: its new rows, and the table after the load."""
    shown = [file.path for file in loaded.candidate.files] + [file.path for file in loaded.stays]
    return Subject(
        loaded.arrived,
        plan.table_schema,
        tuple(shown),
        loaded.table_rows,
        plan.proven,
        loaded.lacking,
        referenced_rows(plan, shown, loaded.lacking),
        sum(item.size for item in loaded.candidate.files) + sum(item.size for item in loaded.stays),
    )


def _evidence(
    plan: RunPlan,
    batch: Batch,
    loaded: Loaded,
    measured: Measured,
    quarantined: QuarantinedRows | None,
) -> Evidence:
    return Evidence(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        table_schema=plan.table_schema,
        rows=loaded.rows,
        table_rows=loaded.table_rows,
        files=loaded.candidate.files,
        removes=loaded.removes,
        base_commit=plan.base.commit if plan.base else None,
        measures=measured.values,
        unmeasured=measured.unmeasured,
        inputs=batch.inputs,
        position=new_position(plan, batch.position, loaded.read),
        build_hash=build_hash(plan),
        engine=measured.engine,
        changes=loaded.changes,
        rejected=batch.rejected,
        notes=collected_notes(),
        quarantined=quarantined,
        batch=loaded.batch,
    )


def _blocked(plan: RunPlan, batch: Batch, loaded: Loaded, decision: Decision) -> RunResult:
    return RunResult(
        run_id=plan.ticket.run_id,
        dataset=plan.dataset,
        status=RunStatus.BLOCKED,
        rows=loaded.rows,
        inputs=batch.inputs,
        decision=decision,
        ended_at=decision.ruling.decided_at,
    )


def _no_progress(stage: str, facts: dict[str, Any]) -> None:
    """Ignore progress."""


def build_hash(plan: RunPlan) -> str:
    """Equal for the same SQL or source, transform, schema, layout and package version."""
    spec = plan.build.to_data()
    for pinned in ("position", "views", "inputs"):
        spec.pop(pinned, None)
    return content_hash(
        {
            "build": spec,
            "load": plan.load.to_data(),
            "transform": plan.transform,
            "partition_by": plan.partition_by,
            "declared": plan.declared.to_data(),
            "settings": RUN_SETTINGS,
            "openlaketx": version("openlaketx"),
        }
    )


# Discarding: a decision may forbid to keep what the run wrote.


def discard_staged(plan: RunPlan, storage: Storage, lake: str) -> int:
    """Delete all files of the attempt, its quarantined and malformed rows, and its landed files;
    returns their number.

    If the process dies meanwhile, maintenance removes the rest at once.
    """
    run_id = plan.ticket.run_id
    beside = [
        quarantine_place(lake, plan.dataset, run_id),
        quarantine_run_folder(lake, plan.dataset, plan.batch_schema, run_id),
    ]
    if isinstance(plan.build, SourceBuild):
        beside.append(str(run_folder(plan, plan.build.source, lake)))
    gone = _emptied(storage, join(plan.location, plan.staging), plan.location)
    return gone + sum(_emptied(storage, folder, lake) for folder in beside)


def _emptied(storage: Storage, folder: str, root: str) -> int:
    files = list(storage.files_under(folder))
    for file in files:
        storage.remove(file.path, root)
    return len(files)


# Row samples: a few rows that failed each rule, submitted after the decision.

SECONDS_BEFORE_PUBLISH = 5.0
SECONDS_WHEN_BLOCKED = 20.0
"""Shorter than a heartbeat interval: a blocked run has no lease any more."""


def submit_row_samples(
    plan: RunPlan,
    decision: Decision,
    subject: Callable[[], Subject],
    session: SparkSession,
    runs: Runs,
) -> None:
    """Submit samples for every rule that failed or warned, unless the run is discarded. Texts are
    redacted where one may match a pattern that a policy forbids.

    Best effort: an error here does not change the run.
    """
    counted = _counted(plan, decision)
    if not counted or decision.ruling.discard:
        return
    texts = text_columns_to_mask(decision.ruling, plan.table_schema)
    request = SampleRequest(counted, plan.load.keys, tuple({*plan.masked, *plan.private, *texts}))
    seconds = SECONDS_BEFORE_PUBLISH if decision.allowed else SECONDS_WHEN_BLOCKED
    try:
        samples = draw_samples(request, subject(), measure_options(plan), seconds, session)
        runs.submit_samples(plan.ticket, samples)
    except Exception:  # noqa: BLE001 - samples are optional, the decision is recorded
        return


def _counted(plan: RunPlan, decision: Decision) -> dict[str, AnyMeasure]:
    """The measure that counted failing rows, by rule; blocking rules come first."""
    measures = {measure_key(measure): measure for measure in plan.measures}
    found = [check for check in decision.ruling.checks if _is_shown(check)]
    found.sort(key=lambda check: check.outcome is not Outcome.FAIL)
    return {check.check_id: measures[check.counted] for check in found if check.counted in measures}


def _is_shown(check: CheckResult) -> bool:
    return check.kind is CheckKind.RULE and check.outcome in (Outcome.FAIL, Outcome.WARN)
