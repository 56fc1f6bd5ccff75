"""Alerts go to others than may read the data: no value of a hidden column is in one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import Layer, PolicyType, Severity
from lakeguard_sdk.expressions.measures import (
    CountIf,
    Distribution,
    Measure,
    RowCount,
    measure_key,
)
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import ColumnDefinition, RuleDefinition
from lakeguard_sdk.model.notifications import Alert, Topic
from tests.property.measure.distribution_oracle import spread
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    numbers,
    opened,
    promise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of

pytestmark = pytest.mark.usefixtures("each_state")

SECRET = 987_654_321
PERSONAL = ColumnDefinition(name="n", type="long", tags=("pii",))
PLAIN = ColumnDefinition(name="n", type="long")
RULES = {
    "RANGE": "range(n, max=5)",
    "MAX": "max(n, max=5)",
    "MEAN": "mean(n, max=5)",
    "QUANTILE": "quantile(n, q=0.5, max=5)",
    "PSI": "psi(n, max=0.2)",
    "SQL_AGG": "sql_agg(max(n) + min(n)) fail_if > 5",
    "ROW_COUNT": "row_count(min=5) where n > 3",
}


def rule(rule_type: str, severity: Severity) -> RuleDefinition:
    expression = RULES[rule_type]
    if severity is Severity.WARN:
        expression = expression.replace("fail_if", "warn_if")
    return RuleDefinition(
        rule_id="checked", rule_type=rule_type, expression=expression, severity=severity
    )


def judged(client: Client, rows: list[int]) -> Decision:
    """A run whose every measure answers with the greatest number."""
    plan = opened(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, rows)
    answers = {measure_key(asked): answer(asked, rows) for asked in plan.measures}
    given = {"measures": {**answers, **evidence.measures}}
    decision = client.runs.submit_evidence(plan.ticket, evidence.model_copy(update=given))
    if decision.allowed:
        commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    return decision


def answer(asked: Measure, rows: list[int]) -> Any:
    if isinstance(asked, Distribution):
        return spread(asked, rows)
    return 1 if isinstance(asked, CountIf | RowCount) else max(rows)


def last_alert(client: Client) -> Alert:
    return client.notifications.rows(Topic.ALERT)[0].alert


def alert_text(client: Client) -> str:
    alert = last_alert(client)
    return f"{alert.message} {alert.details}"


@pytest.mark.parametrize("severity", [Severity.WARN, Severity.FAIL])
@pytest.mark.parametrize("rule_type", RULES)
def test_no_value_of_a_tagged_column_is_told(
    tmp_path: Path, rule_type: str, severity: Severity
) -> None:
    asked = rule(rule_type, severity)
    client = world(tmp_path, numbers(columns=(PERSONAL,), rules=(asked,)))
    if rule_type == "PSI":
        assert judged(client, [1, 2, 3, 4, 5] * 30).allowed
    rows = [1, SECRET] * 60
    assert judged(client, rows).allowed is (severity is Severity.WARN)
    alert, given = last_alert(client), alert_text(client)
    assert "987654" not in given.replace(",", "")
    assert "are hidden" in alert.message or alert.message.endswith("1 of 120 rows")


def test_of_another_column_the_message_is_told(tmp_path: Path) -> None:
    asked = rule("MAX", Severity.FAIL)
    client = world(tmp_path, numbers(columns=(PLAIN,), rules=(asked,)))
    assert not judged(client, [1, SECRET]).allowed
    assert "987,654,321" in last_alert(client).message
    assert "987,654,321" in last_alert(client).details["reasons"][0]


def test_a_column_that_a_policy_is_about_is_hidden_too(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid columns [n]", applies_to_layer=Layer.GOLD)
    asked = rule("MAX", Severity.FAIL)
    client = world(tmp_path, numbers(columns=(PLAIN,), rules=(asked,)), policies=(policy,))
    assert not judged(client, [1, SECRET]).allowed
    assert "987654" not in alert_text(client).replace(",", "")
