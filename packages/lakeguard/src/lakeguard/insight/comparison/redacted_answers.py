"""Answers about runs without the measured values of columns: of decisions, trends, comparisons and
replays, and the statistics of files."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from lakeguard.gate.evaluation.redaction import (
    gives_away,
    redacted_message,
    redacted_reasons,
)
from lakeguard_sdk.core.enums import CheckKind
from lakeguard_sdk.model.decision import CheckResult, Decision, Ruling
from lakeguard_sdk.model.evidence import Evidence, StagedFile
from lakeguard_sdk.model.history import RebuildPlan, RemeasurePlan
from lakeguard_sdk.model.read_models import ReplayResult
from lakeguard_sdk.model.run_comparison import CheckPoint, CheckTrend, SideBySide

DecisionOf = Callable[[str], Decision]
"""The decision of a run, unredacted."""


def redacted_answer(answer: Any, hidden: Collection[str], decision_of: DecisionOf) -> Any:
    """The answer, equal to it if it holds no value of these columns."""
    match answer:
        case Decision():
            return answer.model_copy(update={"ruling": _ruling(answer.ruling, hidden)})
        case ReplayResult():
            texts = {
                name: _ruling(Ruling.from_json(getattr(answer, name)), hidden).to_json()
                for name in ("recorded", "replayed")
            }
            return answer.model_copy(update=texts)
        case SideBySide():
            pairs = tuple(
                pair.model_copy(
                    update={
                        "before": pair.before and _check(pair.before, hidden),
                        "after": pair.after and _check(pair.after, hidden),
                    }
                )
                for pair in answer.checks
            )
            return answer.model_copy(update={"checks": pairs})
        case RebuildPlan():
            return answer.model_copy(update={"evidence": _evidence(answer.evidence, hidden)})
        case RemeasurePlan():
            return answer.model_copy(update={"files": _files(answer.files, hidden)})
    return tuple(_trend(trend, hidden, decision_of) for trend in answer)


def _ruling(ruling: Ruling, hidden: Collection[str]) -> Ruling:
    checks = tuple(_check(check, hidden) for check in ruling.checks)
    return ruling.model_copy(update={"checks": checks, "reasons": redacted_reasons(ruling, hidden)})


def _check(check: CheckResult, hidden: Collection[str]) -> CheckResult:
    if not gives_away(check, hidden):
        return check
    message = redacted_message(check, hidden)
    return check.model_copy(update={"observed": None, "message": message})


def _trend(trend: CheckTrend, hidden: Collection[str], decision_of: DecisionOf) -> CheckTrend:
    """By the decision of each run: the rule may have used another column then."""
    if trend.kind is not CheckKind.RULE:
        return trend

    def point(found: CheckPoint) -> CheckPoint:
        if found.observed is None:
            return found
        checks = decision_of(found.run_id).ruling.checks
        own = (
            each for each in checks if (each.kind, each.check_id) == (trend.kind, trend.check_id)
        )
        if not any(gives_away(each, hidden) for each in own):
            return found
        return found.model_copy(update={"observed": None})

    return trend.model_copy(update={"points": tuple(map(point, trend.points))})


def _evidence(evidence: Evidence, hidden: Collection[str]) -> Evidence:
    """Without measures: their keys do not name columns, and a rebuild needs none."""
    quarantined = evidence.quarantined
    return evidence.model_copy(
        update={
            "measures": {},
            "unmeasured": {},
            "files": _files(evidence.files, hidden),
            "quarantined": quarantined and quarantined.model_copy(update={"before": {}}),
        }
    )


def _files(files: Collection[StagedFile], hidden: Collection[str]) -> tuple[StagedFile, ...]:
    return tuple(
        file.model_copy(update={"stats": _statistics(file.stats, hidden)}) for file in files
    )


def _statistics(text: str, hidden: Collection[str]) -> str:
    """Without the bounds of the columns."""
    if not text:
        return text
    stats, names = json.loads(text), {name.casefold() for name in hidden}
    for kind in ("minValues", "maxValues"):
        bounds = stats.get(kind, {})
        kept = {name: value for name, value in bounds.items() if name.casefold() not in names}
        if kept != bounds:
            stats[kind] = kept
    return text if stats == json.loads(text) else json.dumps(stats)
