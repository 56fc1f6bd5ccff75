"""Completes a move: checks the commit against the intent, and records the result."""

from __future__ import annotations

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.ledger.documents import put_text
from lakeguard.ledger.intents import (
    ClosedIntent,
    IntentOutcome,
    close_intent,
    hold_table,
    intent_of_run,
    outcome_of,
    record_table,
)
from lakeguard.ledger.lineage import Arrow
from lakeguard.ledger.runs import result_of_run
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.table_ownership import other_holder
from lakeguard.promotion.publishing.column_lineage import column_descent
from lakeguard.promotion.publishing.complete_rollback import publish_restored
from lakeguard.promotion.publishing.partition_states import Partitions, partitions_after
from lakeguard.promotion.publishing.publish_version import publish_version
from lakeguard.promotion.quarantine.quarantine_tables import sync_quarantine_table
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.move_pointer import show_version
from lakeguard.promotion.records.open_runs import OpenRun, opened_run
from lakeguard.promotion.records.table_findings import TableTrouble, note_trouble
from lakeguard.registry.store import RegisteredDataset, dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import CommitKind, MoveKind, RunStatus
from lakeguard_sdk.errors import (
    CommitMismatch,
    Fenced,
    MoveError,
    NotApproved,
    UnknownVersion,
)
from lakeguard_sdk.model.delta_log import (
    Commit,
    CommittedFile,
    carries_out,
    commit_kind,
    writes_checkpoint,
)
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.run import (
    Failure,
    Intent,
    RunResult,
    RunTicket,
    failure_of,
)
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.types.schema import TableSchema


def complete(context: PlaneContext, ticket: RunTicket, commit_version: int) -> RunResult:
    """Record what the commit published; idempotent."""
    with context.read() as tx:
        tasks.require_holder(tx, ticket)
        known = result_of_run(tx, ticket.run_id)
        intent = intent_of_run(tx, ticket.run_id)
    if known is not None:
        return _first_answer(known, commit_version, context)
    if intent is None:
        raise NotApproved(run=ticket.run_id, reason="it has no intent")
    commit = _commit_at(context, intent, commit_version)
    return settle(context, intent, commit)


def settle(
    context: PlaneContext,
    intent: Intent,
    commit: Commit,
    failure: Failure | None = None,
    *,
    canceled: bool = False,
) -> RunResult:
    """Close the intent according to the commit that holds its number: publish, or end the run.

    ``failure`` is the run's own error, recorded if a fence ends it.
    """
    difference = _difference(context, intent, commit)
    outcome = _outcome(intent, commit, difference)
    arrows = column_descent(context, intent) if difference is None else ()
    partitions = partitions_after(context, intent, commit) if difference is None else None
    body = context.tables.commit_body(intent.location, commit.version)
    checkpoint = None
    if outcome is not IntentOutcome.FOREIGN and writes_checkpoint(commit.version):
        checkpoint = context.tables.checkpoint_mark(intent.location, commit.version)
    reached("complete.before")
    with context.write() as tx:
        task = tasks.task_of_run(tx, intent.run_id)
        hold_table(tx, intent.dataset_id)
        known = result_of_run(tx, intent.run_id)
        if known is not None:
            return known
        if body is not None and outcome is not IntentOutcome.FOREIGN:
            put_text(tx, body.decode(), tx.now())  # undo writes it back if it is altered or lost
        closed = ClosedIntent(
            intent_id=intent.intent_id,
            outcome=outcome,
            commit=commit.version,
            sha256=commit.sha256,
            checkpoint=checkpoint,
        )
        close_intent(tx, closed)
        if difference is None:
            result = _publish(tx, context, task, intent, commit, arrows, partitions)
        else:
            own = failure if outcome is IntentOutcome.FENCED else None
            reason = own or _what_went_wrong(intent, commit, outcome, difference)
            result = _end_intent_run(tx, context, task, intent, reason, canceled)
    reached("complete.recorded")
    sync_quarantine_table(context, intent.dataset_id)
    return result


