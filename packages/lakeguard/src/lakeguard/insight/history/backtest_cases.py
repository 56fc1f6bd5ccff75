"""Evaluates draft rules against one recorded case. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from lakeguard.gate.decide import decide
from lakeguard.gate.evaluation.case import CaseFacts, History
from lakeguard.gate.evaluation.redaction import redacted_message
from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.rules.compile import compiler_for
from lakeguard.gate.rules.quarantine_rules import quarantine_rules
from lakeguard.gate.rules.worst_values import tagged_columns, without_worst_values
from lakeguard.insight.history.replay import RecordedCase
from lakeguard_sdk.core.enums import CheckKind, Outcome, Verdict
from lakeguard_sdk.expressions.measures import Measure, MeasureValue, measure_key
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import DatasetDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.history import NOT_MEASURED, DraftFinding
from lakeguard_sdk.model.load import load_columns
from lakeguard_sdk.model.quarantine import QuarantinedRows, QuarantineRule
from lakeguard_sdk.types.schema import TableSchema

BLOCKING = (Outcome.FAIL, Outcome.ERROR)


class RuleNeeds(NamedTuple):
    """Measures of a rule for one schema by key, or why it does not compile."""

    measures: Mapping[str, Measure]
    problem: str = ""


@dataclass(frozen=True)
class DraftSchema:
    """A draft compiled for the schema of a run."""

    needs: Mapping[str, RuleNeeds]
    """Keyed by rule."""
    quarantine_rules: Mapping[str, QuarantineRule]
    """Ids of rules that quarantine rows."""


class DraftRuling(NamedTuple):
    verdict: Verdict
    checks: tuple[CheckResult, ...]


@dataclass
class Draft:
    """Draft rules in place of the recorded ones; everything else unchanged."""

    definition: DatasetDefinition
    _schemas: dict[tuple[TableSchema, tuple[str, ...]], DraftSchema] = field(default_factory=dict)

    @property
    def rules(self) -> tuple[RuleDefinition, ...]:
        return self.definition.rules

    def over(self, facts: CaseFacts) -> DraftSchema:
        """The draft compiled for a schema, cached by schema."""
        key = (facts.declared, tagged_columns(facts.tags, facts.subject))
        if key not in self._schemas:
            self._schemas[key] = self._compiled(*key)
        return self._schemas[key]

    def _compiled(self, schema: TableSchema, tagged: tuple[str, ...]) -> DraftSchema:
        written = {column.name for column in load_columns(self.definition.load)}
        batch = TableSchema(columns=tuple(c for c in schema.columns if c.name not in written))
        return DraftSchema(
            needs={rule.rule_id: _needs(rule, schema, tagged) for rule in self.rules},
            quarantine_rules={rule.rule_id: rule for rule in quarantine_rules(self.rules, batch)},
        )

    def unmeasured(
        self, case: RecordedCase, measured: Mapping[str, MeasureValue]
    ) -> dict[str, str]:
        """Rules that cannot be evaluated for the case, with the reason.

        An unchanged rule is evaluated as recorded, whatever is missing.
        """
        evidence = case.evidence
        if evidence is None:
            return {}
        asked_then, over = set(case.rules), self.over(case.facts)
        before = evidence.quarantined.before if evidence.quarantined else {}
        known = measured.keys() | evidence.unmeasured.keys() | before.keys()
        found = {}
        for rule in self.rules:
            needs = over.needs[rule.rule_id]
            if not rule.active or rule in asked_then:
                continue
            if needs.problem or not needs.measures.keys() <= known:
                found[rule.rule_id] = needs.problem or NOT_MEASURED
        return found

    def missing(self, case: RecordedCase, rule_ids: Mapping[str, str]) -> tuple[Measure, ...]:
        """Measures needed to evaluate these rules."""
        needs = self.over(case.facts).needs
        have = case.evidence.measures if case.evidence else {}
        asked = {key: of for name in rule_ids for key, of in needs[name].measures.items()}
        return tuple(asked[key] for key in sorted(asked) if key not in have)

    def judge(
        self,
        case: RecordedCase,
        evidence: Evidence,
        history: History,
        clock: datetime,
        left_out: Mapping[str, str],
    ) -> DraftRuling:
        """Today's gate applied to the draft rules that can be evaluated."""
        quarantine, whole, plain = self._sorted(case, evidence, left_out)
        facts, policies = case.facts, case.policies
        checks = list(decide(facts, evidence, plain, policies, history, clock).checks)
        if whole:
            alone = _with_all_rows(evidence)
            checks += _rule_checks(decide(facts, alone, whole, (), history, clock).checks)
        if quarantine:
            split = _split(
                evidence, [self.over(facts).quarantine_rules[rule.rule_id] for rule in quarantine]
            )
            named = facts.model_copy(
                update={"quarantine_rule_ids": tuple(rule.rule_id for rule in quarantine)}
            )
            checks += _rule_checks(decide(named, split, quarantine, (), history, clock).checks)
        blocked = any(check.outcome in BLOCKING for check in checks)
        return DraftRuling(Verdict.BLOCKED if blocked else Verdict.ALLOWED, tuple(checks))

    def _sorted(
        self, case: RecordedCase, evidence: Evidence, left_out: Mapping[str, str]
    ) -> tuple[tuple[RuleDefinition, ...], ...]:
        """Rules that would quarantine further rows; rules that need rows quarantined then; and the
        rest, which are evaluated on the evidence as it is."""
        then = set(case.rules)
        over = self.over(case.facts)
        before = evidence.quarantined.before if evidence.quarantined else {}
        groups: tuple[list[RuleDefinition], ...] = ([], [], [])
        for rule in self.rules:
            if rule.rule_id in left_out:
                continue
            if rule in then or not rule.active:
                groups[2].append(rule)
            elif rule.rule_id in over.quarantine_rules:
                groups[0].append(rule)
            else:
                groups[1 if over.needs[rule.rule_id].measures.keys() & before else 2].append(rule)
        return tuple(map(tuple, groups))


