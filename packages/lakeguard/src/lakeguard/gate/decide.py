"""The decision: a pure function of facts, evidence, rules, policies, history and the time.

It fails closed: anything missing, unknown, unreadable or contradictory is an ERROR, and an ERROR
blocks like a FAIL. Every check runs and is listed, even after one has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from lakeguard.gate.evaluation.case import CaseFacts, History
from lakeguard.gate.evaluation.evaluate import EvaluationContext, Unmeasured, evaluate
from lakeguard.gate.evaluation.measure_agreement import disagreements
from lakeguard.gate.evaluation.messages import counted, moment_words
from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.policies import (
    difference_text,
    discards,
    evaluate_policy,
    governs,
    policy_measures,
)
from lakeguard.gate.policy_types.policy_form import PolicyInput
from lakeguard.gate.rules.compile import CompiledRule, compiler_for
from lakeguard.gate.rules.worst_values import tagged_columns, without_worst_values
from lakeguard.gate.schema.messages import REACTION_WORDS
from lakeguard.gate.typecheck.scalars import NotAValue
from lakeguard_sdk.core.enums import CheckKind, Enforcement, Outcome, Scope, Verdict
from lakeguard_sdk.expressions.measures import Measure, MeasureValue, RowCount, measure_key
from lakeguard_sdk.model.decision import CheckResult, Ruling, Waiver
from lakeguard_sdk.model.definitions import PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction
from lakeguard_sdk.types.schema import TableSchema

__all__ = ["SEMANTICS", "CaseFacts", "History", "decide"]

SEMANTICS = 1
"""Version of the meaning of rules, policies and this function; recorded in every decision.

