"""Compares a run with the last promoted one before it."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlalchemy import select

from lakeguard.insight.comparison.run_facts import NO_BUILDS
from lakeguard.insight.comparison.since import FileChanges, RunCase, differences, file_changes
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.openings import Opening, opened_revision, opening_of, schema_verdict
from lakeguard.ledger.runs import run_row
from lakeguard.ledger.source_files import compared_files
from lakeguard.ledger.versions import StoredVersion, inputs_of, pointer, stored_versions
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.registry.editing.drift import drifted, renamed_columns
from lakeguard.registry.store import (
    current_definition,
    dataset_by_id,
    definition_at,
    definition_in_force,
)
from lakeguard.state.schema import run_history, run_schemas, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import DatasetDefinition, PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.run_comparison import Since
from lakeguard_sdk.types.schema import TableSchema

Inputs = dict[str, tuple[str, int | None]]


def since_green(tx: Transaction, run: RunRow) -> Since | None:
    """Differences since the last version promoted before the run ended.

    None if there is none, or if the run builds nothing.
    """
    green = _last_green(tx, run)
    if green is None:
        return None
    kind = tx.scalar(select(tasks.c.kind).where(tasks.c.task_id == run.task_id))
    if kind not in NO_BUILDS:
        return _compared(tx, run, green)
    return Since(
        version=green.version, run_id=green.run_id, promoted_at=green.promoted_at, compared=False
    )


def _compared(tx: Transaction, run: RunRow, green: StoredVersion) -> Since:
    then = run_row(tx, green.run_id)
    if then is None:
        raise UnknownRun(run=green.run_id)
    read = inputs_of(tx, run.dataset_id, green.version)
    known: Inputs = {item.dataset_id: (item.dataset, item.version) for item in read}
    before = run_case(tx, then, known)
    before = replace(before, definition=brought(tx, then, before.definition))
    after = run_case(tx, run, None, known)
    files = changed_files(tx, run.dataset_id, before, after)
    return Since(
        version=green.version,
        run_id=green.run_id,
        promoted_at=green.promoted_at,
        new_files=files.new,
        changed_files=files.changed,
        gone_files=files.gone,
        differences=tuple(differences(before, after)),
        read={DatasetName(name): version for name, version in after.inputs.values()},
    )


def changed_files(tx: Transaction, dataset_id: str, before: RunCase, after: RunCase) -> FileChanges:
    """Empty if either run has no evidence, or recorded no position in a source."""
    old = before.evidence.position if before.evidence else None
    new = after.evidence.position if after.evidence else None
    if old is None or new is None:
        return FileChanges()
    read_before, read_after = compared_files(tx, dataset_id, old, new)
    return file_changes(read_before.values(), read_after.values())


def _last_green(tx: Transaction, run: RunRow) -> StoredVersion | None:
    history = run_history.c
    own = select(history.ordinal).where(history.run_id == run.run_id).scalar_subquery()
    ended = select(history.run_id).where(
        history.dataset_id == run.dataset_id, history.ordinal < own
    )
    before = set(tx.scalars(ended))
    earlier = (
        version for version in stored_versions(tx, run.dataset_id) if version.run_id in before
    )
    return max(earlier, key=lambda version: version.version, default=None)


def run_case(
    tx: Transaction, run: RunRow, inputs: Inputs | None = None, expected: Inputs | None = None
) -> RunCase:
    """``inputs`` if known; else what the run read or would have read."""
    opening = _opening(tx, run.run_id)
    decision = decision_of_run(tx, run.run_id, run.dataset)
    definition = _definition(tx, run)
    rules, policies = _pinned(tx, decision, opening)
    if inputs is None:
        inputs = _read(tx, run, opening, definition, expected or {})
    hashed = decision.case.evidence if decision else None
    return RunCase(
        definition=definition,
        rules=rules,
        policies=policies,
        inputs=inputs,
        plan=opening.plan if opening else None,
        live=_live(tx, run.run_id),
        evidence=Evidence.from_json(get_document(tx, hashed)) if hashed else None,
        semantics=decision.ruling.semantics if decision else None,
    )


def _opening(tx: Transaction, run_id: str) -> Opening | None:
    """None if the run was refused before it opened."""
    try:
        return opening_of(tx, run_id)
    except UnknownRun:
        return None


def _definition(tx: Transaction, run: RunRow) -> DatasetDefinition:
    """The definition revision of the run; the latest if it never opened."""
    revision = opened_revision(tx, run.run_id)
    if revision is not None:
        return definition_at(tx, run.dataset_id, revision)
    found = definition_in_force(tx, run.dataset_id, run.end_time)
    return found or dataset_by_id(tx, run.dataset_id).definition


def brought(tx: Transaction, run: RunRow, opened: DatasetDefinition) -> DatasetDefinition:
    """The definition after a promoted run, with accepted columns."""
    verdict = schema_verdict(tx, run.run_id)
    if verdict is None or verdict.declared is None:
        return opened
    return drifted(opened, verdict.declared, renamed_columns(verdict.differences))


def _pinned(
    tx: Transaction, decision: Decision | None, opening: Opening | None
) -> tuple[tuple[RuleDefinition, ...], tuple[PolicyDefinition, ...]]:
    """Rules and policies of the decision, or those that would have applied."""
    if decision is None:
        pinned = PinnedRules.from_json(opening.pinned) if opening else None
        return (pinned.rules, pinned.policies) if pinned else ((), ())
    rules = json.loads(get_document(tx, decision.case.ruleset))
    policies = json.loads(get_document(tx, decision.case.policies))
    return (
        tuple(map(RuleDefinition.model_validate, rules)),
        tuple(map(PolicyDefinition.model_validate, policies)),
    )


def _read(
    tx: Transaction,
    run: RunRow,
    opening: Opening | None,
    definition: DatasetDefinition,
    expected: Inputs,
) -> Inputs:
    """Pinned inputs; for a run that never opened, the versions published when it began."""
    if opening is not None:
        pins = [pin.input for pin in opening.plan.pins]
        return {item.dataset_id: (item.dataset, item.version) for item in pins}
    names = {key: name for key, (name, _) in expected.items()}
    for parent in definition.parents:
        found = current_definition(tx, parent)
        if found is not None:
            names[found.dataset_id] = parent
    shown = {key: pointer(tx, key, run.start_time) for key in names}
    return {key: (names[key], at.version if at else None) for key, at in shown.items()}


def _live(tx: Transaction, run_id: str) -> TableSchema | None:
    found = tx.scalar(
        select(run_schemas.c.live_hash).where(
            run_schemas.c.org_id == tx.org_id, run_schemas.c.run_id == run_id
        )
    )
    return None if found is None else TableSchema.from_json(get_document(tx, found))
