"""Who did what, from recorded facts, which are all in the ledger and in the audit chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    Table,
    case,
    cast,
    func,
    literal,
    null,
    select,
    true,
    union_all,
)

from lakeguard.registry.store import require_dataset
from lakeguard.state import schema as t
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.verification import AuditRow

Text = ColumnElement[Any]


@dataclass(frozen=True)
class AuditFilter:
    since: datetime | None = None
    actor: str | None = None
    dataset: DatasetName | None = None
    limit: int = 50


@dataclass(frozen=True)
class _Facts:
    """How rows of one table become audit rows."""

    table: Table
    at: str
    actor: Text
    action: Text
    subject: Text
    reason: Text
    allowed: ColumnElement[bool] | None = None
    joined: Table | None = None
    condition: ColumnElement[bool] | None = None
    names: bool = False
    """Whether the table has names of datasets instead of ids."""


def audit_rows(tx: Transaction, wanted: AuditFilter) -> list[AuditRow]:
    """Newest first."""
    dataset_id = None
    if wanted.dataset is not None:
        dataset_id = require_dataset(tx, wanted.dataset).dataset_id
    selected = [_rows(tx.org_id, facts, wanted, dataset_id) for facts in _all_facts()]
    every = union_all(*(part.subquery().select() for part in selected if part is not None))
    found = every.subquery("audit")
    newest = select(found).order_by(*_newest_first(found.c)).limit(wanted.limit)
    return [_row(row) for row in tx.execute(newest)]


def _newest_first(columns: Any) -> Sequence[ColumnElement[Any]]:
    """One total order for each part and for the union, so that each part can be limited too."""
    return (columns["at"].desc(), columns.action, columns.subject, columns.tie)


def _row(row: Any) -> AuditRow:
    return AuditRow(
        at=row.at,
        actor=row.actor,
        action=row.action,
        allowed=bool(row.allowed),
        dataset=row.dataset,
        subject=row.subject or "",
        reason=row.reason or "",
    )


def _rows(
    org_id: str, facts: _Facts, wanted: AuditFilter, dataset_id: str | None
) -> Select[Any] | None:
    table = facts.table.c
    at, names, source = table[facts.at], t.dataset_registry.c, facts.table
    dataset: Text = null()
    query_from: Any = source
    if facts.joined is not None:
        query_from = query_from.join(facts.joined, facts.condition)
    if facts.names:
        dataset = table.dataset
    elif "dataset_id" in table:
        known = select(names.dataset_name).where(names.dataset_id == table.dataset_id)
        dataset = known.scalar_subquery()
    allowed = true() if facts.allowed is None else facts.allowed
    query = select(
        at.label("at"),
        facts.actor.label("actor"),
        cast(facts.action, String).label("action"),
        allowed.label("allowed"),
        cast(dataset, String).label("dataset"),
        cast(facts.subject, String).label("subject"),
        cast(facts.reason, String).label("reason"),
        cast(table.get("dataset_id", dataset), String).label("tie"),
    ).select_from(query_from)
    query = query.where(table.org_id == org_id)
    if wanted.since is not None:
        query = query.where(at >= wanted.since)
    if wanted.actor is not None:
        query = query.where(facts.actor == wanted.actor)
    if dataset_id is not None and facts.names:
        query = query.where(table.dataset == str(wanted.dataset))
    elif dataset_id is not None:
        if "dataset_id" not in table:
            return None
        query = query.where(table.dataset_id == dataset_id)
    return query.order_by(*_newest_first(query.selected_columns)).limit(wanted.limit)


def _all_facts() -> Iterator[_Facts]:
    yield from _definitions()
    yield from _moves()
    yield from _exceptions()
    yield from _jobs()
    yield from _access()
    yield from _identity()


def _definitions() -> Sequence[_Facts]:
    applies, graphs = t.registry_applies.c, t.dag_activations.c
    return (
        _Facts(
            t.registry_applies,
            "applied_at",
            applies.applied_by,
            literal("apply"),
            applies.apply_id,
            applies.reason,
        ),
        _Facts(
            t.dag_activations,
            "activated_at",
            graphs.actor,
            literal("deploy"),
            graphs.dag_version_id,
            graphs.reason,
        ),
    )


def _moves() -> Sequence[_Facts]:
    decisions, pointers = t.decisions.c, t.dataset_pointers.c
    upkeep = t.maintenance_log.c
    return (
        _Facts(
            t.decisions,
            "decided_at",
            t.run_history.c.triggered_by,
            literal("run"),
            decisions.run_id,
            null(),
            decisions.verdict == "ALLOWED",
            joined=t.run_history,
            condition=t.run_history.c.run_id == decisions.run_id,
        ),
        _Facts(
            t.dataset_pointers,
            "moved_at",
            pointers.actor,
            func.lower(pointers.kind),
            literal("v").concat(cast(pointers.version, String)),
            pointers.reason,
        ),
        _Facts(
            t.maintenance_log,
            "at",
            upkeep.actor,
            literal("maintain"),
            upkeep.kind,
            null(),
        ),
    )


def _exceptions() -> Sequence[_Facts]:
    waived, revoked = t.waivers.c, t.waiver_revocations.c
    discarded, found = t.quarantine_discards.c, t.table_findings.c
    return (
        _Facts(
            t.waivers,
            "granted_at",
            waived.granted_by,
            literal("waive"),
            waived.check_id,
            waived.reason,
        ),
        _Facts(
            t.waiver_revocations,
            "revoked_at",
            revoked.revoked_by,
            literal("revoke waiver"),
            revoked.waiver_id,
            revoked.reason,
        ),
        _Facts(
            t.quarantine_discards,
            "discarded_at",
            discarded.actor,
            literal("discard"),
            discarded.rule_id,
            discarded.reason,
        ),
        _Facts(
            t.table_findings,
            "found_at",
            found.found_by,
            case((found.state == "FOUND", literal("report damage")), else_=literal("clear damage")),
            found.problem,
            found.message,
        ),
    )


def _jobs() -> Sequence[_Facts]:
    switches = t.job_switches.c
    wrong, ends = t.invalidations.c, t.invalidation_ends.c
    return (
        _Facts(
            t.job_switches,
            "switched_at",
            switches.actor,
            case((switches.enabled, literal("enable job")), else_=literal("disable job")),
            switches.job_id,
            switches.reason,
        ),
        _Facts(
            t.invalidations,
            "created_at",
            wrong.created_by,
            literal("invalidate"),
            wrong.invalidation_id,
            func.coalesce(wrong.why, wrong.reason),
        ),
        _Facts(
            t.invalidation_ends,
            "ended_at",
            ends.actor,
            literal("end invalidation"),
            ends.invalidation_id,
            ends.reason,
        ),
    )


def _access() -> Iterator[_Facts]:
    calls = t.access_log.c
    yield _Facts(
        t.access_log,
        "accessed_at",
        calls.principal,
        calls.action,
        calls.method,
        calls.reason,
        calls.allowed,
        names=True,
    )


def _change(changed: Any) -> Text:
    """What was done to a subject: nothing that was never revoked is restored."""
    return case(
        (changed.subject_kind == "token", literal("rotate ")),
        (changed.active & (changed.number == 1), literal("create ")),
        (changed.active, literal("restore ")),
        else_=literal("revoke "),
    )


def _identity() -> Sequence[_Facts]:
    granted, revoked = t.role_grants.c, t.access_revocations.c
    changed, made = t.identity_states.c, t.service_tokens.c
    return (
        _Facts(
            t.role_grants,
            "granted_at",
            granted.granted_by,
            literal("grant role"),
            granted.role.concat(literal(" to ")).concat(t.users.c.user_name),
            granted.reason,
            joined=t.users,
            condition=t.users.c.user_id == granted.user_id,
        ),
        _Facts(
            t.access_revocations,
            "revoked_at",
            revoked.revoked_by,
            literal("revoke ").concat(revoked.kind),
            revoked.revoked_id,
            revoked.reason,
        ),
        _Facts(
            t.identity_states,
            "changed_at",
            changed.changed_by,
            _change(changed).concat(changed.subject_kind),
            changed.subject_id,
            changed.reason,
        ),
        _Facts(
            t.service_tokens,
            "created_at",
            made.created_by,
            literal("create token"),
            made.token_name,
            null(),
        ),
    )