From 0.1.0 on, a change of meaning adds a number and keeps the earlier meaning available.
"""

_KINDS = list(CheckKind)
_BLOCKING = (Outcome.FAIL, Outcome.ERROR)
_REACTION_OUTCOMES = {
    Reaction.ACCEPT: Outcome.PASS,
    Reaction.ACCEPT_CAST: Outcome.PASS,
    Reaction.LEFT_OUT: Outcome.WARN,
    Reaction.QUARANTINE_ROW: Outcome.WARN,
    Reaction.BLOCK: Outcome.FAIL,
}


def decide(
    facts: CaseFacts,
    evidence: Evidence | None,
    ruleset: tuple[RuleDefinition, ...],
    policies: tuple[PolicyDefinition, ...],
    history: History,
    clock: datetime,
) -> Ruling:
    """Return the ruling: ALLOWED only with evidence and without a FAIL or ERROR check.

    The result does not depend on the order of any argument. Policies that do not govern the dataset
    are not listed.
    """
    judged = [policy for policy in policies if governs(policy, facts)]
    policy_input = PolicyInput(facts, evidence, clock)
    compiler = _compiler(facts)
    context = None
    if evidence is not None:
        context = EvaluationContext(evidence, history, clock, frozenset(facts.quarantine_rule_ids))
    found = [_policy_check(policy_input, policy) for policy in judged]
    found += [_rule_check(rule, compiler, context) for rule in ruleset]
    measures = () if evidence is None else _measures_of(ruleset, judged, facts, compiler)
    checks = [*facts.eligibility, *_schema_checks(facts, evidence, measures)]
    checks += [_with_waiver(check, facts, judged, clock) for check in found]
    checks.sort(key=_place)
    blocking = [check for check in checks if check.outcome in _BLOCKING]
    reasons = [f"{check.check_id}: {check.message}" for check in blocking]
    if evidence is None and not reasons:
        reasons = ["evidence: nothing was measured, so the run cannot be allowed"]
    return Ruling(
        verdict=Verdict.BLOCKED if reasons else Verdict.ALLOWED,
        reasons=tuple(reasons),
        checks=tuple(checks),
        semantics=SEMANTICS,
        decided_at=clock,
        discard=evidence is not None and _must_go(judged, checks),
    )


def _place(check: CheckResult) -> tuple[int, str, str, str, str]:
    kind = _KINDS.index(check.kind)
    return kind, check.check_id, check.expression, check.outcome, check.message


def _measures_of(
    ruleset: Iterable[RuleDefinition],
    policies: Iterable[PolicyDefinition],
    facts: CaseFacts,
    compiler: Callable[[RuleDefinition], CompiledRule],
) -> tuple[Measure, ...]:
    """All measures that the evidence can hold, in a fixed order."""
    compiled = (_compiled(rule, compiler) for rule in ruleset)
    found = {
        ref.key: ref.measure
        for rule in compiled
        if not isinstance(rule, Exception)
        for ref in rule.check.measures
    }
    found |= {measure_key(m): m for m in policy_measures(policies, facts.declared)}
    return tuple(found[key] for key in sorted(found))


def _schema_checks(
    facts: CaseFacts, evidence: Evidence | None, measures: tuple[Measure, ...]
) -> list[CheckResult]:
    """One check per schema difference, and one for the consistency of the evidence."""
    checks = [_reaction_check(item) for item in facts.schema_differences]
    if evidence is None:
        return checks
    try:
        problems = _contradictions(facts, evidence, measures)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        problems = [f"the evidence cannot be checked: {_named(error)}"]
    outcome = Outcome.ERROR if problems else Outcome.PASS
    shape = f"{counted(evidence.rows, 'row')}, {counted(len(facts.declared.columns), 'column')}"
    message = "; ".join(problems) or f"{shape}, as declared"
    checks.append(_schema_check("evidence", "evidence is consistent", outcome, message))
    return checks


def _reaction_check(item: SchemaReaction) -> CheckResult:
    message = f"{difference_text(item)}: {REACTION_WORDS[item.reaction]}"
    outcome = _REACTION_OUTCOMES[item.reaction]
    words = item.change.lower()
    return _schema_check(f"schema.{item.column or words}", words, outcome, message)


def _schema_check(check_id: str, expression: str, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.SCHEMA,
        check_id=check_id,
        expression=expression,
        outcome=outcome,
        message=message,
    )


def _with_waiver(
    check: CheckResult, facts: CaseFacts, policies: list[PolicyDefinition], clock: datetime
) -> CheckResult:
    if not facts.waivers or not _waivable(check, policies):
        return check
    return _waived(check, facts.waivers, clock)


def _must_go(policies: list[PolicyDefinition], checks: list[CheckResult]) -> bool:
    """Whether a failed policy requires the staged files to be deleted."""
    failed = {
        check.check_id
        for check in checks
        if check.kind is CheckKind.POLICY and check.outcome is Outcome.FAIL
    }
    return any(policy.policy in failed and discards(policy) for policy in policies)


def _policy_check(policy_input: PolicyInput, policy: PolicyDefinition) -> CheckResult:
    try:
        return evaluate_policy(policy_input, policy)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        return CheckResult(
            kind=CheckKind.POLICY,
            check_id=policy.policy,
            expression=policy.expression,
            outcome=Outcome.ERROR,
            message=f"policy evaluation failed: {_named(error)}",
        )


def _rule_check(
    rule: RuleDefinition,
    compiler: Callable[[RuleDefinition], CompiledRule],
    context: EvaluationContext | None,
) -> CheckResult:
    compiled = _compiled(rule, compiler)
    check = _judged(rule, compiled, context)
    if isinstance(compiled, Exception):
        known: dict[str, Any] = {"fingerprint": rule.content_hash()}
    else:
        known = compiled.result_fields
    return check.model_copy(update={**known, "severity": rule.severity})


def _compiler(facts: CaseFacts) -> Callable[[RuleDefinition], CompiledRule]:
    """A compiler over the declared columns that omits the worst value of tagged columns."""
    compiler = compiler_for(facts.declared)
    tagged = tagged_columns(facts.tags, facts.subject)
    if not tagged:
        return compiler

    def hiding(rule: RuleDefinition) -> CompiledRule:
        compiled = compiler(rule)
        judged = without_worst_values(compiled.check, tagged)
        return compiled if judged is compiled.check else replace(compiled, check=judged)

    return hiding


def _compiled(
    rule: RuleDefinition, compiler: Callable[[RuleDefinition], CompiledRule]
) -> CompiledRule | Exception:
    """The compiled rule, or the error that compiling it raised."""
    try:
        return compiler(rule)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        return error


def _judged(
    rule: RuleDefinition, compiled: CompiledRule | Exception, context: EvaluationContext | None
) -> CheckResult:
    if not rule.active:
        return _rule_result(rule, Outcome.NOT_EVALUATED, "not evaluated: the rule is inactive")
    if context is None:
        return _rule_result(rule, Outcome.NOT_EVALUATED, "not evaluated: no data was measured")
    try:
        if isinstance(compiled, Exception):
            raise compiled
        return evaluate(rule, compiled, context)
    except GrammarError as error:
        return _rule_result(rule, Outcome.ERROR, f"invalid rule: {error}")
    except (Unmeasured, NotAValue) as error:
        return _rule_result(rule, Outcome.ERROR, str(error))
    except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the gate stays closed
        return _rule_result(rule, Outcome.ERROR, f"rule evaluation failed: {_named(error)}")


def _rule_result(rule: RuleDefinition, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.RULE,
        check_id=rule.rule_id,
        expression=rule.expression,
        outcome=outcome,
        message=message,
    )


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


# Waivers turn a failed check into a warning that names the approver.


def _waived(check: CheckResult, waivers: Iterable[Waiver], clock: datetime) -> CheckResult:
    """Apply the waivers in force to the check of a rule or of an ALERT policy.

    A waiver covers the expression it was granted for; a changed expression is not covered. An ERROR
    cannot be waived.
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