def finding(check: CheckResult, hidden: Collection[str]) -> DraftFinding:
    """A check's result; for hidden columns only row counts."""
    return DraftFinding(
        rule_id=check.check_id,
        outcome=check.outcome,
        message=redacted_message(check, hidden),
        failed_rows=check.failed_rows,
        scope_rows=check.scope_rows,
    )


def _needs(rule: RuleDefinition, schema: TableSchema, tagged: tuple[str, ...]) -> RuleNeeds:
    try:
        judged = without_worst_values(compiler_for(schema)(rule).check, tagged)
    except GrammarError as error:
        return RuleNeeds({}, f"it means nothing over the columns of then: {error}")
    return RuleNeeds({ref.key: ref.measure for ref in judged.measures})


def _rule_checks(checks: tuple[CheckResult, ...]) -> list[CheckResult]:
    return [check for check in checks if check.kind is CheckKind.RULE]


def _with_all_rows(evidence: Evidence) -> Evidence:
    """The batch before quarantine, as far as it was measured."""
    before = evidence.quarantined.before if evidence.quarantined else {}
    return evidence.model_copy(
        update={"measures": {**evidence.measures, **before}, "quarantined": None}
    )


def _split(evidence: Evidence, rules: list[QuarantineRule]) -> Evidence:
    """Evidence as if each rule had quarantined its failing rows."""
    whole = _with_all_rows(evidence).measures
    keys = {measure_key(item) for rule in rules for item in (rule.failed, rule.scope)}
    before = {key: whole[key] for key in keys if key in whole}
    left = {measure_key(rule.failed): 0 for rule in rules}
    quarantined = QuarantinedRows(rows=0, files=(), before=before)
    return evidence.model_copy(update={"measures": {**whole, **left}, "quarantined": quarantined})