def give_up(
    context: PlaneContext,
    intent: Intent,
    failure: Failure,
    commit: Commit,
    *,
    canceled: bool = False,
) -> RunResult:
    """Close an intent whose ``commit`` is rejected."""
    with context.write() as tx:
        task = tasks.task_of_run(tx, intent.run_id)
        hold_table(tx, intent.dataset_id)
        known = result_of_run(tx, intent.run_id)
        if known is not None:
            return known
        closed = ClosedIntent(
            intent_id=intent.intent_id,
            outcome=IntentOutcome.FOREIGN,
            commit=commit.version,
            sha256=commit.sha256,
        )
        close_intent(tx, closed)
        return _end_intent_run(tx, context, task, intent, failure, canceled)


def leave_open(
    context: PlaneContext,
    intent: Intent,
    failure: Failure,
    found: TableTrouble,
    *,
    canceled: bool = False,
) -> RunResult:
    """End a run on a log that cannot be read. Its number stays taken until ``close_left``, because
    only a commit can tell that it will not be used."""
    with context.write() as tx:
        task = tasks.task_of_run(tx, intent.run_id)
        hold_table(tx, intent.dataset_id)
        note_trouble(tx, context, found, by=intent.run_id)
        known = result_of_run(tx, intent.run_id)
        if known is not None:
            return known
        return _end_intent_run(tx, context, task, intent, failure, canceled)


def close_left(context: PlaneContext, intent: Intent) -> None:
    """Fence the intent of a run that has ended. A commit that took the number by then has no
    decision any more."""
    commit = context.tables.fence(intent)
    fenced = carries_out(commit, intent, CommitKind.FENCE)
    body = context.tables.commit_body(intent.location, commit.version)
    with context.write() as tx:
        hold_table(tx, intent.dataset_id)
        if outcome_of(tx, intent.intent_id) is not None:
            return
        if body is not None and fenced:
            put_text(tx, body.decode(), tx.now())
        closed = ClosedIntent(
            intent_id=intent.intent_id,
            outcome=IntentOutcome.FENCED if fenced else IntentOutcome.FOREIGN,
            commit=commit.version,
            sha256=commit.sha256,
        )
        close_intent(tx, closed)


def _end_intent_run(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    intent: Intent,
    failure: Failure,
    canceled: bool,
) -> RunResult:
    dataset = dataset_by_id(tx, intent.dataset_id)
    return end_run(tx, context, task, dataset, RunStatus.FAILED, error=failure, canceled=canceled)


def _publish(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    intent: Intent,
    commit: Commit,
    arrows: tuple[Arrow, ...],
    partitions: Partitions | None,
) -> RunResult:
    if intent.kind is MoveKind.ROLLBACK:
        dataset = dataset_by_id(tx, intent.dataset_id)
        return publish_restored(tx, context, task, dataset, intent, commit)
    if intent.kind is MoveKind.COMPACTION:
        dataset = dataset_by_id(tx, intent.dataset_id)
        return _publish_compacted(tx, context, task, dataset, intent, commit)
    run = opened_run(tx, task, intent.run_id)
    if intent.kind is MoveKind.ADOPTION:
        return _publish_adopted(tx, context, run, intent, commit, partitions)
    return publish_version(tx, context, run, intent, commit, arrows, partitions)


def _first_answer(known: RunResult, commit_version: int, context: PlaneContext) -> RunResult:
    """A repeated completion returns the same result; a different commit is refused."""
    with context.read() as tx:
        intent = intent_of_run(tx, known.run_id)
        closed = None if intent is None else outcome_of(tx, intent.intent_id)
    if closed is None or closed.outcome is IntentOutcome.FENCED:
        reason = known.error.message if known.error else "it was ended"
        raise Fenced(run=known.run_id, reason=reason)
    if closed.commit != commit_version:
        raise CommitMismatch(
            commit=commit_version,
            dataset=known.dataset,
            difference=f"the run was completed with commit {closed.commit}",
        )
    return known


def _commit_at(context: PlaneContext, intent: Intent, version: int) -> Commit:
    found = context.tables.commit_at(intent.location, version)
    if found is None or found.seq != intent.seq:
        raise CommitMismatch(
            commit=version,
            dataset=intent.dataset,
            difference=f"it does not carry the run's number {intent.seq}",
        )
    return found


def _outcome(intent: Intent, commit: Commit, difference: str | None) -> IntentOutcome:
    if difference is None:
        return IntentOutcome.COMMITTED
    fenced = carries_out(commit, intent, CommitKind.FENCE)
    return IntentOutcome.FENCED if fenced else IntentOutcome.FOREIGN


