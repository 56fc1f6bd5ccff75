"""What a result says of its rule: which it is, what it was given, what counted its rows."""

from __future__ import annotations

import pytest

from lakeguard.gate.rules.compile import compile_rule
from lakeguard_sdk.core.enums import CheckKind, Outcome, Severity
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import RuleDefinition
from tests.unit.gate.cases import SCHEMA, evidence_of, policy, result_of, row, rule, ruling

ROWS = [row(key="AB", count=3, name="x"), row(key="AB", count=9)]
OTHERS = [row(key="x")]


def check_result(definition: RuleDefinition) -> CheckResult:
    evidence = evidence_of((definition,), ROWS, others=OTHERS)
    return result_of(definition.rule_id, ruling(evidence, (definition,)))


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("not_null(key)", {}),
        ("unique(key, count) scope batch", {"scope": "batch"}),
        (
            "range(count, min=0, max=5) where name <> 'X' warn_if > 0 fail_if > 0.1%",
            {"min": "0", "max": "5", "where": "name <> 'X'", "warn_if": "> 0", "fail_if": "> 0.1%"},
        ),
        ("in_set(name, values=['it''s', 'Y'])", {"values": "['it''s', 'Y']"}),
        ("completeness(name, min=95%)", {"min": "95%"}),
        ("compare(count <= size)", {"op": "<="}),
        ("sql_row(count * 2 <= size)", {"condition": "count * 2 <= size"}),
        (
            "sql_agg(sum(count) / count(*), max=5)",
            {"aggregate": "sum(count) / count(*)", "max": "5"},
        ),
        ("foreign_key(name -> silver.countries(key))", {"to": "silver.countries(key)"}),
        ("regex(key, pattern='A') on_fail quarantine", {"pattern": "'A'", "on_fail": "quarantine"}),
        ("max(count, max=5) by name, key", {"max": "5", "by": "name, key"}),
    ],
)
def test_a_result_says_what_its_rule_was_given(text: str, given: dict[str, str]) -> None:
    definition = rule(text)
    found = check_result(definition)
    assert found.parameters == given
    assert all(answer in definition.expression for answer in given.values())
    assert found.fingerprint == definition.content_hash()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("not_null(key)", "count_if"),
        ("unique(key)", "duplicate_rows"),
        ("foreign_key(name -> silver.countries(key))", "unmatched_rows"),
        ("gaps(count, step=1)", "sequence_gaps"),
        ("increasing(count, size)", "out_of_order"),
        ("no_overlap(dep, arr)", "interval_faults"),
        ("max(count, max=5) by name", "group_breach"),
    ],
)
def test_a_result_names_the_measure_that_counted_its_rows(text: str, kind: str) -> None:
    definition = rule(text)
    asked = {measure_key(measure) for measure in compile_rule(definition, SCHEMA).measures}
    found = check_result(definition)
    assert found.counted.startswith(f"{kind}:")
    assert found.counted in asked
    evidence = evidence_of((definition,), ROWS, others=OTHERS)
    assert evidence.measures[found.counted] == found.failed_rows


@pytest.mark.parametrize("text", ["mean(count, min=5)", "row_count(min=1)", "column_exists(key)"])
def test_what_judges_no_rows_names_none(text: str) -> None:
    assert check_result(rule(text)).counted == ""


def test_another_severity_is_another_rule() -> None:
    texts = [rule("not_null(key)", severity) for severity in (Severity.FAIL, Severity.WARN)]
    assert len({check_result(definition).fingerprint for definition in texts}) == 2


def test_a_rule_that_cannot_be_judged_is_named_all_the_same() -> None:
    broken = rule("not_null(key)").model_copy(update={"expression": "not_null(nowhere)"})
    idle = rule("unique(key)", active=False)
    ruled = ruling(evidence_of((), ROWS), (broken, idle))
    found = result_of(broken.rule_id, ruled)
    assert (found.outcome, found.fingerprint) == (Outcome.ERROR, broken.content_hash())
    assert result_of(idle.rule_id, ruled).fingerprint == idle.content_hash()
    unread = ruling(None, (idle.model_copy(update={"active": True}),))
    assert result_of(idle.rule_id, unread).counted.startswith("duplicate_rows:")


def test_only_rules_have_it() -> None:
    definition = rule("range(count, max=5)")
    evidence = evidence_of((definition,), ROWS)
    ruled = ruling(evidence, (definition,), (policy("forbid tag:pii"),))
    assert {check.kind for check in ruled.checks if check.fingerprint} == {CheckKind.RULE}
