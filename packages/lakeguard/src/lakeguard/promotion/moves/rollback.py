"""Rollback: a move to a previously approved version."""

from __future__ import annotations

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.gate.schema_comparison import compare_schema, demands_declared_columns
from lakeguard.ledger.intents import hold_table, next_seq
from lakeguard.ledger.maintenance import removed_versions
from lakeguard.ledger.versions import (
    StoredVersion,
    pointer,
    shown_at,
    stored_version,
    stored_versions,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.record_decision import Case, decide_and_record
from lakeguard.promotion.moves.reap import fail_run
from lakeguard.promotion.opening.eligibility import (
    Findings,
    log_trouble,
    rogue_commit,
    version_damage,
    way_out_of_damage,
)
from lakeguard.promotion.opening.log_check import log_damage
from lakeguard.promotion.opening.pinned_rules import pin_rules
from lakeguard.promotion.publishing.begin_move import take_number
from lakeguard.promotion.publishing.complete_move import complete
from lakeguard.promotion.publishing.complete_rollback import RollbackOrder
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.table_findings import TableTrouble, note_trouble
from lakeguard.promotion.records.version_facts import approved_evidence, filed_under
from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import MoveKind, RunStatus, TableProblem, TaskKind
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    AlreadyPublished,
    FilesRemoved,
    LakeGuardError,
    TableUnreadable,
    UnknownVersion,
    VersionDamaged,
)
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.model.run import (
    Intent,
    RunResult,
    RunTicket,
    SchemaReaction,
    failure_of,
)
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.storage.fault_points import reached


def roll_back(context: PlaneContext, name: DatasetName, to: int, reason: str) -> RunResult:
    """Publish version ``to`` again; refused if a current BLOCK policy forbids it."""
    order = RollbackOrder(version=to, reason=reason, actor=context.actor)
    dataset, target, shown = _target(context, name, to)
    with context.write() as tx:
        task, ticket = _open(tx, context, dataset, order)
    reached("run.opened")
    try:
        intent = _begin(context, task, ticket, dataset, target, shown)
        reached("decision.recorded")
        if isinstance(intent, RunResult):
            return intent
        reached("intent.recorded")
        return complete(context, ticket, context.tables.restore(intent))
    except LakeGuardError as error:
        ended = fail_run(context, ticket, failure_of(error))
        if ended.status is RunStatus.SUCCESS:
            return ended
        raise


def _target(
    context: PlaneContext, name: DatasetName, to: int
) -> tuple[RegisteredDataset, StoredVersion, int]:
    """The version and its last commit, because its older files may be gone."""
    with context.read() as tx:
        dataset = require_dataset(tx, name)
        target = stored_version(tx, dataset.dataset_id, to)
        published = pointer(tx, dataset.dataset_id)
        if target is None or published is None:
            raise UnknownVersion(dataset=name, version=to)
        _require_files(tx, dataset, target)
        shown = shown_at(tx, dataset.dataset_id, to)
    location = context.location_of(dataset)
    if not context.tables.exists(location):
        raise TableUnreadable(dataset=name, location=location, reason="it is gone")
    _require_log(context, dataset, location, shown)
    damage = version_damage(context, dataset, target, shown)
    if damage is not None:
        _note_damage(context, dataset, published.version == to, f"v{to} is damaged: {damage}")
        if published.version == to:
            damage = f"{damage}; {way_out_of_damage(context, dataset, published)}"
        raise VersionDamaged(dataset=name, version=to, reason=damage)
    if published.version == to and rogue_commit(context, dataset, published.commit) is None:
        raise AlreadyPublished(dataset=name, version=to)
    return dataset, target, shown


def _require_log(
    context: PlaneContext, dataset: RegisteredDataset, location: str, commit: int
) -> None:
    """Refuse, and record, if the log was altered: a restore would believe it."""
    try:
        damage = log_damage(context, dataset, commit, whole=True)
    except TableUnreadable as error:
        damage = str(error.fields["reason"])
    if damage is None:
        return
    trouble = log_trouble(dataset, damage)
    with context.write() as tx:
        note_trouble(tx, context, trouble, by=context.actor)
    raise TableUnreadable(dataset=dataset.name, location=location, reason=trouble.message)


