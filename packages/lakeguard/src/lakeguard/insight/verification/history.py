"""HISTORY: rows of the State are consistent. Checked by set queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Select, Table, and_, func, or_, select

from lakeguard.ledger.intents import IntentOutcome
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import (
    data_versions,
    dataset_pointers,
    decisions,
    intent_outcomes,
    intents,
    materializations,
    partition_versions,
    promotion_status,
    run_history,
    source_files,
    task_attempts,
    task_results,
    task_transitions,
    tasks,
    version_inputs,
)
from lakeguard_sdk.core.enums import TaskState, Verdict
from lakeguard_sdk.model.verification import Finding, FindingKind

_NUMBERED = (
    (data_versions, data_versions.c.version, "version"),
    (intents, intents.c.seq, "number"),
    (dataset_pointers, dataset_pointers.c.ordinal, "pointer"),
)
"""Numbered from 1 without gaps per dataset."""

Pairs = Sequence[tuple[str, str]]
_VERSION: Pairs = (("dataset_id", "dataset_id"), ("version", "version"))
_DECISION: Pairs = (("decision_id", "decision_id"),)
_ATTEMPT: Pairs = (("task_id", "task_id"), ("attempt", "attempt"), ("run_id", "run_id"))
_REFERENCES: tuple[tuple[Table, Pairs, Table, str], ...] = (
    (dataset_pointers, _VERSION, data_versions, "points to a version that is not there"),
    (dataset_pointers, _DECISION, decisions, "has no decision"),
    (data_versions, _DECISION, decisions, "has no decision"),
    (data_versions, _VERSION, materializations, "has no materialisation"),
    (materializations, _VERSION, data_versions, "is of a version that is not there"),
    (promotion_status, _DECISION, decisions, "names a decision that is not there"),
    (intents, _DECISION, decisions, "has no decision"),
    (intent_outcomes, (("intent_id", "intent_id"),), intents, "is of no intent"),
    (run_history, _ATTEMPT, task_attempts, "is of no attempt"),
    (run_history, (("task_id", "task_id"),), tasks, "is of no task"),
    (run_history, _DECISION, decisions, "names a decision that is not there"),
    (task_attempts, (("task_id", "task_id"),), tasks, "is of no task"),
    (task_results, _ATTEMPT, task_attempts, "is of no attempt"),
    (task_transitions, (("task_id", "task_id"),), tasks, "is of no task"),
    (version_inputs, _VERSION, data_versions, "is of a version that is not there"),
    (partition_versions, _VERSION, data_versions, "is of a version that is not there"),
    (source_files, _VERSION, data_versions, "is of a version that is not there"),
    (
        version_inputs,
        (("input_dataset_id", "dataset_id"), ("input_version", "version")),
        data_versions,
        "names an input version that is not there",
    ),
)
"""Rows of the first table that must have a match in the second, by these columns."""

_ONCE = (
    (run_history, ("run_id",), "ended more than once"),
    (materializations, ("dataset_id", "version"), "materialised more than once"),
    (decisions, ("run_id",), "decided more than once"),
)


def history_findings(state: OrganisationState) -> Iterator[Finding]:
    """Each query runs in its own transaction."""
    for table, number, word in _NUMBERED:
        yield from _gaps(state, table, number, word)
    for table, pairs, other, message in _REFERENCES:
        yield from _findings(state, table, _dangling(state.org_id, table, pairs, other), message)
    for table, names, message in _ONCE:
        yield from _findings(state, table, _doubles(state.org_id, table, names), message)
    yield from _open_intents(state)
    yield from _findings(
        state, task_attempts, _unended(state.org_id), "has no end, and does not run"
    )
    yield from _findings(
        state, tasks, _changed_otherwise(state.org_id), "is not in the state of its last change"
    )
    yield from _findings(
        state,
        task_transitions,
        _unconnected(state.org_id),
        "does not follow from the change before",
    )
    yield from _findings(
        state,
        intents,
        _undecided(state.org_id),
        "moves a table, but its decision is not ALLOWED",
    )
    yield from _findings(
        state, data_versions, _uncommitted(state.org_id), "has no intent that committed it"
    )


def _gaps(
    state: OrganisationState, table: Table, number: Column[int], word: str
) -> Iterator[Finding]:
    counted = (func.count(), func.min(number), func.max(number))
    rows = _asked(
        state,
        select(table.c.dataset_id, *counted)
        .where(table.c.org_id == state.org_id)
        .group_by(table.c.dataset_id)
        .having(or_(func.min(number) != 1, func.max(number) != func.count()))
        .order_by(table.c.dataset_id),
    )
    for dataset_id, count, least, most in rows:
        message = f"expected {word} 1 to {count:,} without a gap, found {least:,} to {most:,}"
        yield _finding(f"{table.name} {dataset_id}", message)


def _dangling(org_id: str, table: Table, pairs: Pairs, other: Table) -> Select[tuple[str, ...]]:
    same = [table.c[mine] == other.c[theirs] for mine, theirs in pairs]
    named = [table.c[mine].is_not(None) for mine, _ in pairs]
    exists = select(other.c.org_id).where(other.c.org_id == org_id, *same).exists()
    return _keys(table).where(table.c.org_id == org_id, *named, ~exists)


def _doubles(org_id: str, table: Table, names: Sequence[str]) -> Select[tuple[str, ...]]:
    columns = [table.c[name] for name in names]
    grouped = select(*columns).where(table.c.org_id == org_id).group_by(*columns)
    return grouped.having(func.count() > 1)


def _open_intents(state: OrganisationState) -> Iterator[Finding]:
    rows = _asked(
        state,
        select(intents.c.dataset_id, func.count())
        .join(intent_outcomes, intent_outcomes.c.intent_id == intents.c.intent_id, isouter=True)
        .where(intents.c.org_id == state.org_id, intent_outcomes.c.intent_id.is_(None))
        .group_by(intents.c.dataset_id)
        .having(func.count() > 1),
    )
    for dataset_id, count in rows:
        yield _finding(f"intents {dataset_id}", f"expected one open intent at most, found {count}")


def _unended(org_id: str) -> Select[tuple[str, ...]]:
    ended = select(run_history.c.run_id).where(run_history.c.run_id == task_attempts.c.run_id)
    reported = select(task_results.c.run_id).where(task_results.c.run_id == task_attempts.c.run_id)
    running: ColumnElement[bool] = and_(
        tasks.c.state == TaskState.RUNNING.value, tasks.c.attempt == task_attempts.c.attempt
    )
    joined = _keys(task_attempts).join(tasks, tasks.c.task_id == task_attempts.c.task_id)
    over = or_(ended.exists(), reported.exists())
    return joined.where(task_attempts.c.org_id == org_id, ~over, ~running)


def _changed_otherwise(org_id: str) -> Select[tuple[str, ...]]:
    """Tasks whose state or transition count differs from their last transition."""
    table = task_transitions.c
    last = (
        select(table.task_id, func.max(table.number).label("number"), func.count().label("count"))
        .where(table.org_id == org_id)
        .group_by(table.task_id)
        .subquery()
    )
    joined = (
        _keys(tasks)
        .join(last, last.c.task_id == tasks.c.task_id, isouter=True)
        .join(
            task_transitions,
            and_(table.task_id == tasks.c.task_id, table.number == last.c.number),
            isouter=True,
        )
    )
    return joined.where(
        tasks.c.org_id == org_id,
        or_(
            last.c.number.is_(None),
            last.c.number != tasks.c.changes,
            last.c.number != last.c.count,
            table.to_state != tasks.c.state,
        ),
    )


def _unconnected(org_id: str) -> Select[tuple[str, ...]]:
    before, this = task_transitions.alias("before"), task_transitions.c
    joined = _keys(task_transitions).join(
        before, and_(before.c.task_id == this.task_id, before.c.number == this.number - 1)
    )
    return joined.where(
        this.org_id == org_id,
        or_(this.from_state.is_(None), this.from_state != before.c.to_state),
    )


def _undecided(org_id: str) -> Select[tuple[str, ...]]:
    joined = _keys(intents).join(decisions, decisions.c.decision_id == intents.c.decision_id)
    return joined.where(intents.c.org_id == org_id, decisions.c.verdict != Verdict.ALLOWED.value)


def _uncommitted(org_id: str) -> Select[tuple[str, ...]]:
    version, outcome = data_versions.c, intent_outcomes.c
    same = and_(
        intents.c.dataset_id == version.dataset_id,
        intents.c.seq == version.seq,
        intents.c.decision_id == version.decision_id,
        outcome.outcome == IntentOutcome.COMMITTED.value,
        outcome.commit_version == version.commit_version,
        outcome.commit_sha256 == version.commit_sha256,
    )
    committed_by = (
        select(intents.c.intent_id)
        .join(intent_outcomes, outcome.intent_id == intents.c.intent_id)
        .where(same)
    )
    return _keys(data_versions).where(version.org_id == org_id, ~committed_by.exists())


def _keys(table: Table) -> Select[tuple[str, ...]]:
    return select(*table.primary_key)


def _findings(
    state: OrganisationState, table: Table, rows: Select[tuple[str, ...]], message: str
) -> Iterator[Finding]:
    for key in _asked(state, rows):
        yield _finding(f"{table.name} {', '.join(map(str, key))}", message)


def _asked(state: OrganisationState, question: Select[Any]) -> Sequence[Sequence[Any]]:
    with state.read() as tx:
        return tx.execute(question).all()


def _finding(place: str, message: str) -> Finding:
    return Finding(kind=FindingKind.HISTORY, place=place, message=message)
