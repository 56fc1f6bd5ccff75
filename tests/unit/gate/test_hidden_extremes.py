"""Of a column that carries a tag no rule about rows names the worst value, nor asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.gate.rules.compile import measures_for
from lakeguard.gate.subject import InheritedTag
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.measures import Aggregate, measure_key
from lakeguard_sdk.model.decision import CheckResult
from tests.unit.gate.cases import SCHEMA, evidence_of, facts, row, rule, ruling, subject

RULES = (rule("range(count, max=5) fail_if > 0"),)
EVIDENCE = evidence_of(RULES, [row(count=3), row(count=7654321)])
FOUND = "1 of 2 new rows (50 %)"
CAME_DOWN = subject(travelled=(InheritedTag(column="count", tag="pii", source="bronze.a.c"),))


def judged(hidden: bool = True, **given: Any) -> CheckResult:
    """On evidence without extremes, if they are to be hidden."""
    evidence = EVIDENCE
    if hidden:
        asked = map(measure_key, measures_for(RULES, SCHEMA, ("COUNT",)))
        kept = {key: evidence.measures[key] for key in asked}
        evidence = evidence.model_copy(update={"measures": kept})
    found = ruling(evidence, RULES, (), facts(**given))
    (check,) = [check for check in found.checks if check.check_id == RULES[0].rule_id]
    return check


@pytest.mark.parametrize("given", [{"tags": {"count": ("secret",)}}, {"subject": CAME_DOWN}])
@pytest.mark.parametrize("hidden", [True, False])
def test_the_worst_value_of_a_tagged_column_is_not_told(
    given: dict[str, Any], hidden: bool
) -> None:
    check = judged(hidden=hidden, **given)
    assert (check.outcome, check.observed) == (Outcome.FAIL, None)
    assert check.message == f"{FOUND}, limit 0 rows"
    assert (check.failed_rows, check.scope_rows) == (1, 2)


@pytest.mark.parametrize("given", [{}, {"tags": {"count": (), "size": ("secret",)}}])
def test_that_of_any_other_is(given: dict[str, Any]) -> None:
    check = judged(hidden=False, **given)
    assert check.message == f"{FOUND}, worst 7,654,321, limit 0 rows"
    assert judged(**given).outcome is Outcome.ERROR, "it was asked for"


def test_a_rule_whose_value_is_the_statement_still_asks() -> None:
    reported = measures_for((*RULES, rule("max(count, max=5)")), SCHEMA, ("count",))
    assert [type(one) for one in reported].count(Aggregate) == 1
