"""One run: describe, stage, load, measure, decision, publish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.enums import CheckKind, Outcome, RunStatus
from lakeguard_sdk.expressions.measures import AnyMeasure, measure_key
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.delta_log import written_whole
from lakeguard_sdk.model.evidence import Evidence, SourcePosition, VersionPosition
from lakeguard_sdk.model.quarantine import QuarantineBuild
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
from openlaketx.engine.file_check import checking_files
from openlaketx.engine.shown_values import mask_columns
from openlaketx.engine.spark.run_settings import RUN_SETTINGS
from openlaketx.engine.spark.session import Sessions
from openlaketx.extract.files.landed_files import run_folder
from openlaketx.isolation.batch_builder import BatchBuilder
from openlaketx.isolation.messages import BatchFacts
from openlaketx.loads import Loaded, StagedBatch, apply_load, check_base, new_position
from openlaketx.loads.table_state import Existing, reading_base
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
from openlaketx.stage import FileMarks, seal
from openlaketx.stage.run_staging import RunStaging, run_staging


def run_dataset(
    plan: RunPlan,
    client: WorkerClient,
    builder: BatchBuilder,
    sessions: Sessions,
    lease: Lease,
    progress: Progress | None = None,
) -> RunResult:
    """Run the plan and return its result; nothing is visible before a recorded decision allows it.

    ``builder`` may work in another process, which gets no say over anything after ``stage``.
    ``sessions`` belong to this run and process only.
    """
    with checking_files(client.reader), run_staging(plan, client.lake) as staging:
        report = progress or _no_progress
        return _run(plan, client, builder, sessions, lease, staging, report)


def _run(
    plan: RunPlan,
    client: WorkerClient,
    builder: BatchBuilder,
    sessions: Sessions,
    lease: Lease,
    staging: RunStaging,
    report: Progress,
) -> RunResult:
    """Describe, schema verdict, stage, load."""
    runs, ticket = client.runs, plan.ticket
    report("extract", {})
    facts = builder.describe(plan)
    if facts is None or _nothing_new(plan, facts):
        return runs.finish_unchanged(ticket)
    report("schema", {"columns": len(facts.live.columns)})
    verdict = runs.submit_schema(ticket, facts.live, facts.lineage)
    if verdict.result is not None:
        return verdict.result

    plan = plan.under(verdict)
    with mask_columns(plan.private):
        storage = storage_for(plan.location)
        splitter = QuarantineSplitter(plan, client.lake, storage, sessions)
        report("stage", {})
        with reading_base(plan) as base:
            staged = builder.stage(plan, verdict)
            lease.check()
            run = _Run(
                plan, facts, staged, client, sessions, lease, splitter, storage, staging, base
            )
            return _load_staged(run, report)


@dataclass(frozen=True)
class _Run:
    """A run whose batch is staged."""

    plan: RunPlan
    facts: BatchFacts
    staged: StagedBatch
    client: WorkerClient
    sessions: Sessions
    lease: Lease
    splitter: QuarantineSplitter
    storage: Storage
    staging: RunStaging
    base: Callable[[], Existing]


def _load_staged(run: _Run, report: Progress) -> RunResult:
    """Load, measure, decision, publish."""
    plan, runs, splitter, storage = run.plan, run.client.runs, run.splitter, run.storage
    if run.facts.skip_empty and not run.staged.files.rows and not run.staged.rejected:
        return runs.finish_unchanged(plan.ticket)
    split = splitter.split_rows
    loaded = apply_load(run.staged, run.sessions, plan, storage, split, run.base)
    run.staged.marks.check(plan.dataset, storage)  # a merge does not publish the files it reads
    idle = loaded.is_nothing and not _needs_decision(run)
    if idle or _all_fail_again(plan, splitter):
        return runs.finish_unchanged(plan.ticket)
    run.lease.check()

    report("measure", {"rows": loaded.rows, "files": len(loaded.candidate.files)})
    loaded, measured, marks = _measured(run, loaded)

    report("decide", {"measures": len(measured.values)})
    run.lease.check()
    decision = runs.submit_evidence(plan.ticket, _evidence(run, loaded, measured))
    submit_row_samples(plan, decision, lambda: subject_of(plan, loaded), run.sessions, runs)
    if decision.ruling.discard:
        report("discard", {"files": discard_staged(plan, storage, run.client.lake)})
    if not decision.allowed:
        return _blocked(run, loaded, decision)

    report("publish", {})
    return _published(run, marks)


def _nothing_new(plan: RunPlan, batch: BatchFacts) -> bool:
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


def _same_files(before: VersionPosition | None, after: SourcePosition) -> bool:
    """Whether both have the same files in the same state, and at least one."""
    if before is None or not before.files:
        return False
    if after.since:
        return not after.changes
    return before.holds(after.files)


def _needs_decision(run: _Run) -> bool:
    """Whether a batch without changes still needs a decision: it quarantines rows that are not in
    quarantine yet, or it replays quarantined rows that now pass."""
    if isinstance(run.plan.build, QuarantineBuild):
        return True
    known_lines = not run.staged.rejected or _reads_same_files(run.plan, run.facts)
    return not (known_lines and run.splitter.finds_only_known)


def _reads_same_files(plan: RunPlan, batch: BatchFacts) -> bool:
    """Whether malformed lines are those of the published version: it read the same files."""
    if not isinstance(plan.build, SourceBuild) or batch.position is None:
        return False
    return _same_files(plan.build.position, batch.position)


def _all_fail_again(plan: RunPlan, splitter: QuarantineSplitter) -> bool:
    """Whether every replayed row fails again, so that all of them remain quarantined."""
    build = plan.build
    return isinstance(build, QuarantineBuild) and splitter.rows == sum(f.rows for f in build.files)


def _measured(run: _Run, loaded: Loaded) -> tuple[Loaded, Measured, FileMarks]:
    """Quarantine failing rows, then measure what remains, and hash its files meanwhile.

    What decides about quarantine is measured first, so that the rest is measured once. The marks
    prove that measured, hashed and published bytes are the same.
    """
    plan, deciding = run.plan, run.splitter.measures_of_load
    found: Measured | None = None
    while True:
        written = [f.path for f in loaded.candidate.files if written_whole(f.path)]
        marks = run.staged.marks.of_files(written, run.storage)
        if reads_table(plan.measures, plan.dataset):
            check_base(plan, [file.path for file in loaded.stays])
        subject = subject_of(plan, loaded)
        if not deciding:
            break
        found = _taken(run, deciding, subject)
        confirm = partial(_confirm, run, marks)
        split = run.splitter.split_loaded(loaded, subject, found, confirm)
        if split is None:
            break
        loaded = split
    sealing = seal(loaded.candidate, plan, run.storage, synced=marks.synced)
    measured = _taken(run, [item for item in plan.measures if item not in deciding], subject)
    sealed = loaded.with_files(sealing.result())
    _confirm(run, marks)
    measured = measured if found is None else found.joined(measured)
    return sealed, measured.without(run.splitter.unmeasured), marks


def _taken(run: _Run, measures: Sequence[AnyMeasure], subject: Subject) -> Measured:
    options = measure_options(run.plan)
    session = options.session(measures, subject, run.sessions)
    return take_measures(measures, subject, options, session)


def _confirm(run: _Run, marks: FileMarks) -> None:
    """Raise unless footers agree with their rows, and files are as they were marked."""
    if run.staged.checked is not None:
        run.staged.checked.result()
    marks.check(run.plan.dataset, run.storage)


def _published(run: _Run, marks: FileMarks) -> RunResult:
    """Commit the run; the lease is checked before every step."""
    plan, runs = run.plan, run.client.runs
    run.staging.flush()
    run.lease.check()
    intent = runs.begin_move(plan.ticket)
    run.lease.check()
    marks.check(plan.dataset, run.storage)
    commit = commit_publish(intent, run.storage)
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


def _evidence(run: _Run, loaded: Loaded, measured: Measured) -> Evidence:
    plan, facts = run.plan, run.facts
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
        inputs=facts.inputs,
        position=new_position(plan, facts.position, loaded.read),
        build_hash=build_hash(plan),
        engine=measured.engine,
        changes=loaded.changes,
        rejected=run.staged.rejected,
        notes=facts.notes,
        quarantined=run.splitter.quarantined,
        batch=loaded.batch,
    )


def _blocked(run: _Run, loaded: Loaded, decision: Decision) -> RunResult:
    return RunResult(
        run_id=run.plan.ticket.run_id,
        dataset=run.plan.dataset,
        status=RunStatus.BLOCKED,
        rows=loaded.rows,
        inputs=run.facts.inputs,
        decision=decision,
        ended_at=decision.ruling.decided_at,
    )


def _no_progress(stage: str, facts: dict[str, Any]) -> None:
    """Ignore progress."""


def build_hash(plan: RunPlan) -> str:
    """Equal for the same SQL or source, transform, schema, layout and package version."""
    spec = plan.build.to_data()
    for pinned in ("position", "views", "inputs", "roots"):
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
        beside.append(run_folder(plan, plan.build.source, lake))
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
    sessions: Sessions,
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
        options, of = measure_options(plan), subject()
        session = options.session(counted.values(), of, sessions)
        samples = draw_samples(request, of, options, seconds, session)
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
