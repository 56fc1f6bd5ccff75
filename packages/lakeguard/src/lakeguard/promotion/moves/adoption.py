"""Adoption: an existing table is checked as it is, and governed if the gate allows it.

Nothing is written to the table before the decision. Then one strict commit on that state sets
its properties and carries number and decision.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.gate.policies import evaluate_metadata
from lakeguard.gate.schema_comparison import compare_schema
from lakeguard.lake.adoptable import logged_rows
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import put_document
from lakeguard.ledger.intents import hold_table, intent_of_run, next_seq
from lakeguard.ledger.openings import record_opening, record_schema
from lakeguard.ledger.runs import result_of_run
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.record_decision import Case, decide_and_record, refuse
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.promotion.opening.input_pinning import pin_references, published_parent
from lakeguard.promotion.opening.load_checks import check_partitioning
from lakeguard.promotion.opening.pinned_rules import pin_rules, required_measures
from lakeguard.promotion.opening.run_settings import Bundle, find_bundle
from lakeguard.promotion.opening.table_ownership import (
    examine_for,
    hold_id,
    live_table,
    refuse_claimed,
)
from lakeguard.promotion.privacy.batch_lineage import adopted_lineage
from lakeguard.promotion.publishing.begin_move import take_number
from lakeguard.promotion.publishing.complete_move import complete
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.open_runs import OpenRun, PinnedRules, opened_run
from lakeguard.registry.store import RegisteredDataset, dataset_by_id, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import is_sha256
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    MoveKind,
    Outcome,
    RunStatus,
    TargetFormat,
    TaskKind,
)
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import AlreadyGoverned, BaseChanged, NotAdoptable, NotApproved
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.evidence import Evidence, checked_notes
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import (
    FrameBuild,
    InputPin,
    Intent,
    RunPlan,
    RunResult,
    RunTicket,
    SchemaReaction,
    SchemaVerdict,
    WorkerIdentity,
)
from lakeguard_sdk.model.table_operations import AdoptableTable, AdoptionPlan
from lakeguard_sdk.storage.fault_points import reached


@dataclass(frozen=True)
class _Opening:
    """Facts read when the task was claimed."""

    task: Task
    ticket: RunTicket
    dataset: RegisteredDataset
    pinned: PinnedRules
    lineage: BatchLineage
    bundle: Bundle
    findings: Findings
    references: tuple[InputPin, ...]


def order_adoption(
    context: PlaneContext, name: DatasetName, triggered_by: str, key: str | None = None
) -> str:
    """Create an adoption task, idempotent by key."""
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        published = pointer(tx, dataset.dataset_id)
        if published is not None:
            raise AlreadyGoverned(dataset=name, version=published.version)
        return tasks.submit(
            tx,
            dataset.dataset_id,
            kind=TaskKind.ADOPTION,
            key=None if key is None else f"adopt:{key}",
            parameters="{}",
            triggered_by=triggered_by,
            at=tx.now(),
            rules=context.dispatch,
        )


def open_adoption(
    context: PlaneContext, task_id: str, worker: WorkerIdentity
) -> AdoptionPlan | RunResult:
    """Claim the task; returns what to measure, or the BLOCKED result."""
    with context.write() as tx:
        opening = _claim(tx, context, task_id, worker)
    reached("run.opened")
    table = _examined(context, opening)
    with context.write() as tx:
        tasks.require(tx, opening.ticket)
        differences = _differences(opening.dataset, opening.pinned, table)
        case = _case(opening, opening.ticket.run_id, opening.findings, differences)
        judged = evaluate_metadata(case.facts, opening.pinned.policies, tx.now())
        blocking = (Outcome.FAIL, Outcome.ERROR)
        refused = any(check.outcome in blocking for check in (*case.findings.checks, *judged))
        if refused or differences or table is None:
            return refuse(tx, context, opening.task, case)
        plan = _run_plan(tx, context, opening)
        _record(tx, opening, plan)
    return AdoptionPlan(run=plan, commit=table.commit, files=table.files)


def submit_adoption(context: PlaneContext, ticket: RunTicket, evidence: Evidence) -> RunResult:
    """Decide; if allowed, commit and publish. A blocked table is unchanged.

    Idempotent for the same evidence; different evidence is refused, and so are notes that
    ``submit_evidence`` refuses.
    """
    checked_notes(evidence.notes)
    with context.read() as tx:
        ended = _first_answer(tx, ticket, evidence)
        if ended is not None:
            return ended
        run = _open(tx, ticket)
        known = intent_of_run(tx, ticket.run_id)
    if known is None:
        table = _judged_table(context, run, evidence)
        with context.write() as tx:
            run = _open(tx, ticket)
            hold_table(tx, run.dataset.dataset_id)
            decided = _decide(tx, context, run, table, evidence)
            if isinstance(decided, RunResult):
                return decided
            known = decided
        reached("decision.recorded")
        reached("intent.recorded")
    return complete(context, ticket, context.tables.adopt(known))


def _claim(
    tx: Transaction, context: PlaneContext, task_id: str, worker: WorkerIdentity
) -> _Opening:
    task, ticket = tasks.claim(
        tx, task_id, worker, tx.now(), TaskKind.ADOPTION, context.dispatch.lease
    )
    dataset = dataset_by_id(tx, task.dataset_id)
    findings = Findings()
    if not dataset.definition.active:
        findings.refuse("dataset", f"dataset {dataset.name} is disabled (active: false)")
    published = pointer(tx, dataset.dataset_id)
    if published is not None:
        error = AlreadyGoverned(dataset=dataset.name, version=published.version)
        findings.refuse("dataset", str(error))
    for parent in dataset.definition.parents:  # tags are those of a version
        published_parent(tx, parent, findings)
    lineage = adopted_lineage(tx, dataset.definition)
    return _Opening(
        task=task,
        ticket=ticket,
        dataset=dataset,
        pinned=pin_rules(
            tx,
            dataset,
            published=published,
            build=FrameBuild(),
            opened_at=tx.now(),
            lineage=lineage,
        ),
        lineage=lineage,
        bundle=find_bundle(tx, dataset, findings),
        findings=findings,
        references=pin_references(tx, context, dataset, findings),
    )


def _examined(context: PlaneContext, opening: _Opening) -> AdoptableTable | None:
    """The table if it can be governed; else None, with the reason in the findings."""
    dataset, findings = opening.dataset, opening.findings
    location = context.location_of(dataset)
    try:
        table = examine_for(context, location, dataset.name)
    except NotAdoptable as error:
        findings.refuse("table", _refusal(error))
        return None
    findings.accept("table", f"{location} is judged at commit {table.commit}")
    wanted = dataset.definition.partition_columns(opening.bundle.target)
    check_partitioning(context, dataset, wanted, findings)
    return table


def _refusal(error: NotAdoptable) -> str:
    return f"{error}; {error.next_step}"


def _differences(
    dataset: RegisteredDataset, pinned: PinnedRules, table: AdoptableTable | None
) -> tuple[SchemaReaction, ...]:
    """Every schema difference blocks: an existing table is not cast."""
    if table is None:
        return ()
    found = compare_schema(
        table.table_schema,
        dataset.definition.table_schema,
        pinned.policies,
        dataset.name.layer,
        text_source=False,
    )
    return tuple(item.model_copy(update={"reaction": "BLOCK"}) for item in found)


def _case(
    run: _Opening | OpenRun, run_id: str, findings: Findings, found: Iterable[SchemaReaction]
) -> Case:
    dataset = run.dataset
    declared = dataset.definition.table_schema
    occasion = f"adoption of the table at {dataset.location}"
    return Case(run_id, dataset, declared, run.pinned, findings, tuple(found), occasion=occasion)


def _run_plan(tx: Transaction, context: PlaneContext, opening: _Opening) -> RunPlan:
    """The pinned rules: nothing is built, and the whole table is the batch."""
    dataset, target = opening.dataset, opening.bundle.target
    definition = dataset.definition
    return RunPlan(
        ticket=opening.ticket,
        dataset=dataset.name,
        dataset_id=dataset.dataset_id,
        lease_seconds=context.dispatch.lease_seconds,
        load=definition.load,
        declared=definition.declared,
        build=FrameBuild(),
        measures=required_measures(opening.pinned, definition.table_schema),
        location=context.location_of(dataset),
        base=None,
        staging="",
        definition_hash=dataset.definition_hash,
        settings=opening.bundle.values,
        format=target.format if target else TargetFormat.DELTA,
        database=live_table(tx, target, dataset.name),
        partition_by=definition.partition_columns(target),
        references=opening.references,
    )


def _record(tx: Transaction, opening: _Opening, plan: RunPlan) -> None:
    record_opening(
        tx,
        plan,
        opening.pinned.to_data(),
        opening.dataset.revision,
        put_document(tx, opening.bundle.to_data(), tx.now()),
    )
    verdict = SchemaVerdict(accepted=True, differences=())
    record_schema(tx, plan.ticket.run_id, plan.table_schema, verdict, opening.lineage)


def _first_answer(tx: Transaction, ticket: RunTicket, evidence: Evidence) -> RunResult | None:
    """The run's result if it was decided, else None."""
    tasks.require_holder(tx, ticket)
    decided = decision_of_run(tx, ticket.run_id, evidence.dataset)
    if decided is None:
        return None
    if decided.case.evidence != evidence.content_hash():
        raise NotApproved(run=ticket.run_id, reason="it was decided on other evidence")
    return result_of_run(tx, ticket.run_id)


