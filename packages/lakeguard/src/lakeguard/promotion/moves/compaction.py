"""Compaction: a move that changes no row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.lake.port import LiveFile
from lakeguard.lake.small_files import MEGABYTE, Group, small_file_groups
from lakeguard.ledger.intents import hold_table, intent_of_run, next_seq
from lakeguard.ledger.versions import Pointer, StoredVersion, pointer, require_version
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.deciding.record_decision import Case, decide_and_record
from lakeguard.promotion.opening.eligibility import Findings, find_rogue_commit
from lakeguard.promotion.opening.log_check import recorded_files
from lakeguard.promotion.opening.statistics_redaction import (
    disclosed_statistics,
    redacted_in_version,
)
from lakeguard.promotion.publishing.begin_move import take_number
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.promotion.records.task_tokens import require_written
from lakeguard.promotion.records.version_facts import approved_evidence, filed_under
from lakeguard.registry.store import RegisteredDataset, dataset_by_id, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import is_sha256
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    MoveKind,
    Outcome,
    RunStatus,
    TaskKind,
    TaskState,
)
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import BaseChanged, NotApproved
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.partitions import partition_difference
from lakeguard_sdk.model.run import (
    Intent,
    RunResult,
    RunTicket,
    TableBase,
    WorkerIdentity,
    failure_of,
)
from lakeguard_sdk.model.table_operations import Compacted, CompactionPlan
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.run_folders import staging_folder
from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import TableSchema


def order_compaction(context: PlaneContext, name: DatasetName, triggered_by: str) -> str:
    """Create a compaction task."""
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        return _order(tx, context, dataset.dataset_id, triggered_by, None)


def due_compaction(context: PlaneContext, ticket: RunTicket) -> str | None:
    """A compaction task, if the run's table has too many small files.

    Offered once per table state, so that a failed compaction is not retried after every run.
    """
    with context.read() as tx:
        task = tasks.require_holder(tx, ticket)
        dataset = dataset_by_id(tx, task.dataset_id)
        published = pointer(tx, dataset.dataset_id)
    most = context.maintenance.compact_after
    if task.state is TaskState.RUNNING or published is None or most == 0:
        return None
    if sum(map(len, _recorded_groups(context, dataset, published))) <= most:
        return None
    with context.write() as tx:
        key, cause = f"compact:{published.commit}", f"after run {ticket.run_id}"
        task_id = _order(tx, context, dataset.dataset_id, cause, key)
        queued = tasks.get_task(tx, task_id).state is TaskState.QUEUED
    return task_id if queued else None


def open_compaction(
    context: PlaneContext, task_id: str, worker: WorkerIdentity
) -> CompactionPlan | RunResult:
    """Claim the task; returns what to merge, or the result if there is nothing to do."""
    with context.write() as tx:
        task, ticket = tasks.claim(
            tx, task_id, worker, tx.now(), TaskKind.COMPACTION, context.dispatch.lease
        )
        dataset = dataset_by_id(tx, task.dataset_id)
        published = pointer(tx, dataset.dataset_id)
    reached("run.opened")
    findings = Findings()
    find_rogue_commit(context, dataset, published, findings)
    refused = next((c for c in findings.checks if c.outcome is Outcome.FAIL), None)
    groups: tuple[Group, ...] = ()
    if refused is None and published is not None:
        groups = _groups(context, dataset, published)
    with context.write() as tx:
        tasks.require(tx, ticket)
        if refused is not None:
            failure = failure_of(NotApproved(run=ticket.run_id, reason=refused.message))
            return end_run(tx, context, task, dataset, RunStatus.FAILED, error=failure)
        if published is None or not groups:
            return end_unmerged(tx, context, task)
        stored = require_version(tx, dataset.dataset_id, published.version)
        redacted_statistics = redacted_in_version(tx, dataset, stored)
    plan = _plan(context, dataset, ticket, published, stored, groups)
    return plan.model_copy(update={"redacted_statistics": redacted_statistics})


def end_unmerged(tx: Transaction, context: PlaneContext, task: Task) -> RunResult:
    """Nothing to merge: a success without a move."""
    dataset = dataset_by_id(tx, task.dataset_id)
    published = pointer(tx, dataset.dataset_id)
    version = published.version if published else None
    return end_run(tx, context, task, dataset, RunStatus.SUCCESS, version=version)


def submit_compaction(context: PlaneContext, ticket: RunTicket, compacted: Compacted) -> Intent:
    """Allow the commit if the rows are unchanged; idempotent."""
    with context.read() as tx:
        task = tasks.require(tx, ticket)
        dataset = dataset_by_id(tx, task.dataset_id)
    location = context.location_of(dataset)
    written = [join(location, file.path) for file in compacted.adds]
    require_written(context, "runs.submit_compaction", dataset.name, written)
    live: Sequence[LiveFile] = ()
    if context.tables.exists(location):
        live = context.tables.live_at(location, compacted.base_commit)
    with context.write() as tx:
        task = tasks.require(tx, ticket)
        known = intent_of_run(tx, ticket.run_id)
        if known is not None:
            return _same(known, compacted)
        hold_table(tx, dataset.dataset_id)
        published = _base(tx, dataset, compacted)
        stored = require_version(tx, dataset.dataset_id, published.version)
        intent = _intent(context, dataset, ticket, compacted, stored)
        why = _why_not_neutral(
            compacted, live, staging_folder(ticket.run_id), stored.table_schema, intent.partition_by
        ) or disclosed_statistics(compacted.adds, redacted_in_version(tx, dataset, stored))
        if task.kind is not TaskKind.COMPACTION or why is not None:
            raise NotApproved(run=ticket.run_id, reason=why or "it is no compaction")
        decision = _decide(tx, context, ticket, dataset, stored, compacted)
        if not decision.allowed:
            raise NotApproved(run=ticket.run_id, reason="; ".join(decision.ruling.reasons))
        number = next_seq(tx, dataset.dataset_id)
        known = intent.model_copy(update={"seq": number, "decision_id": decision.decision_id})
        take_number(tx, task, known)
    reached("decision.recorded")
    reached("intent.recorded")
    return known


def _order(
    tx: Transaction, context: PlaneContext, dataset_id: str, triggered_by: str, key: str | None
) -> str:
    return tasks.submit(
        tx,
        dataset_id,
        kind=TaskKind.COMPACTION,
        key=key,
        parameters="{}",
        triggered_by=triggered_by,
        at=tx.now(),
        rules=context.dispatch,
    )


def _recorded_groups(
    context: PlaneContext, dataset: RegisteredDataset, published: Pointer
) -> tuple[Group, ...]:
    """From the State, without reading the log, unless the history of the table is long; opening the
    compaction reads the log."""
    with context.read() as tx:
        files = recorded_files(tx, dataset.dataset_id, published.commit)
    if files is None:
        return _groups(context, dataset, published)
    live = (LiveFile(file.path, file.size, -1, file.partition) for file in files.values())
    return small_file_groups(live, context.maintenance.small_file_mb * MEGABYTE)


def _groups(
    context: PlaneContext, dataset: RegisteredDataset, published: Pointer
) -> tuple[Group, ...]:
    live = context.tables.live_at(context.location_of(dataset), published.commit)
    return small_file_groups(live, context.maintenance.small_file_mb * MEGABYTE)


def _plan(
    context: PlaneContext,
    dataset: RegisteredDataset,
    ticket: RunTicket,
    published: Pointer,
    stored: StoredVersion,
    groups: tuple[Group, ...],
) -> CompactionPlan:
    return CompactionPlan(
        ticket=ticket,
        dataset=dataset.name,
        dataset_id=dataset.dataset_id,
        lease_seconds=context.dispatch.lease_seconds,
        location=context.location_of(dataset),
        base=TableBase(
            version=published.version, commit=published.commit, table_id=stored.table_id
        ),
        groups=groups,
        staging=staging_folder(ticket.run_id),
        table_schema=stored.table_schema,
        partition_by=_partition_by(context, dataset),
    )


def _partition_by(context: PlaneContext, dataset: RegisteredDataset) -> tuple[str, ...]:
    """Partition columns, fixed at creation."""
    location = context.location_of(dataset)
    return context.tables.origin(location).partition_by if context.tables.exists(location) else ()


def _same(known: Intent, compacted: Compacted) -> Intent:
    if (known.adds, known.removes) != (compacted.adds, compacted.removes):
        raise NotApproved(run=known.run_id, reason="it was decided on other files")
    return known


def _base(tx: Transaction, dataset: RegisteredDataset, compacted: Compacted) -> Pointer:
    published = pointer(tx, dataset.dataset_id)
    if published is None or published.commit != compacted.base_commit:
        raise BaseChanged(
            dataset=dataset.name,
            expected=f"commit {compacted.base_commit}",
            found=f"commit {published.commit}" if published else "no version",
        )
    return published


def _intent(
    context: PlaneContext,
    dataset: RegisteredDataset,
    ticket: RunTicket,
    compacted: Compacted,
    stored: StoredVersion,
) -> Intent:
    """The intent without number and decision."""
    return Intent(
        intent_id=new_id("int"),
        kind=MoveKind.COMPACTION,
        dataset=dataset.name,
        dataset_id=dataset.dataset_id,
        run_id=ticket.run_id,
        decision_id="",
        seq=0,
        location=context.location_of(dataset),
        table_id=stored.table_id,
        base_commit=compacted.base_commit,
        table_schema=stored.table_schema,
        partition_by=_partition_by(context, dataset),
        adds=compacted.adds,
        removes=compacted.removes,
    )


def _decide(
    tx: Transaction,
    context: PlaneContext,
    ticket: RunTicket,
    dataset: RegisteredDataset,
    stored: StoredVersion,
    compacted: Compacted,
) -> Decision:
    """Rows were approved before and do not change, so only equality is decided."""
    evidence = approved_evidence(tx, dataset, stored)
    findings = Findings()
    findings.accept("version", f"v{stored.version} was approved by {stored.decision_id}")
    findings.accept(
        "neutral",
        f"{compacted.rows:,} rows of {len(compacted.removes):,} files are the same in"
        f" {len(compacted.adds):,} ({compacted.before})",
    )
    tags = {column.name: column.tags for column in dataset.definition.columns}
    pinned = PinnedRules(rules=(), policies=(), tags=tags)
    rule_ids = filed_under(evidence)
    case = Case(
        ticket.run_id,
        dataset,
        stored.table_schema,
        pinned,
        findings,
        quarantine_rule_ids=rule_ids,
        occasion=f"compaction of v{stored.version}, which {stored.decision_id} approved",
    )
    return decide_and_record(tx, context, case, evidence)


# Row equality: checks the compaction's claims against the log.

Partition = frozenset[tuple[str, str | None]]


def _why_not_neutral(
    compacted: Compacted,
    live: Sequence[LiveFile],
    staging: str,
    schema: TableSchema,
    partition_by: tuple[str, ...],
) -> str | None:
    """Why added and removed files may hold different rows, or None.

    Files and counts are checked against the log; digests, computed from the files, show that the
    rows are equal.
    """
    shown = {file.path: file for file in live}
    unknown = set(compacted.removes) - shown.keys()
    if unknown or len(set(compacted.removes)) != len(compacted.removes):
        return f"it removes files that the table does not show: {min(unknown, default='twice')}"
    if not 0 < len(compacted.adds) < len(compacted.removes):
        return f"{len(compacted.removes)} files would become {len(compacted.adds)}"
    if why := _misplaced(compacted, shown, staging, schema, partition_by):
        return why
    removed = _rows((shown[path].partition, shown[path].rows) for path in compacted.removes)
    if removed != _rows((file.partition, file.rows) for file in compacted.adds):
        return "a partition would have another number of rows"
    if compacted.rows != sum(removed.values()):
        return f"{compacted.rows:,} rows were compared, the files have {sum(removed.values()):,}"
    if not compacted.before or compacted.before != compacted.after:
        return "the rows of the files added are not those of the files removed"
    return None


def _misplaced(
    compacted: Compacted,
    shown: Mapping[str, LiveFile],
    staging: str,
    schema: TableSchema,
    partition_by: tuple[str, ...],
) -> str | None:
    for file in compacted.adds:
        parts = file.path.split("/")
        inside = file.path.startswith(f"{staging}/") and not {"", ".", ".."} & set(parts)
        if not inside or file.path in shown:
            return f"{file.path!r} is not in the run's staging folder"
        if not is_sha256(file.sha256):
            return f"{file.path!r} has no hash of its content"
        odd = partition_difference(file.partition, partition_by, schema)
        if odd is not None:
            return f"{file.path!r} is in no partition of the table: {odd}"
    paths = [file.path for file in compacted.adds]
    return "a file is added twice" if len(set(paths)) != len(paths) else None


def _rows(files: Iterable[tuple[Mapping[str, str | None], int]]) -> Counter[Partition]:
    counted: Counter[Partition] = Counter()
    for partition, rows in files:
        counted[frozenset(partition.items())] += rows
    return counted
