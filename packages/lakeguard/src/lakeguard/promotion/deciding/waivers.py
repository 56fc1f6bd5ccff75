"""Grants and revokes waivers."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from lakeguard.ledger.waivers import (
    last_result,
    record_revocation,
    record_waiver,
    waiver_row,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.pinned_rules import pin_rules
from lakeguard.registry.store import RegisteredDataset, require_dataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import Enforcement, Outcome
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    NotJudged,
    NotWaivable,
    UnknownCheck,
    UnknownWaiver,
    WaiverInvalid,
)
from lakeguard_sdk.model.decision import LONGEST_WAIVER_DAYS, Waiver, WaiverRow
from lakeguard_sdk.security.secret_values import holds_secret

LONGEST_REASON = 2000


def waive(
    context: PlaneContext,
    name: DatasetName,
    check: str,
    *,
    approver: str,
    reason: str,
    until: datetime,
) -> WaiverRow:
    """Turn the failure of a check into a warning until it passes again, or until a date.

    Refused for BLOCK policies, and for a check that could not be judged.
    """
    now = context.clock()
    problem = _problem(approver, reason, now, until)
    if problem is not None:
        raise WaiverInvalid(dataset=name, check=check, problem=problem)
    with context.write() as tx:
        dataset = require_dataset(tx, name)
        kind, expression = _found(tx, dataset, check)
        check_id = check.removeprefix(f"{kind}:")
        waiver = Waiver(
            waiver_id=new_id("wvr"),
            check_kind=kind,
            check_id=check_id,
            expression=expression,
            approver=approver.strip(),
            reason=reason.strip(),
            granted_at=now,
            until=until,
            covers=_covered(tx, dataset, kind, check_id),
        )
        record_waiver(tx, dataset.dataset_id, waiver)
        return _required(tx, waiver.waiver_id)


def _covered(tx: Transaction, dataset: RegisteredDataset, kind: str, check_id: str) -> str:
    """The decision with the last failure of the check; empty if it passed or was never judged."""
    last = last_result(tx, dataset.dataset_id, kind, check_id)
    if last is None:
        return ""
    run_id, decision_id, result = last
    if result.outcome in (Outcome.ERROR, Outcome.NOT_EVALUATED):
        raise NotJudged(dataset=dataset.name, check=check_id, run=run_id, reason=result.message)
    return decision_id if result.outcome in (Outcome.FAIL, Outcome.WARN) else ""


def revoke(context: PlaneContext, waiver_id: str, reason: str) -> WaiverRow:
    """Revoke an active waiver; past decisions are unaffected."""
    now = context.clock()
    with context.write() as tx:
        found = waiver_row(tx, waiver_id)
        if found is None or not found.is_active(now):
            raise UnknownWaiver(waiver=waiver_id)
        problem = _text_problem("a reason", reason)
        if problem is not None:
            check = found.waiver.check_id
            raise WaiverInvalid(dataset=found.dataset, check=check, problem=problem)
        record_revocation(tx, waiver_id, reason.strip(), now)
        return _required(tx, waiver_id)


def _required(tx: Transaction, waiver_id: str) -> WaiverRow:
    found = waiver_row(tx, waiver_id)
    if found is None:
        raise UnknownWaiver(waiver=waiver_id)
    return found


def _problem(approver: str, reason: str, now: datetime, until: datetime) -> str | None:
    if until <= now:
        return "its end is not in the future"
    if until > now + timedelta(days=LONGEST_WAIVER_DAYS):
        return f"it would last longer than {LONGEST_WAIVER_DAYS} days"
    return _text_problem("an approver", approver, 300) or _text_problem("a reason", reason)


def _text_problem(what: str, text: str, longest: int = LONGEST_REASON) -> str | None:
    if not text.strip():
        return f"it needs {what}"
    if len(text) > longest or not text.strip().isprintable():
        return f"{what} is at most {longest:,} characters that can be seen, on one line"
    return f"{what} holds what looks like a secret" if holds_secret(text) else None


def _found(
    tx: Transaction, dataset: RegisteredDataset, check: str
) -> tuple[Literal["rule", "policy"], str]:
    """Resolve a name to a rule or policy; a rule wins unless a prefix says otherwise."""
    pinned = pin_rules(tx, dataset, published=None)
    rules = {rule.rule_id: rule.expression for rule in pinned.rules}
    policies = {policy.policy: policy for policy in pinned.policies}
    rule = rules.get(check, rules.get(check.removeprefix("rule:")))
    if rule is not None:
        return "rule", rule
    policy = policies.get(check.removeprefix("policy:"))
    if policy is None:
        hint = did_you_mean(check, [*rules, *policies])
        raise UnknownCheck(dataset=dataset.name, check=check[:200], hint=hint)
    if policy.enforcement is not Enforcement.ALERT:
        raise NotWaivable(check=policy.policy)
    return "policy", policy.expression
