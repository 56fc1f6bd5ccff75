"""Telling a few of the rows that rules failed by, once that is decided."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from lakeguard_sdk.decision import CheckResult, Decision
from lakeguard_sdk.measure import AnyMeasure, measure_key
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.sample import untold_texts
from lakeguard_sdk.words import CheckKind, Outcome
from openlaketx.measure import Asked, Subject, draw_samples, how_to_measure

SECONDS_BEFORE_PUBLISH = 5.0
SECONDS_WHEN_BLOCKED = 20.0
"""Less than a heartbeat apart: the lease of a blocked run is over."""


def tell_failing_rows(
    plan: RunPlan,
    decision: Decision,
    subject: Callable[[], Subject],
    session: SparkSession,
    runs: Runs,
) -> None:
    """Of every rule that failed or warned, unless nothing of the run may be kept. No text is told
    where one may hold a pattern that a policy forbids.

    Nothing depends on it: whatever goes wrong here, the run goes on as it was decided.
    """
    counted = _counted(plan, decision)
    if not counted or decision.ruling.discard:
        return
    texts = untold_texts(decision.ruling, plan.table_schema)
    asked = Asked(counted, plan.load.keys, tuple({*plan.masked, *plan.private, *texts}))
    seconds = SECONDS_BEFORE_PUBLISH if decision.allowed else SECONDS_WHEN_BLOCKED
    try:
        samples = draw_samples(asked, subject(), how_to_measure(plan), seconds, session)
        runs.submit_samples(plan.ticket, samples)
    except Exception:  # noqa: BLE001 - the decision stands, with rows to show or without
        return


def _counted(plan: RunPlan, decision: Decision) -> dict[str, AnyMeasure]:
    """By rule, what counted its failing rows; those that block come first."""
    measures = {measure_key(measure): measure for measure in plan.measures}
    found = [check for check in decision.ruling.checks if _is_shown(check)]
    found.sort(key=lambda check: check.outcome is not Outcome.FAIL)
    return {check.check_id: measures[check.counted] for check in found if check.counted in measures}


def _is_shown(check: CheckResult) -> bool:
    return check.kind is CheckKind.RULE and check.outcome in (Outcome.FAIL, Outcome.WARN)
