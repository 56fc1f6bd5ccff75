"""Opens a run: pins inputs and rules, and refuses what needs no data to refuse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from lakeguard.dispatch import tasks
from lakeguard.dispatch.claim import begin_by_hand
from lakeguard.dispatch.task_row import Task, launched_settings
from lakeguard.gate.policies import evaluate_metadata
from lakeguard.gate.rules.quarantine_rules import quarantine_rules
from lakeguard.gate.schema.profiles import BUILT_IN, DEFAULT, SchemaTerms, answers_of
from lakeguard.ledger.documents import put_document
from lakeguard.ledger.openings import opened_revision, opening_of, record_opening
from lakeguard.ledger.quarantine.load import quarantine_of
from lakeguard.ledger.runs import result_of_run
from lakeguard.ledger.versions import Pointer, pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.record_decision import Case, refuse
from lakeguard.promotion.opening.eligibility import Findings, find_rogue_commit
from lakeguard.promotion.opening.input_pinning import (
    base_position,
    find_altered_inputs,
    pin_references,
    plan_build,
    read_inputs,
)
from lakeguard.promotion.opening.known_unique_keys import proven_unique
from lakeguard.promotion.opening.load_checks import (
    check_partitioning,
    load_problems,
)
from lakeguard.promotion.opening.pinned_rules import pin_rules, read_by, required_measures
from lakeguard.promotion.opening.run_settings import Bundle, find_bundle, with_parameters
from lakeguard.promotion.opening.statistics_redaction import columns_to_redact
from lakeguard.promotion.opening.table_ownership import live_table
from lakeguard.promotion.opening.windows import check_window, known_watermark, task_window
from lakeguard.promotion.privacy.private_columns import private_columns, tagged_above
from lakeguard.promotion.privacy.row_samples import masked_columns
from lakeguard.promotion.privacy.tag_propagation import possible_tags
from lakeguard.promotion.quarantine.replay import plan_replay, replay_load, task_replay
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.promotion.records.table_findings import note_trouble
from lakeguard.registry.files.rules import is_required
from lakeguard.registry.sql.sql_builds import rewrite_transform
from lakeguard.registry.store import (
    RegisteredDataset,
    current_policies,
    current_profiles,
    current_target,
    dataset_by_id,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import LoadType, Outcome, TableProblem, TargetFormat, TaskKind
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineFile
from lakeguard_sdk.model.run import (
    Build,
    InputPin,
    RunPlan,
    RunResult,
    RunTicket,
    SourceBuild,
    TableBase,
    Window,
    WorkerIdentity,
    pins_of,
)
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.run_folders import staging_folder

_REFUSED = (Outcome.FAIL, Outcome.ERROR)


@dataclass(frozen=True)
class Opening:
    """Facts read in one transaction after the claim."""

    task: Task
    ticket: RunTicket
    dataset: RegisteredDataset
    pinned: PinnedRules
    published: Pointer | None
    base: TableBase | None
    build: Build | None
    bundle: Bundle
    findings: Findings
    watermark: str | None
    window: Window | None
    references: tuple[InputPin, ...] = ()

    @property
    def load(self) -> Load:
        load = self.dataset.definition.load
        return replay_load(load) if isinstance(self.build, QuarantineBuild) else load

    @property
    def replaces_all(self) -> bool:
        """Whether the run's files replace all others of the table."""
        return self.load.type is LoadType.FULL and self.window is None

    @property
    def partition_by(self) -> tuple[str, ...]:
        return self.dataset.definition.partition_columns(self.bundle.target)

    @property
    def case(self) -> Case:
        declared = self.dataset.definition.table_schema
        return Case(self.ticket.run_id, self.dataset, declared, self.pinned, self.findings)


def open_run(context: PlaneContext, task_id: str, worker: WorkerIdentity) -> RunPlan | RunResult:
    """Claim the task's next attempt, ignoring its job's concurrency; returns the plan or BLOCKED
    result."""
    with context.write() as tx:
        task, ticket = begin_by_hand(tx, task_id, worker, context.dispatch.lease)
        opening = _read(tx, context, task, ticket)
    return _open(context, opening)