def _open(tx: Transaction, ticket: RunTicket) -> OpenRun:
    task = tasks.require(tx, ticket)
    if task.kind is not TaskKind.ADOPTION:
        raise NotApproved(run=ticket.run_id, reason="it is no adoption")
    return opened_run(tx, task, ticket.run_id)


def _judged_table(context: PlaneContext, run: OpenRun, evidence: Evidence) -> AdoptableTable:
    """Re-read the table and check that nothing was committed since it was measured."""
    location = context.location_of(run.dataset)
    table = context.tables.examine(location)
    if table.commit != evidence.base_commit:
        raise BaseChanged(
            dataset=run.dataset.name,
            expected=f"commit {evidence.base_commit}, which was judged",
            found=f"commit {table.commit}",
        )
    return table


def _decide(
    tx: Transaction, context: PlaneContext, run: OpenRun, table: AdoptableTable, evidence: Evidence
) -> Intent | RunResult:
    findings = Findings()
    _check_judged(run.plan, table, evidence, findings)
    _check_claims(tx, run, table, findings)
    differences = _differences(run.dataset, run.pinned, table)
    case = _case(run, run.plan.ticket.run_id, findings, differences)
    decision = decide_and_record(tx, context, case, evidence)
    if not decision.allowed:
        return end_run(
            tx,
            context,
            run.task,
            run.dataset,
            RunStatus.BLOCKED,
            decision=decision,
            rows=evidence.rows,
        )
    intent = _intent(tx, run, table, evidence, decision)
    take_number(tx, run.task, intent)
    return intent


