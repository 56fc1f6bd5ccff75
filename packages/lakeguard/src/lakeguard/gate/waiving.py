"""Waivers on checks: what failed and is answered for becomes a warning that says by whom."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lakeguard.gate.wording import moment_words
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import PolicyDefinition
from lakeguard_sdk.waiver import Waiver
from lakeguard_sdk.words import CheckKind, Enforcement, Outcome


def waived(check: CheckResult, waivers: Iterable[Waiver], clock: datetime) -> CheckResult:
    """The check of a rule, or of an ALERT policy, as it stands with the waivers in force.

    A waiver was given for what the check said then: one that says something else now stands.
    An ERROR stays: nobody can answer for what could not be judged.
    """
    if check.outcome not in (Outcome.FAIL, Outcome.WARN):
        return check
    held = [
        waiver
        for waiver in waivers
        if waiver.check_id == check.check_id
        and waiver.check_kind == check.kind.value
        and waiver.expression == check.expression
        and waiver.in_force(clock)
    ]
    if not held:
        return check
    last = max(held, key=lambda waiver: (waiver.until, waiver.waiver_id))
    words = f"{last.approver} until {moment_words(last.until)}: {last.reason}"
    return check.model_copy(update={"outcome": Outcome.WARN, "waived_by": words})


def waivable(check: CheckResult, policies: Iterable[PolicyDefinition]) -> bool:
    """Rules, and policies that only alert; a BLOCK policy is absolute."""
    if check.kind is CheckKind.RULE:
        return True
    return any(
        policy.policy == check.check_id and policy.enforcement is Enforcement.ALERT
        for policy in policies
    )