def open_claimed(context: PlaneContext, ticket: RunTicket) -> RunPlan | RunResult:
    """The plan of a claimed attempt, or its BLOCKED result; idempotent."""
    with context.write() as tx:
        task = tasks.require_holder(tx, ticket)
        if task.kind is not TaskKind.BUILD:
            raise NotApproved(run=ticket.run_id, reason=f"it is no build, but of kind {task.kind}")
        known = result_of_run(tx, ticket.run_id)
        if known is not None:
            return known
        tasks.require(tx, ticket)
        if opened_revision(tx, ticket.run_id) is not None:
            plan = opening_of(tx, ticket.run_id).plan
            return plan.model_copy(update={"ticket": ticket})
        opening = _read(tx, context, task, ticket)
    return _open(context, opening)


def _open(context: PlaneContext, opening: Opening) -> RunPlan | RunResult:
    reached("run.opened")
    find_rogue_commit(
        context,
        opening.dataset,
        opening.published,
        opening.findings,
        replaced=opening.replaces_all,
    )
    found = {trouble.problem for trouble in opening.findings.troubles}
    if TableProblem.LOG not in found:  # an altered log says nothing about partitions
        check_partitioning(context, opening.dataset, opening.partition_by, opening.findings)
    pins = {"input": pins_of(opening.build), "reference": opening.references}
    find_altered_inputs(context, pins, opening.findings)
    with context.write() as tx:
        tasks.require(tx, opening.ticket)
        case = opening.case
        judged = evaluate_metadata(case.facts, opening.pinned.policies, tx.now())
        refused = any(check.outcome in _REFUSED for check in (*case.findings.checks, *judged))
        if refused or opening.build is None:
            return refuse(tx, context, opening.task, case)
        for trouble in case.findings.troubles:
            note_trouble(tx, context, trouble, by=opening.ticket.run_id)
        build = opening.build
        if case.findings.troubles:
            opening, build = _reading_all(opening, build)
        return _record_plan(tx, context, opening, build)


def _reading_all(opening: Opening, build: Build) -> tuple[Opening, Build]:
    """On a damaged table a run reads its inputs even if nothing of them is new."""
    base = opening.base and opening.base.model_copy(update={"inputs": ()})
    if isinstance(build, SourceBuild):
        build = build.model_copy(update={"position": None})
    return replace(opening, base=base), build


def _read(tx: Transaction, context: PlaneContext, task: Task, ticket: RunTicket) -> Opening:
    dataset = dataset_by_id(tx, task.dataset_id)
    published = pointer(tx, dataset.dataset_id)
    findings = Findings()
    if problem := dataset.definition.refusal:
        findings.refuse("dataset", f"dataset {dataset.name} {problem}")
    window = task_window(task)
    base = _base(tx, dataset, published, findings, windowed=window is not None)
    check_window(dataset, window, published, findings)
    build, watermark = _build(tx, context, task, dataset, published, findings)
    bundle = find_bundle(tx, dataset, findings, launched_settings(task))
    build = with_parameters(build, dataset.definition, bundle, task.created_at.date(), findings)
    return Opening(
        task=task,
        ticket=ticket,
        dataset=dataset,
        pinned=pin_rules(
            tx,
            dataset,
            published=published,
            build=build,
            opened_at=tx.now(),
            terms=_schema_terms(tx, dataset, findings),
        ),
        published=published,
        base=base,
        build=build,
        bundle=bundle,
        findings=findings,
        watermark=watermark,
        window=window,
        references=pin_references(tx, context, dataset, findings),
    )


def _build(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    dataset: RegisteredDataset,
    published: Pointer | None,
    findings: Findings,
) -> tuple[Build | None, str | None]:
    """The build and its starting watermark; a replay has none."""
    window, replay = task_window(task), task_replay(task)
    position = base_position(tx, dataset, published)
    if replay is not None:
        return plan_replay(tx, dataset, published, replay, findings), None
    build = plan_build(
        tx, context, dataset, published, position, findings, whole=window is not None
    )
    return build, known_watermark(dataset, build, position, published, findings)


def _base(
    tx: Transaction,
    dataset: RegisteredDataset,
    published: Pointer | None,
    findings: Findings,
    *,
    windowed: bool,
) -> TableBase | None:
    if published is None:
        return None
    version = require_version(tx, dataset.dataset_id, published.version)
    target = current_target(tx, dataset.definition.target or "")
    partition_by = dataset.definition.partition_columns(target)
    for problem in load_problems(
        dataset.definition, version.table_schema, version.version, partition_by, windowed=windowed
    ):
        findings.refuse("load", problem)
    return TableBase(
        version=published.version,
        commit=published.commit,
        table_id=version.table_id,
        build_hash=version.build_hash,
        inputs=_inputs_to_compare(tx, dataset, version.version),
    )


