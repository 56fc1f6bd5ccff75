"""The decision: all checks, in order, explained; closed where anything is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.gate.decide import SEMANTICS
from lakeguard.gate.evaluation import evaluate
from lakeguard_sdk.core.enums import (
    CheckKind,
    Enforcement,
    Layer,
    Outcome,
    PolicyType,
    Scope,
    Severity,
    Verdict,
)
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.decision import CheckResult, Ruling
from lakeguard_sdk.model.definitions import PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from tests.unit.gate.cases import (
    CLOCK,
    evidence_of,
    facts,
    policy,
    result_of,
    row,
    rule,
    ruling,
    schema,
)

ROWS = [row(key="a", name="x", count=1), row(key="b", count=7)]
RULES = (
    rule("unique(key)"),
    rule("not_null(name)", Severity.WARN),
    rule("range(count, min=0, max=5)"),
    rule("row_count(min=1)"),
    rule("mean(count, max=10)"),
    rule("not_null(key)", active=False),
)
MET = (*(item for item in RULES if item.rule_id != "range.count"), rule("range(count, max=9)"))
BATCH = measure_key(RowCount())
ADDED = SchemaReaction(
    column="extra",
    change=SchemaChange.ADD_NULLABLE,
    found="string",
    declared=None,
    reaction=Reaction.LEFT_OUT,
)
MISSING = SchemaReaction(
    column="key",
    change=SchemaChange.DROP_NULLABLE,
    found=None,
    declared="string",
    reaction=Reaction.BLOCK,
)
STRICT = policy("mode STRICT", PolicyType.SCHEMA, name="strict")
NO_PII = policy("forbid tag:pii", name="no_pii")


def changed(evidence: Evidence, **fields: Any) -> Evidence:
    return Evidence(**{**dict(evidence), **fields})


def outcomes(ruled: Ruling) -> dict[str, Outcome]:
    return {check.check_id: check.outcome for check in ruled.checks}


def test_all_checks_are_made_in_order_whatever_the_first_came_to() -> None:
    ineligible = CheckResult(
        kind=CheckKind.ELIGIBILITY, check_id="dataset", expression="active",
        outcome=Outcome.FAIL, message="the dataset is disabled",
    )  # fmt: skip
    case = facts(eligibility=(ineligible,), schema_differences=(ADDED,), tags={"key": ("pii",)})
    ruled = ruling(evidence_of(RULES, ROWS), RULES, (NO_PII, STRICT), case)
    assert [check.kind for check in ruled.checks] == [
        CheckKind.ELIGIBILITY, *[CheckKind.SCHEMA] * 2, *[CheckKind.POLICY] * 2,
        *[CheckKind.RULE] * 6,
    ]  # fmt: skip
    assert outcomes(ruled) == {
        "dataset": Outcome.FAIL,
        "evidence": Outcome.PASS,
        "schema.extra": Outcome.WARN,
        "no_pii": Outcome.FAIL,
        "strict": Outcome.FAIL,
        "mean.count": Outcome.PASS,
        "not_null.key": Outcome.NOT_EVALUATED,
        "not_null.name": Outcome.WARN,
        "range.count": Outcome.FAIL,
        "row_count": Outcome.PASS,
        "unique.key": Outcome.PASS,
    }
    assert ruled.verdict is Verdict.BLOCKED
    assert ruled.reasons == (
        "dataset: the dataset is disabled",
        "no_pii: column key tagged pii",
        "strict: column extra (string) is not declared",
        "range.count: 1 of 2 new rows (50 %), worst 7, none allowed",
    )
    assert (ruled.semantics, ruled.decided_at) == (SEMANTICS, CLOCK)


def test_nothing_wrong_is_allowed_and_warnings_do_not_block() -> None:
    rules = tuple(item for item in RULES if item.rule_id != "range.count")
    case = facts(schema_differences=(ADDED,), tags={"key": ("pii",)})
    alert = policy("forbid tag:pii", enforcement=Enforcement.ALERT)
    ruled = ruling(evidence_of(rules, ROWS), rules, (alert,), case)
    assert Outcome.WARN in outcomes(ruled).values()
    assert (ruled.verdict, ruled.reasons) == (Verdict.ALLOWED, ())
    assert ruling(evidence_of((), [])).verdict is Verdict.ALLOWED


def test_without_evidence_nothing_is_allowed_and_everything_is_listed() -> None:
    ruled = ruling(None, RULES, (NO_PII, STRICT))
    assert ruled.verdict is Verdict.BLOCKED
    assert ruled.reasons == ("evidence: nothing was measured, so the run cannot be allowed",)
    assert {check.outcome for check in ruled.checks if check.kind is CheckKind.RULE} == {
        Outcome.NOT_EVALUATED
    }
    assert result_of("strict", ruled).outcome is Outcome.NOT_EVALUATED
    assert result_of("no_pii", ruled).outcome is Outcome.PASS
    assert all(check.message.startswith("not evaluated") for check in ruled.checks
               if check.outcome is Outcome.NOT_EVALUATED)  # fmt: skip


def test_a_schema_that_was_refused_decides_without_evidence() -> None:
    ruled = ruling(None, RULES, (STRICT,), facts(schema_differences=(MISSING,)))
    assert result_of("schema.key", ruled).outcome is Outcome.FAIL
    assert result_of("strict", ruled).outcome is Outcome.FAIL
    assert ruled.reasons == (
        "schema.key: column key (string) is missing: blocked",
        "strict: column key (string) is missing",
    )


def test_a_cast_is_listed_and_passes() -> None:
    cast = SchemaReaction(
        column="size",
        change=SchemaChange.NARROW,
        found="integer",
        declared="long",
        reaction=Reaction.ACCEPT_CAST,
    )
    ruled = ruling(evidence_of((), ROWS), case=facts(schema_differences=(cast,)))
    found = result_of("schema.size", ruled)
    assert found.outcome is Outcome.PASS
    assert found.message == (
        "column size is integer, declared long, which is narrower: cast; the run fails if a value"
        " does not fit"
    )
    assert ruled.verdict is Verdict.ALLOWED


@pytest.mark.parametrize("key", sorted(evidence_of(MET, ROWS).measures))
@pytest.mark.parametrize("how", ["dropped", "unmeasured", "not a value"])
def test_a_measure_that_is_missing_blocks(key: str, how: str) -> None:
    whole = evidence_of(MET, ROWS)
    assert ruling(whole, MET).verdict is Verdict.ALLOWED
    others = {name: value for name, value in whole.measures.items() if name != key}
    broken = {
        "dropped": changed(whole, measures=others),
        "unmeasured": changed(whole, measures=others, unmeasured={key: "out of memory"}),
        "not a value": changed(whole, measures={**others, key: "x"}),
    }[how]
    ruled = ruling(broken, MET)
    assert ruled.verdict is Verdict.BLOCKED
    assert Outcome.ERROR in outcomes(ruled).values()


def test_the_reason_why_a_measure_is_missing_is_told() -> None:
    rules = (rule("not_null(name)"),)
    whole = evidence_of(rules, ROWS)
    (key,) = [key for key in whole.measures if key.startswith("count_if")]
    ruled = ruling(changed(whole, measures={BATCH: 2}, unmeasured={key: "out of memory"}), rules)
    assert ruled.reasons == (
        "evidence: 1 measure failed: out of memory",
        "not_null.name: not measured: out of memory",
    )


def test_what_could_not_be_measured_blocks_even_if_no_rule_asks() -> None:
    ruled = ruling(changed(evidence_of((), ROWS), unmeasured={"count_if:0": "no such column"}))
    assert ruled.reasons == ("evidence: 1 measure failed: no such column",)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rows": 3}, "3 rows, but the files hold 2"),
        ({"table_rows": 1}, "2 rows in a table of 1"),
        ({"files": ()}, "2 rows, but the files hold 0"),
        ({"files": evidence_of((), ROWS[:1]).files * 2}, "a file is listed twice"),
        ({"dataset": "silver.other"}, "the evidence is for silver.other"),
        ({"measures": {}}, "the new rows were not counted"),
        ({"measures": {BATCH: 3}}, "2 rows, but 3 were counted"),
        ({"measures": {BATCH: "2"}}, "2 rows, but '2' were counted"),
        ({"measures": {BATCH: 2, measure_key(RowCount(scope=Scope.TABLE)): 5}}, "but 5 were"),
        ({"unmeasured": {BATCH: "why"}}, "the new rows were not counted"),
        ({"table_schema": schema(key="string")}, "column name, declared string, is missing"),
        ({"rows": -2}, "a row count is negative"),
    ],
)
def test_evidence_that_contradicts_itself_blocks(fields: dict[str, Any], message: str) -> None:
    ruled = ruling(changed(evidence_of((), ROWS), **fields))
    assert ruled.verdict is Verdict.BLOCKED
    found = result_of("evidence", ruled)
    assert found.outcome is Outcome.ERROR
    assert message in found.message


def test_staged_types_and_extra_columns_are_held_against_the_declaration() -> None:
    staged = evidence_of((), ROWS).table_schema
    other = schema(**{c.name: "string" if c.name == "count" else c.type for c in staged.columns},
                   extra="long")  # fmt: skip
    found = result_of("evidence", ruling(changed(evidence_of((), ROWS), table_schema=other)))
    assert found.message == (
        "column count, declared integer, is staged as string;"
        " column extra is staged but not declared"
    )


def test_more_failing_rows_than_rows_is_an_error() -> None:
    rules = (rule("not_null(name)"),)
    whole = evidence_of(rules, ROWS)
    measures = {key: 5 if key.startswith("count_if") else value
                for key, value in whole.measures.items()}  # fmt: skip
    found = result_of("not_null.name", ruling(changed(whole, measures=measures), rules))
    assert (found.outcome, found.message) == (
        Outcome.ERROR,
        "5 failing rows of 2 rows is impossible",
    )


@pytest.mark.parametrize(
    ("expression", "rule_type", "message"),
    [
        ("uniqe(key)", "UNIQE", "unknown rule type 'uniqe'; did you mean unique?"),
        ("foreign_key(key, silver.x.y)", "FOREIGN_KEY", "expected"),
        ("not_null(gone)", "NOT_NULL", "unknown column gone"),
        ("not_null(key", "NOT_NULL", "',' or ')' expected"),
        ("unique(key)", "NOT_NULL", "stored as NOT_NULL"),
    ],
)
def test_a_stored_rule_that_cannot_be_judged_blocks(
    expression: str, rule_type: str, message: str
) -> None:
    stored = RuleDefinition(
        rule_id="r", rule_type=rule_type, expression=expression, severity=Severity.FAIL
    )
    ruled = ruling(evidence_of((stored,), ROWS), (stored,))
    assert result_of("r", ruled).outcome is Outcome.ERROR
    assert message in result_of("r", ruled).message
    assert ruled.verdict is Verdict.BLOCKED


def test_a_stored_policy_that_cannot_be_judged_blocks() -> None:
    fields = {**dict(NO_PII), "type": "SLA", "expression": "freshness <= 24h", "policy": "fresh"}
    unknown = PolicyDefinition.model_construct(**fields)
    unreadable = policy("forbid everything", name="unreadable")
    ruled = ruling(evidence_of((), ROWS), policies=(unknown, unreadable))
    assert outcomes(ruled)["fresh"] is Outcome.ERROR
    assert outcomes(ruled)["unreadable"] is Outcome.ERROR
    assert ruled.verdict is Verdict.BLOCKED


def test_an_evaluator_that_breaks_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    rules = (rule("not_null(key)"),)
    monkeypatch.setattr(evaluate, "evaluate_rows", broken)
    ruled = ruling(evidence_of(rules, ROWS), rules)
    assert ruled.reasons == ("not_null.key: rule evaluation failed: ZeroDivisionError: by zero",)


def test_an_inactive_policy_is_listed_and_other_layers_are_not() -> None:
    policies = (
        policy("forbid tag:pii", active=False, name="retired"),
        policy("forbid tag:pii", layer=Layer.GOLD, name="gold"),
    )
    ruled = ruling(evidence_of((), ROWS), policies=policies, case=facts(tags={"key": ("pii",)}))
    assert outcomes(ruled) == {"evidence": Outcome.PASS, "retired": Outcome.NOT_EVALUATED}
    assert ruled.verdict is Verdict.ALLOWED