def _difference(context: PlaneContext, intent: Intent, commit: Commit) -> str | None:
    """How the commit differs from the intent, or None."""
    if carries_out(commit, intent, CommitKind.FENCE):
        return "the run was ended before it committed"
    between = context.tables.commits_since(intent.location, intent.base_commit)
    if any(item.data_changing for item in between if item.version < commit.version):
        return "data changed between the approved base and the commit"
    if intent.target_commit is not None:
        return _restore_difference(context, intent, commit)
    if not carries_out(commit, intent, commit_kind(intent)):
        return "somebody else took the table's number"
    if intent.kind is MoveKind.ADOPTION:
        return _adoption_difference(context, intent, commit)
    if intent.kind is MoveKind.COMPACTION and not commit.claims_neutral:
        return "it says of itself that it changes data"
    if {_shown(file) for file in commit.added} != {_shown(file) for file in intent.adds}:
        return "it adds other files than were approved"
    if set(commit.removes) != set(intent.removes):
        return "it removes other files than were approved"
    if commit.partition_by not in (None, intent.partition_by):
        return "it partitions the table otherwise than was approved"
    if commit.table_schema not in (None, intent.table_schema.delta_json()):
        return _schema_difference(intent.table_schema, commit.table_schema or "")
    return None


def _shown(file: StagedFile | CommittedFile) -> tuple[object, ...]:
    """All that a reader of the log will believe of a file."""
    return file.path, file.size, file.stats, frozenset(file.partition.items())


def _restore_difference(context: PlaneContext, intent: Intent, commit: Commit) -> str | None:
    if not carries_out(commit, intent, CommitKind.RESTORE) or intent.target_commit is None:
        return "somebody else took the table's number"
    tables, location = context.tables, intent.location
    if tables.files_at(location, commit.version) != tables.files_at(location, intent.target_commit):
        return "it does not show the files of the version asked for"
    if not tables.keeps_properties(location, commit.version):
        return "it lost properties of the table"
    return None


def _schema_difference(approved: TableSchema, written: str) -> str | None:
    """Key order and spelling of JSON are the engine's own; names and types are not."""
    try:
        same = {*TableSchema.from_delta_json(written).columns} == {*approved.columns}
    except ValueError:
        same = False
    return None if same else "it sets another schema than was approved"


def _what_went_wrong(
    intent: Intent, commit: Commit, outcome: IntentOutcome, difference: str
) -> Failure:
    error: MoveError = CommitMismatch(
        commit=commit.version, dataset=intent.dataset, difference=difference
    )
    if outcome is IntentOutcome.FENCED:
        error = Fenced(run=intent.run_id, reason=difference)
    return failure_of(error)


# Compaction: the version stays, and the pointer moves to the new commit.


def _publish_compacted(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    dataset: RegisteredDataset,
    intent: Intent,
    commit: Commit,
) -> RunResult:
    """The pointer cannot have moved since the intent: a table has at most one open intent."""
    published = pointer(tx, intent.dataset_id)
    if published is None:
        raise UnknownVersion(dataset=dataset.name, version="that is published")
    return show_version(
        tx,
        context,
        task,
        dataset,
        intent,
        commit,
        version=published.version,
        actor=task.triggered_by,
        reason=f"{len(intent.removes)} files became {len(intent.adds)}",
    )


# Adoption: the dataset owns the table, and its state becomes version 1.


def _publish_adopted(
    tx: Transaction,
    context: PlaneContext,
    run: OpenRun,
    intent: Intent,
    commit: Commit,
    partitions: Partitions | None,
) -> RunResult:
    record_table(tx, intent.dataset_id, run.dataset.location, intent.table_id)
    return publish_version(tx, context, run, intent, commit, partitions=partitions)


def _adoption_difference(context: PlaneContext, intent: Intent, commit: Commit) -> str | None:
    """Why the commit does more than adopt the checked state, or None."""
    if commit.added or commit.removes:
        return "an adoption changes no file"
    if commit.table_id != intent.table_id or commit.partition_by != intent.partition_by:
        return "it is of another table, or partitions it otherwise"
    approved = {file.path for file in intent.adds}
    if context.tables.files_at(intent.location, commit.version) != approved:
        return "it does not show the files that were approved"
    if not context.tables.keeps_properties(intent.location, commit.version):
        return "it lacks properties of a governed table"
    with context.read() as tx:
        return other_holder(tx, intent.dataset_id, intent.table_id)
