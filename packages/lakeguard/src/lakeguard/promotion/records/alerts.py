"""Raises alerts for decisions, failures and rollbacks, in the transaction that records them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from lakeguard.dispatch.tasks import Task
from lakeguard.gate.evaluation.redaction import redacted_message, redacted_reasons
from lakeguard.gate.schema.messages import change_text
from lakeguard.ledger.notifications.store import record_notifications
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import (
    CheckKind,
    Outcome,
    RunStatus,
    Severity,
    TaskKind,
)
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.notifications import Alert, AlertKind, alert_key
from lakeguard_sdk.model.run import RunResult, SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction

_WARNING = {CheckKind.RULE: AlertKind.RULE, CheckKind.POLICY: AlertKind.POLICY}
_MOST_REASONS = 20


def raises_alert(decision: Decision) -> bool:
    return not decision.allowed or any(map(_warns, decision.ruling.checks))


def _warns(check: CheckResult) -> bool:
    return check.kind in _WARNING and check.outcome is Outcome.WARN


def alert_on_decision(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    decision: Decision,
    hidden: Collection[str],
) -> None:
    """For a block, and for each rule that warns and each policy that alerts, blocked or not.

    Values of ``hidden`` columns are redacted.
    """
    about = {"run_id": decision.run_id, "decision_id": decision.decision_id}
    at, ruling = decision.ruling.decided_at, decision.ruling
    if not decision.allowed:
        reasons = redacted_reasons(ruling, hidden)[:_MOST_REASONS]
        alert = Alert(
            **alert_subject(context, dataset, AlertKind.BLOCKED, decision.decision_id),
            **about,
            severity=Severity.FAIL,
            message="; ".join(reasons) or "blocked",
            details={"reasons": list(reasons)},
            raised_at=at,
        )
        record_notifications(tx, [alert])
    for check in ruling.checks:
        if not _warns(check):
            continue
        alert = Alert(
            **alert_subject(
                context, dataset, _WARNING[check.kind], decision.decision_id, check.check_id
            ),
            **about,
            severity=Severity.WARN,
            check=check.check_id,
            message=_message(check, hidden),
            details=_details(check),
            raised_at=at,
        )
        record_notifications(tx, [alert])


def alert_on_columns(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    run_id: str,
    differences: Iterable[SchemaReaction],
) -> None:
    """For every column that the run leaves out because it is not declared, once; not for those
    that the definition names."""
    named = {name.casefold() for name in dataset.definition.leave_out}
    for item in differences:
        if item.reaction is not Reaction.LEFT_OUT or item.column.casefold() in named:
            continue
        key = (dataset.dataset_id, item.column, item.found or "")
        alert = Alert(
            **alert_subject(context, dataset, AlertKind.COLUMN, *key),
            severity=Severity.WARN,
            run_id=run_id,
            check=f"schema.{item.column}",
            message=f"{change_text(item)}, so it is not in the table",
            details={"column": item.column, "type": item.found},
            raised_at=tx.now(),
        )
        record_notifications(tx, [alert])


def alert_on_failure(
    tx: Transaction,
    context: PlaneContext,
    task: Task,
    dataset: RegisteredDataset,
    result: RunResult,
) -> None:
    """For a run that failed and is not retried. The engine's message stays in the ledger: it may
    contain row values."""
    if result.status is not RunStatus.FAILED or _may_pass(task, result):
        return
    code = result.error.code if result.error else "LG-0000"
    attempts = "" if task.attempt == 1 else f" after {task.attempt} attempts"
    alert = Alert(
        **alert_subject(context, dataset, AlertKind.FAILED, result.run_id),
        severity=Severity.FAIL,
        run_id=result.run_id,
        message=f"the {task.kind} failed{attempts} with {code}",
        details={"code": code, "attempts": task.attempt, "task": task.kind.value},
        raised_at=result.ended_at,
    )
    record_notifications(tx, [alert])


def alert_on_rollback(
    tx: Transaction,
    context: PlaneContext,
    dataset: RegisteredDataset,
    result: RunResult,
    *,
    actor: str,
    reason: str,
) -> None:
    """For an earlier version that readers see again."""
    decision = result.decision
    alert = Alert(
        **alert_subject(context, dataset, AlertKind.ROLLBACK, result.run_id),
        severity=Severity.WARN,
        run_id=result.run_id,
        decision_id=decision.decision_id if decision else None,
        message=f"{actor} went back to v{result.version}: {reason}",
        details={"version": result.version, "actor": actor, "reason": reason},
        raised_at=result.ended_at,
    )
    record_notifications(tx, [alert])


def _may_pass(task: Task, result: RunResult) -> bool:
    """Whether it is retried automatically: a build by the worker, a compaction by the next run."""
    retryable = result.error is not None and result.error.retryable
    spent = task.kind is TaskKind.BUILD and task.attempt >= task.max_attempts
    return retryable and not spent and task.kind is not TaskKind.ROLLBACK


def alert_subject(
    context: PlaneContext, dataset: RegisteredDataset, kind: AlertKind, *key: str
) -> dict[str, Any]:
    """Fields of an alert that say which dataset it is about; ``key`` tells alerts apart."""
    return {
        "alert_id": new_id("alr"),
        "kind": kind,
        "organisation": context.org_id,
        "dataset": dataset.name,
        "dataset_id": dataset.dataset_id,
        "layer": dataset.name.layer,
        "domain": dataset.definition.domain,
        "owner": dataset.definition.owner,
        "dedupe_key": alert_key(kind, *key),
    }


def _message(check: CheckResult, hidden: Collection[str]) -> str:
    waived = f"; waived by {check.waived_by}" if check.waived_by else ""
    return redacted_message(check, hidden) + waived


def _details(check: CheckResult) -> dict[str, Any]:
    """Counts and the definition's text; observed values may be row values."""
    details = {
        "expression": check.expression,
        "failed_rows": check.failed_rows,
        "scope_rows": check.scope_rows,
        "waived_by": check.waived_by,
    }
    return {key: value for key, value in details.items() if value is not None}