def _inputs_to_compare(
    tx: Transaction, dataset: RegisteredDataset, version: int
) -> tuple[InputVersion, ...]:
    """The base's build, for loads that may be skipped."""
    if not dataset.definition.load.skip_unchanged:
        return ()
    return read_inputs(tx, dataset, version)


def _as_of(context: PlaneContext, opening: Opening) -> datetime:
    """When the task was created, for every attempt; now, if a later task published first."""
    given, published = opening.task.created_at, opening.published
    return given if published is None or published.moved_at < given else context.clock()


def _record_plan(tx: Transaction, context: PlaneContext, opening: Opening, build: Build) -> RunPlan:
    plan = _plan(tx, context, opening, build)
    record_opening(
        tx,
        plan,
        opening.pinned.to_data(),
        opening.dataset.revision,
        put_document(tx, opening.bundle.to_data(), tx.now()),
    )
    return plan


def _plan(tx: Transaction, context: PlaneContext, opening: Opening, build: Build) -> RunPlan:
    definition, target = opening.dataset.definition, opening.bundle.target
    private, masked = _hidden_columns(tx, opening, build)
    measures = required_measures(opening.pinned, definition.table_schema)
    quarantining = quarantine_rules(opening.pinned.rules, definition.declared)
    return RunPlan(
        ticket=opening.ticket,
        dataset=opening.dataset.name,
        dataset_id=opening.dataset.dataset_id,
        lease_seconds=context.dispatch.lease_seconds,
        load=opening.load,
        declared=definition.declared,
        build=build,
        measures=measures,
        proven=proven_unique(tx, opening.dataset, opening.base, measures),
        required=tuple(
            name for name in definition.declared.names if is_required(name, opening.pinned.rules)
        ),
        location=context.location_of(opening.dataset),
        base=opening.base,
        staging=staging_folder(opening.ticket.run_id),
        definition_hash=opening.dataset.definition_hash,
        settings=opening.bundle.values,
        format=target.format if target else TargetFormat.DELTA,
        database=live_table(tx, target, opening.dataset.name),
        partition_by=opening.partition_by,
        transform=rewrite_transform(target.transform) if target else "",
        as_of=_as_of(context, opening),
        window=opening.window,
        watermark=opening.watermark,
        references=opening.references,
        private=private,
        masked=masked,
        redacted_statistics=columns_to_redact(definition.table_schema, opening.pinned, masked),
        quarantine_rules=quarantining,
        quarantined=_quarantined_before(tx, opening, build) if quarantining else (),
    )


def _quarantined_before(
    tx: Transaction, opening: Opening, build: Build
) -> tuple[QuarantineFile, ...]:
    """Quarantined and discarded rows that the run may find again; a replay or backfill decides on
    them anew."""
    if opening.base is None or opening.window is not None or isinstance(build, QuarantineBuild):
        return ()
    found = quarantine_of(tx, opening.dataset.dataset_id)
    held = found.held(found.published).values()
    return tuple(file for item in held for file in item.quarantine_files)


def _hidden_columns(
    tx: Transaction, opening: Opening, build: Build
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns redacted in messages, and columns masked in samples."""
    dataset, target = opening.dataset, opening.bundle.target
    policies = current_policies(tx)
    transformed = target is not None and bool(target.transform)
    possible = possible_tags(tx, dataset.definition, read_by(build), transformed=transformed)
    private = private_columns(tx, dataset, policies, possible)
    masked = masked_columns(dataset.definition, opening.pinned, private, possible)
    above = tagged_above(tx, dataset.definition)
    return tuple(sorted({*private, *masked, *above})), masked


# Schema terms of a dataset: compatibility profile and definition.


def _schema_terms(tx: Transaction, dataset: RegisteredDataset, findings: Findings) -> SchemaTerms:
    """The dataset's schema terms; a disabled profile is refused."""
    name = dataset.definition.profile
    own = next((p for p in current_profiles(tx) if p.profile == name), None)
    if own is not None and not own.active:
        findings.refuse("profile", f"schema profile {name} is disabled (active: false)")
    if own is None and name not in BUILT_IN:
        findings.refuse("profile", f"schema profile {name} is not registered")
    answers = answers_of(own) if own else BUILT_IN.get(name, BUILT_IN[DEFAULT])
    columns = dataset.definition.columns
    return SchemaTerms(
        profile=name,
        answers=dict(answers),
        promised=tuple(column.name for column in columns if not column.nullable),
        leave_out=dataset.definition.leave_out,
    )