def _check_claims(tx: Transaction, run: OpenRun, table: AdoptableTable, findings: Findings) -> None:
    """Check ownership again under the lock: another dataset may have adopted a copy."""
    hold_id(tx, table.table_id)
    try:
        refuse_claimed(tx, run.dataset.dataset_id, table)
    except NotAdoptable as error:
        findings.refuse("table", _refusal(error))


def _intent(
    tx: Transaction,
    run: OpenRun,
    table: AdoptableTable,
    evidence: Evidence,
    decision: Decision,
) -> Intent:
    return Intent(
        intent_id=new_id("int"),
        kind=MoveKind.ADOPTION,
        dataset=run.dataset.name,
        dataset_id=run.dataset.dataset_id,
        run_id=evidence.run_id,
        decision_id=decision.decision_id,
        seq=next_seq(tx, run.dataset.dataset_id),
        location=table.location,
        table_id=table.table_id,
        base_commit=table.commit,
        table_schema=evidence.table_schema,
        partition_by=table.partition_by,
        adds=evidence.files,
    )


# Checks adoption evidence against the table's log.


def _check_judged(
    plan: RunPlan, table: AdoptableTable, evidence: Evidence, findings: Findings
) -> None:
    """Evidence must match the run and exactly the files of the table."""
    expected = {
        "run_id": (evidence.run_id, plan.ticket.run_id),
        "dataset": (evidence.dataset, plan.dataset),
        "schema": (evidence.table_schema.schema_hash, plan.table_schema.schema_hash),
        "rows": (evidence.rows, table.rows),
        "table_rows": (evidence.table_rows, table.rows),
        "inputs": (evidence.inputs, ()),
        "removes": (evidence.removes, ()),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            findings.refuse("evidence", f"{field} is {found!r}, it must be {wanted!r}")
    shown = {file.path: file for file in table.files}
    if sorted(file.path for file in evidence.files) != sorted(shown):
        findings.refuse("evidence", "the files judged are not those that the table shows")
        return
    for file in evidence.files:
        logged = shown[file.path]
        same = (file.size, file.stats, file.partition) == (
            logged.size,
            logged.stats,
            logged.partition,
        )
        if not same or file.rows != logged_rows(logged):
            findings.refuse("evidence", f"{file.path!r} is not as the table's log tells of it")
        if not is_sha256(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
