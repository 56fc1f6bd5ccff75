"""Begins a move: records the intent and takes the table's next number."""

from __future__ import annotations

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.intents import (
    hold_table,
    intent_of_run,
    next_seq,
    open_intent,
    record_intent,
    record_table,
    table_id_of,
)
from lakeguard.ledger.left_graphs import left_graphs
from lakeguard.ledger.quarantine.load import quarantine_of
from lakeguard.ledger.versions import Pointer, pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.row_balance import replaces_all
from lakeguard.promotion.publishing.schema_drift import require_room
from lakeguard.promotion.records.open_runs import OpenRun, load_open_run
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import LoadType, MoveKind
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    BaseChanged,
    Fenced,
    ForeignTable,
    GraphRolledBack,
    NotApproved,
    TableBusy,
    TableUnreadable,
)
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import Intent, RunPlan, RunTicket, TableBase
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.types.schema import TableSchema


def begin_publish(context: PlaneContext, ticket: RunTicket) -> Intent:
    """Take the table's next number for an approved run; idempotent."""
    with context.read() as tx:
        run = load_open_run(tx, ticket)
        known = intent_of_run(tx, ticket.run_id)
    if known is not None:
        return known
    with context.read() as tx:
        _approved(tx, run)
    table_id = ensure_table(context, run.dataset, run.plan.table_schema, run.plan.partition_by)
    with context.write() as tx:
        run = load_open_run(tx, ticket)
        known = intent_of_run(tx, ticket.run_id)
        if known is not None:
            return known
        hold_table(tx, run.dataset.dataset_id)
        intent = _publish_intent(tx, run, table_id)
        require_room(tx, context, run.dataset, ticket.run_id)
        take_number(tx, run.task, intent)
    reached("intent.recorded")
    return intent


def take_number(tx: Transaction, task: Task, intent: Intent) -> None:
    """Record the intent if the lease is valid, its graph is not abandoned and the table is free.

    From then on only a fence on the table can end it.
    """
    if tasks.lease_over(task, tx.now()):
        raise Fenced(run=intent.run_id, reason="its lease is over")
    if task.dag_version_id is not None:
        left = left_graphs(tx, {task.dag_version_id})
        if task.dag_version_id in left:
            raise GraphRolledBack(version=left[task.dag_version_id])
    under_way = open_intent(tx, intent.dataset_id)
    if under_way is not None:
        raise TableBusy(dataset=intent.dataset, holder=under_way.run_id)
    record_intent(tx, intent)


def ensure_table(
    context: PlaneContext,
    dataset: RegisteredDataset,
    schema: TableSchema,
    partition_by: tuple[str, ...],
) -> str:
    """The governed table's id; the table is created empty at seq 0 if missing."""
    location = context.location_of(dataset)
    with context.read() as tx:
        known = table_id_of(tx, dataset.dataset_id)
    if known is not None and not context.tables.exists(location):
        raise TableUnreadable(dataset=dataset.name, location=location, reason="it is gone")
    if known is not None and (adopted := context.tables.origin(location)).dataset_id is None:
        table_id = adopted.table_id
    else:
        table_id = context.tables.ensure(dataset.dataset_id, location, schema, partition_by)
    if known is None:
        known = _remember_table(context, dataset, table_id)
    if known != table_id:
        raise ForeignTable(
            location=location, dataset=dataset.name, difference=f"its id is {table_id}"
        )
    return table_id


def _remember_table(context: PlaneContext, dataset: RegisteredDataset, table_id: str) -> str:
    created = context.tables.commit_body(context.location_of(dataset), 0)
    with context.write() as tx:
        hold_table(tx, dataset.dataset_id)
        known = table_id_of(tx, dataset.dataset_id)
        if known is not None:
            return known
        record_table(tx, dataset.dataset_id, dataset.location, table_id, created)
    return table_id


def _publish_intent(tx: Transaction, run: OpenRun, table_id: str) -> Intent:
    evidence = _approved(tx, run)
    published = pointer(tx, run.dataset.dataset_id)
    base = run.plan.base
    if not _stands_on(base, published, evidence):
        raise BaseChanged(
            dataset=run.dataset.name,
            expected=f"v{base.version} at commit {base.commit}" if base else "no version",
            found=f"v{published.version} at commit {published.commit}"
            if published
            else "no version",
        )
    decision = decision_of_run(tx, evidence.run_id, run.dataset.name)
    if decision is None:
        raise NotApproved(run=evidence.run_id, reason="none was made")
    _require_quarantined(tx, run.plan)
    return Intent(
        intent_id=new_id("int"),
        kind=MoveKind.PUBLISH,
        dataset=run.dataset.name,
        dataset_id=run.dataset.dataset_id,
        run_id=evidence.run_id,
        decision_id=decision.decision_id,
        seq=next_seq(tx, run.dataset.dataset_id),
        location=run.plan.location,
        table_id=table_id,
        base_commit=published.commit if published else 0,
        load=_load_of(tx, run, evidence),
        table_schema=evidence.table_schema,
        partition_by=run.plan.partition_by,
        adds=evidence.files,
        removes=evidence.removes,
    )


def _stands_on(base: TableBase | None, published: Pointer | None, evidence: Evidence) -> bool:
    """Whether the run was decided on the published version.

    A version's rows never change, only its files; changed files matter only if the run removes
    files.
    """
    if base is None or published is None:
        return base is None and published is None
    same_files = base.commit == published.commit or not evidence.removes
    return base.version == published.version and same_files


def _load_of(tx: Transaction, run: OpenRun, evidence: Evidence) -> LoadType:
    """The effect of the commit: FULL replaces everything, APPEND nothing, others a part."""
    plan, base = run.plan, run.plan.base
    stored = None
    if base is not None:
        stored = require_version(tx, run.dataset.dataset_id, base.version)
    if replaces_all(plan, stored) or (stored is None and plan.load.type is LoadType.FULL):
        return LoadType.FULL
    if not evidence.removes:
        return LoadType.APPEND
    some = plan.load.type not in (LoadType.FULL, LoadType.APPEND)
    return plan.load.type if some else LoadType.PARTITION


def _approved(tx: Transaction, run: OpenRun) -> Evidence:
    """The evidence approved by the run's recorded decision."""
    run_id = run.plan.ticket.run_id
    decision = decision_of_run(tx, run_id, run.dataset.name)
    if decision is None or decision.case.evidence is None:
        raise NotApproved(run=run_id, reason="nothing was decided yet")
    if not decision.allowed:
        raise NotApproved(run=run_id, reason="it was blocked")
    return Evidence.from_json(get_document(tx, decision.case.evidence))


# Rows that a replay takes must still be in quarantine.


def _require_quarantined(tx: Transaction, plan: RunPlan) -> None:
    """``BaseChanged`` where rows that the run has read were discarded meanwhile."""
    if not isinstance(plan.build, QuarantineBuild):
        return
    quarantine = quarantine_of(tx, plan.dataset_id)
    quarantined = {
        (item.run_id, item.rule_id) for item in quarantine.quarantined(quarantine.published)
    }
    taken = {(file.run_id, file.rule_id) for file in plan.build.files}
    if not taken <= quarantined:
        raise BaseChanged(
            dataset=plan.dataset,
            expected="the rows that it sends again",
            found="some that do not wait any more",
        )
