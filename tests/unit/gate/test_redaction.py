"""Messages of checks without values of columns that are hidden."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lakeguard.gate.evaluation.redaction import redacted_message, redacted_reasons
from lakeguard_sdk.core.enums import CheckKind, Outcome, Verdict
from lakeguard_sdk.model.decision import CheckResult, Ruling

SECRET = "it is 987,654,321"
AT = datetime(2026, 1, 1, tzinfo=UTC)


def check(
    expression: str,
    kind: CheckKind = CheckKind.RULE,
    outcome: Outcome = Outcome.FAIL,
    rows: tuple[int, int] | None = None,
) -> CheckResult:
    failed, scope = rows or (None, None)
    return CheckResult(
        kind=kind,
        check_id="c",
        expression=expression,
        outcome=outcome,
        message=SECRET,
        failed_rows=failed,
        scope_rows=scope,
    )


@pytest.mark.parametrize(
    ("expression", "hidden"),
    [
        ("max(pay, max=5)", "pay"),
        ("max(PAY, max=5)", "pay"),
        ("max(pay, max=5)", "Pay"),
        ("max(`salary (€)`, max=5)", "salary (€)"),
        ("max(`größe?`, max=5)", "größe?"),
        ("max(`a``b`, max=5)", "a`b"),
        ("max(n, max=5) where pay > 3", "pay"),
        ("max(n, max=5) where not (n > 1 or lower(`salary (€)`) = 'x')", "salary (€)"),
        ("sql_agg(sum(pay) / count(*), max=5)", "pay"),
        ("sql_row(n < if(pay is null, 1, 2))", "pay"),
        ("sql_row(address.street is not null)", "address"),
        ("mean(n, max=5) by pay", "pay"),
        ("this is no rule", "pay"),
    ],
)
def test_of_a_hidden_column_no_message_is_told(expression: str, hidden: str) -> None:
    assert "987" not in redacted_message(check(expression), (hidden,))
    counted = redacted_message(check(expression, rows=(3, 4_000)), (hidden,))
    assert counted == "3 of 4,000 rows"


@pytest.mark.parametrize(
    "expression", ["max(n, max=5)", "max(n, max=5) where t = 'pay'", "max(payment, max=5)"]
)
def test_of_others_it_is_told(expression: str) -> None:
    assert redacted_message(check(expression), ("pay",)) == SECRET
    assert redacted_message(check("max(pay, max=5)"), ()) == SECRET


def test_what_could_not_be_judged_is_not_said_to_fail() -> None:
    failed, broken = (
        redacted_message(check("max(pay, max=5)", outcome=outcome), ("pay",))
        for outcome in (Outcome.FAIL, Outcome.ERROR)
    )
    assert failed.startswith("does not hold")
    assert broken.startswith("could not be evaluated")


def test_evidence_that_is_not_whole_speaks_with_the_words_of_an_engine() -> None:
    broken = check("evidence is consistent", CheckKind.SCHEMA, Outcome.ERROR)
    assert "987" not in redacted_message(broken, ("pay",))
    assert redacted_message(check("pii", CheckKind.POLICY), ("pay",)) == SECRET


def test_reasons_are_told_in_the_same_way() -> None:
    ruling = Ruling(
        verdict=Verdict.BLOCKED,
        reasons=(f"c: {SECRET}", "evidence: nothing was measured"),
        checks=(check("max(pay, max=5)", rows=(1, 2)),),
        semantics=1,
        decided_at=AT,
    )
    assert redacted_reasons(ruling, ("pay",)) == (
        "c: 1 of 2 rows",
        "evidence: nothing was measured",
    )
