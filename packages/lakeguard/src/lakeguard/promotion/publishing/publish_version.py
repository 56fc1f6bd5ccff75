"""Completes a publish: version, pointer, lineage and run row in one transaction."""

from __future__ import annotations

from lakeguard.ledger.decisions import decision_by_id
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.lineage import Arrow, record_lineage
from lakeguard.ledger.openings import lineage_of_run
from lakeguard.ledger.promotions import record_promotion
from lakeguard.ledger.source_files import position_of, record_position
from lakeguard.ledger.versions import (
    StoredVersion,
    move_pointer,
    next_version,
    record_materialization,
    record_version,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.input_pinning import read_inputs
from lakeguard.promotion.publishing.invalidate_replaced import invalidate_replaced
from lakeguard.promotion.publishing.partition_states import Partitions, record_partition_states
from lakeguard.promotion.publishing.schema_drift import record_drift
from lakeguard.promotion.quarantine.record_rows import record_quarantine
from lakeguard.promotion.records.end_run import end_run
from lakeguard.promotion.records.open_runs import OpenRun
from lakeguard.promotion.records.table_findings import note_recovery
from lakeguard.registry.store import job_name
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import LoadType, MoveKind, RunStatus
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.definitions import policyset_hash, ruleset_hash
from lakeguard_sdk.model.delta_log import Commit
from lakeguard_sdk.model.evidence import Evidence, InputVersion
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import Intent, RunResult


def publish_version(
    tx: Transaction,
    context: PlaneContext,
    run: OpenRun,
    intent: Intent,
    commit: Commit,
    arrows: tuple[Arrow, ...] = (),
    partitions: Partitions | None = None,
) -> RunResult:
    """Record the next version with everything it was decided on."""
    decision = decision_by_id(tx, intent.decision_id, intent.dataset)
    evidence = Evidence.from_json(get_document(tx, str(decision.case.evidence)))
    adopted = intent.kind is MoveKind.ADOPTION
    version = _version(tx, run, intent, commit, evidence)
    inputs = _inputs(tx, run, evidence)
    record_version(tx, version, inputs)
    record_lineage(tx, version, arrows)
    record_partition_states(
        tx, run, version, partitions, frozenset(file.path for file in intent.adds)
    )
    record_quarantine(tx, run.plan, version, evidence)
    _materialize(tx, run, version, evidence, adopted=adopted)
    _point_at(tx, version, intent.kind, run.task.triggered_by)
    record_drift(tx, context, run.dataset, intent.run_id)
    invalidate_replaced(tx, run, version.version, partitions)
    record_promotion(tx, decision)
    if run.plan.load.type is LoadType.FULL and run.plan.window is None and not adopted:
        message = f"v{version.version} replaces all files"
        note_recovery(tx, context, run.dataset, message, by=intent.run_id)
    return end_run(
        tx,
        context,
        run.task,
        run.dataset,
        RunStatus.SUCCESS,
        decision=decision,
        version=version.version,
        rows=evidence.rows,
        inputs=evidence.inputs,
    )


def _materialize(
    tx: Transaction, run: OpenRun, version: StoredVersion, evidence: Evidence, *, adopted: bool
) -> None:
    """Rows written for the version; zero for an adoption."""
    record_materialization(
        tx,
        version,
        task_id=run.task.task_id,
        idempotency_key=run.task.dedupe_key,
        bytes_written=0 if adopted else sum(file.size for file in evidence.files),
        notes=evidence.notes,
    )


def _point_at(tx: Transaction, version: StoredVersion, kind: MoveKind, actor: str) -> None:
    verb = "adopted" if kind is MoveKind.ADOPTION else "published"
    move_pointer(
        tx,
        version.dataset_id,
        version=version.version,
        commit=version.commit_version,
        kind=kind,
        at=version.promoted_at,
        actor=actor,
        reason=f"{verb} by run {version.run_id}",
        decision_id=version.decision_id,
    )


def _version(
    tx: Transaction, run: OpenRun, intent: Intent, commit: Commit, evidence: Evidence
) -> StoredVersion:
    number = next_version(tx, intent.dataset_id)
    return StoredVersion(
        dataset_id=intent.dataset_id,
        version=number,
        snapshot_ref=f"delta:{intent.table_id}@{commit.version}",
        schema_hash=intent.table_schema.schema_hash,
        row_count=evidence.rows,
        promoted_at=tx.now(),
        promoted_by=job_name(tx, run.task.job_id or intent.dataset_id),
        version_id=new_id("ver"),
        run_id=intent.run_id,
        decision_id=intent.decision_id,
        table_rows=evidence.table_rows,
        table_id=intent.table_id,
        commit_version=commit.version,
        commit_sha256=commit.sha256,
        seq=intent.seq,
        table_schema=intent.table_schema,
        ruleset_hash=ruleset_hash(run.pinned.rules),
        policies_hash=policyset_hash(run.pinned.policies),
        build_hash=evidence.build_hash,
        position_hash=_position(tx, run, number, evidence),
    )


def _inputs(tx: Transaction, run: OpenRun, evidence: Evidence) -> tuple[InputVersion, ...]:
    """With those that the lineage names. A replay reads no input; its inputs are those of its
    base."""
    base = run.plan.base
    if not isinstance(run.plan.build, QuarantineBuild) or base is None:
        lineage = lineage_of_run(tx, evidence.run_id)
        found = () if lineage is None else lineage.inputs
        return tuple(dict.fromkeys((*evidence.inputs, *found)))
    return read_inputs(tx, run.dataset, base.version)


def _position(tx: Transaction, run: OpenRun, number: int, evidence: Evidence) -> str | None:
    """The hash of the version's position. A replay keeps the position of its base."""
    read, base = evidence.position, run.plan.base
    if isinstance(run.plan.build, QuarantineBuild) and base is not None:
        position = position_of(tx, run.dataset.dataset_id, base.version)
        read = None if position is None else position.unmoved
    if read is None:
        return None
    return record_position(tx, run.dataset.dataset_id, number, read, tx.now())