def _waivable(check: CheckResult, policies: Iterable[PolicyDefinition]) -> bool:
    """Rules and ALERT policies can be waived; BLOCK policies cannot."""
    if check.kind is CheckKind.RULE:
        return True
    return any(
        policy.policy == check.check_id and policy.enforcement is Enforcement.ALERT
        for policy in policies
    )


# Consistency of the evidence with itself and with the definition.

_BATCH_ROWS = measure_key(RowCount())
_TABLE_ROWS = measure_key(RowCount(scope=Scope.TABLE))


def _contradictions(
    facts: CaseFacts, evidence: Evidence, measures: tuple[Measure, ...]
) -> list[str]:
    """Contradictions in the evidence; empty if it is consistent."""
    found = []
    if evidence.dataset != facts.dataset:
        found.append(f"the evidence is for {evidence.dataset}")
    found += _schema(evidence.table_schema, facts.declared)
    found += _rows(evidence)
    found += _measures(evidence)
    found += _quarantined(facts, evidence)
    found += disagreements(measures, evidence.measures, evidence.rows, evidence.table_rows)
    if evidence.quarantined is not None:
        before = evidence.quarantined.before
        rows, table_rows = (_known_count(before.get(key)) for key in (_BATCH_ROWS, _TABLE_ROWS))
        found += disagreements(measures, before, rows, table_rows, quarantining=True)
    return found


def _known_count(value: MeasureValue) -> int | None:
    return value if isinstance(value, int) else None


def _schema(staged: TableSchema, declared: TableSchema) -> list[str]:
    found = []
    if len(set(staged.names)) != len(staged.names):
        found.append("a staged column is duplicated")
    for column in declared.columns:
        staged_type = staged.type_of(column.name)
        if staged_type != column.type:
            is_what = "missing" if staged_type is None else f"staged as {staged_type}"
            found.append(f"column {column.name}, declared {column.type}, is {is_what}")
    extra = sorted(set(staged.names) - set(declared.names))
    return found + [f"column {name} is staged but not declared" for name in extra]


def _rows(evidence: Evidence) -> list[str]:
    found = []
    in_files = sum(file.rows for file in evidence.files)
    if min((evidence.rows, evidence.table_rows, *(file.rows for file in evidence.files))) < 0:
        found.append("a row count is negative")
    changes = evidence.changes
    if changes is None:
        if evidence.rows != in_files:
            found.append(f"{evidence.rows:,} rows, but the files hold {in_files:,}")
    elif evidence.rows != changes.inserted + changes.updated or in_files < evidence.rows:
        found.append(
            f"{evidence.rows:,} rows, but {changes.inserted:,} were inserted and"
            f" {changes.updated:,} updated, and the files hold {in_files:,}"
        )
    if evidence.table_rows < in_files:
        found.append(f"{in_files:,} rows in a table of {evidence.table_rows:,}")
    paths = [file.path for file in evidence.files]
    if len(set(paths)) != len(paths):
        found.append("a file is listed twice")
    return found


def _measures(evidence: Evidence) -> list[str]:
    found = []
    if _BATCH_ROWS in evidence.unmeasured or _BATCH_ROWS not in evidence.measures:
        found.append("the new rows were not counted")
    for key, rows in ((_BATCH_ROWS, evidence.rows), (_TABLE_ROWS, evidence.table_rows)):
        counted_rows = evidence.measures.get(key, rows)
        if counted_rows != rows or isinstance(counted_rows, bool):
            found.append(f"{rows:,} rows, but {counted_rows!r:.60} were counted")
    reasons = sorted(set(evidence.unmeasured.values()))
    if reasons:
        measures = counted(len(evidence.unmeasured), "measure")
        found.append(f"{measures} failed: {'; '.join(reasons[:3])}")
    both = sorted(set(evidence.measures) & set(evidence.unmeasured))
    if both:
        found.append(f"both measured and unmeasured: {', '.join(both[:5])}")
    return found


def _quarantined(facts: CaseFacts, evidence: Evidence) -> list[str]:
    quarantined = evidence.quarantined
    if quarantined is None:
        return []
    found = []
    filed = sum(file.rows for file in quarantined.files)
    if quarantined.rows != filed:
        found.append(f"{quarantined.rows:,} rows were quarantined, but their files hold {filed:,}")
    if any(file.rows < 1 for file in quarantined.files):
        found.append("a quarantine file has no rows")
    for rule_id in sorted(
        {file.rule_id for file in quarantined.files} - set(facts.quarantine_rule_ids)
    ):
        found.append(f"rows are quarantined for {rule_id[:200]}, which does not quarantine rows")
    paths = [file.path for file in quarantined.files]
    if len(set(paths)) != len(paths):
        found.append("a quarantine file is listed twice")
    batch = quarantined.before.get(_BATCH_ROWS)
    if evidence.changes is None and batch not in (None, evidence.rows + quarantined.rows):
        found.append(
            f"{evidence.rows:,} rows and {quarantined.rows:,} quarantined, but {batch!r:.60} "
            "were counted"
        )
    return found
