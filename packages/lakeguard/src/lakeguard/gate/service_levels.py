"""Whether what is promised of time is kept, also where no run comes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import parse_policy
from lakeguard.gate.policy_types.sla import Arrival, Freshness
from lakeguard_sdk.definition import PolicyDefinition
from lakeguard_sdk.reading import Breach
from lakeguard_sdk.words import PolicyType


def breaches(
    policies: Iterable[PolicyDefinition], promoted_at: datetime | None, clock: datetime
) -> tuple[Breach, ...]:
    """What of the policies over a dataset is broken at this time, by when a version of it was
    promoted last. A policy that cannot be read is broken."""
    found = []
    for policy in policies:
        if policy.type is not PolicyType.SLA or not policy.active:
            continue
        message = _broken(policy, promoted_at, clock)
        if message is not None:
            found.append(
                Breach(
                    policy=policy.policy,
                    expression=policy.expression,
                    enforcement=policy.enforcement,
                    message=message,
                )
            )
    return tuple(sorted(found, key=lambda breach: breach.policy))


def _broken(policy: PolicyDefinition, promoted_at: datetime | None, clock: datetime) -> str | None:
    try:
        parsed = parse_policy(policy.type, policy.expression)
    except GrammarError as error:
        return f"the policy cannot be read: {error}"
    if isinstance(parsed, Freshness | Arrival):
        return parsed.breach(promoted_at, clock)
    return None
