"""Rows that a replay takes must wait until it has published them."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.kept_reading import quarantine_of
from lakeguard.promotion.heart import Heart
from lakeguard_sdk.errors import BaseMoved
from lakeguard_sdk.quarantine import QuarantineBuild
from lakeguard_sdk.run import RunPlan


def require_waiting(connection: Connection, heart: Heart, plan: RunPlan) -> None:
    """``BaseMoved`` where rows that the run has read were written off meanwhile."""
    if not isinstance(plan.build, QuarantineBuild):
        return
    quarantine = quarantine_of(connection, heart.org_id, plan.dataset_id)
    waiting = {(item.run_id, item.rule_id) for item in quarantine.waiting(quarantine.published)}
    taken = {(file.run_id, file.rule_id) for file in plan.build.files}
    if not taken <= waiting:
        raise BaseMoved(
            dataset=plan.dataset,
            expected="the rows that it sends again",
            found="some that do not wait any more",
        )