def _note_damage(
    context: PlaneContext, dataset: RegisteredDataset, is_published: bool, message: str
) -> None:
    """Damage of what readers see is recorded until it is undone."""
    if is_published:
        with context.write() as tx:
            trouble = TableTrouble(dataset, TableProblem.DAMAGE, message)
            note_trouble(tx, context, trouble, by=context.actor)


def _require_files(tx: Transaction, dataset: RegisteredDataset, target: StoredVersion) -> None:
    """Refuse if maintenance removed files of the target; the error lists the versions left."""
    removed = removed_versions(tx, dataset.dataset_id)
    if target.version not in removed:
        return
    shown = pointer(tx, dataset.dataset_id)
    known = [stored.version for stored in stored_versions(tx, dataset.dataset_id)]
    useless = removed | ({shown.version} if shown else set())
    whole = [number for number in known if number not in useless]
    raise FilesRemoved(dataset=dataset.name, version=target.version, whole=whole)


def _open(
    tx: Transaction, context: PlaneContext, dataset: RegisteredDataset, order: RollbackOrder
) -> tuple[Task, RunTicket]:
    task_id = tasks.submit(
        tx,
        dataset.dataset_id,
        kind=TaskKind.ROLLBACK,
        key=None,
        parameters=order.to_json(),
        triggered_by=f"rollback by {order.actor}",
        at=tx.now(),
        rules=context.dispatch,
    )
    worker = this_process("rollback")
    return tasks.claim(tx, task_id, worker, tx.now(), TaskKind.ROLLBACK, context.dispatch.lease)


def _begin(
    context: PlaneContext,
    task: Task,
    ticket: RunTicket,
    dataset: RegisteredDataset,
    target: StoredVersion,
    shown: int,
) -> Intent | RunResult:
    """Decide on the target's stored evidence and take the table's next number."""
    location = context.location_of(dataset)
    head = context.tables.head_version(location)
    with context.write() as tx:
        tasks.get_task(tx, ticket.task_id)
        hold_table(tx, dataset.dataset_id)
        _require_files(tx, dataset, target)
        decision = _decide(tx, context, task, ticket, dataset, target)
        if not decision.allowed:
            return end_run(tx, context, task, dataset, RunStatus.BLOCKED, decision=decision)
        intent = Intent(
            intent_id=new_id("int"),
            kind=MoveKind.ROLLBACK,
            dataset=dataset.name,
            dataset_id=dataset.dataset_id,
            run_id=ticket.run_id,
            decision_id=decision.decision_id,
            seq=next_seq(tx, dataset.dataset_id),
            location=location,
            table_id=target.table_id,
            base_commit=head,
            table_schema=target.table_schema,
            target_commit=shown,
        )
        take_number(tx, task, intent)
    return intent


def _decide(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    ticket: RunTicket,
    dataset: RegisteredDataset,
    target: StoredVersion,
) -> Decision:
    """Apply current BLOCK policies to the stored evidence; rules were decided when it was built."""
    evidence = approved_evidence(tx, dataset, target)
    pinned = pin_rules(tx, dataset, published=None, shown=target)
    pinned = pinned.model_copy(update={"rules": ()})
    findings = Findings()
    findings.accept("version", f"v{target.version} was approved by {target.decision_id}")
    differences = _policy_differences(dataset, target, pinned.policies)
    case = Case(
        ticket.run_id,
        dataset,
        target.table_schema,
        pinned,
        findings,
        differences,
        quarantine_rule_ids=filed_under(evidence),
        occasion=_occasion(RollbackOrder.from_json(task.parameters), target),
    )
    return decide_and_record(tx, context, case, evidence)


def _occasion(order: RollbackOrder, target: StoredVersion) -> str:
    return (
        f"rollback to v{order.version} by {order.actor} ({order.reason}); its rules were judged by"
        f" {target.decision_id}"
    )


def _policy_differences(
    dataset: RegisteredDataset, target: StoredVersion, policies: tuple[PolicyDefinition, ...]
) -> tuple[SchemaReaction, ...]:
    """The older schema matters only if a current policy constrains columns."""
    layer = dataset.name.layer
    if not demands_declared_columns(policies, layer):
        return ()
    declared = dataset.definition.table_schema
    return compare_schema(target.table_schema, declared, policies, layer, text_source=False)
