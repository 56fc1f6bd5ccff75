"""The inputs a rule is evaluated on, and access to their measures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from lakeguard.gate.evaluation.bands import Point
from lakeguard.gate.evaluation.case import History
from lakeguard.gate.grammar.rule import Rule
from lakeguard.gate.grammar.unparse import where_text
from lakeguard.gate.typecheck.checks import MeasureRef
from lakeguard.gate.typecheck.scalars import as_scalar
from lakeguard_sdk.core.enums import CheckKind, Outcome, Severity
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.evidence import Evidence


class Unmeasured(Exception):
    """A measure that the rule needs is missing or contradicts another."""


@dataclass(frozen=True)
class EvaluationContext:
    """Evidence of the run, history, and the decision time."""

    evidence: Evidence
    history: History
    clock: datetime
    quarantine_rule_ids: frozenset[str] = frozenset()
    """Ids of rules whose failing rows were quarantined."""

    def answer(self, ref: MeasureRef) -> MeasureValue:
        if ref.key in self.evidence.unmeasured:
            raise Unmeasured(f"not measured: {self.evidence.unmeasured[ref.key]}")
        if ref.key not in self.evidence.measures:
            raise Unmeasured(f"not measured: {ref.key} is missing from the evidence")
        return self.evidence.measures[ref.key]

    def answer_before(self, ref: MeasureRef) -> MeasureValue:
        """The measure including quarantined rows; the same as ``answer`` if there are none."""
        if self.evidence.quarantined is None:
            return self.answer(ref)
        if ref.key not in self.evidence.quarantined.before:
            raise Unmeasured(f"not measured: {ref.key} has no value from before the quarantine")
        return self.evidence.quarantined.before[ref.key]

    def earlier(self, ref: MeasureRef, data_type: str) -> list[Point]:
        """Finite values in earlier versions, newest first."""
        found = []
        for version in self.history.versions:
            value = as_scalar(version.values.get(ref.key), data_type)
            number = value if isinstance(value, Decimal) else None
            if number is not None and number.is_finite():
                found.append(Point(number, version.at))
        return found


def broken(severity: Severity) -> Outcome:
    """Outcome of a rule without thresholds that does not hold."""
    return Outcome.FAIL if severity is Severity.FAIL else Outcome.WARN


def where_words(rule: Rule) -> str:
    return "" if rule.where is None else f" where {where_text(rule.where)}"


def result(
    definition: RuleDefinition,
    outcome: Outcome,
    message: str,
    *,
    failed_rows: int | None = None,
    scope_rows: int | None = None,
    observed: MeasureValue = None,
    limit: str | None = None,
) -> CheckResult:
    return CheckResult(
        kind=CheckKind.RULE,
        check_id=definition.rule_id,
        expression=definition.expression,
        outcome=outcome,
        message=message,
        failed_rows=failed_rows,
        scope_rows=scope_rows,
        observed=observed,
        limit=limit,
    )
