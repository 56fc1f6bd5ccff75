"""The decision under every order, every loss and every surrounding."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.gate.decide import CaseFacts, History, decide
from lakeguard_sdk.core.enums import (
    CheckKind,
    Enforcement,
    Outcome,
    PolicyType,
    Severity,
    Verdict,
)
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from tests.unit.gate.cases import CLOCK, evidence_of, facts, policy, row, rule, ruling

RULES = tuple(
    rule(text, rule_id=f"{index % 7}.{index}")
    for index, text in enumerate(
        [
            "not_null(key)",
            "unique(key)",
            "unique(key, name) scope batch",
            "range(count, min=0, max=5) warn_if > 0 fail_if > 50%",
            "range(delay, min=-120, max=2000) where name <> 'X'",
            "in_set(name, values=['X', 'Y']) warn_if > 0",
            "regex(key, pattern='[a-z]{1,3}')",
            "length(key, max=3)",
            "compare(count <= size)",
            "row_count(min=1, max=100)",
            "mean(delay, min=-1000, max=1000)",
            "sum(count, min=-100)",
            "max(day, max='2013-12-31')",
            "min(amount, min=-5)",
        ]
    )
)
POLICIES = (
    policy("forbid tag:pii", name="no_pii"),
    policy("forbid tag:secret", enforcement=Enforcement.ALERT, name="no_secret"),
    policy("mode STRICT", PolicyType.SCHEMA, name="strict"),
    policy("forbid tag:pii", active=False, name="retired"),
)
DIFFERENCES = (
    SchemaReaction(
        column="extra",
        change=SchemaChange.ADD_NULLABLE,
        found="string",
        declared=None,
        reaction=Reaction.LEFT_OUT,
    ),
    SchemaReaction(
        column="size",
        change=SchemaChange.NARROW,
        found="integer",
        declared="long",
        reaction=Reaction.ACCEPT_CAST,
    ),
)
ELIGIBLE = tuple(
    CheckResult(kind=CheckKind.ELIGIBILITY, check_id=name, expression=name,
                outcome=Outcome.PASS, message="fine")
    for name in ("dataset", "inputs")
)  # fmt: skip

table_rows = st.builds(
    row,
    key=st.sampled_from(["a", "b", "c", "abcd", None]),
    name=st.sampled_from(["X", "Y", "Z", None]),
    count=st.integers(-3, 9) | st.none(),
    size=st.integers(-3, 9) | st.none(),
    delay=st.sampled_from([0.5, 5000.0, -300.0, float("nan"), None]),
)
tables = st.lists(table_rows, max_size=8)


def case(**given: Any) -> CaseFacts:
    return facts(tags={"key": ("pii", "secret")}, **given)


@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_nothing_counts(rows: list[dict[str, Any]], chance: random.Random) -> None:
    def shuffled(items: Any) -> tuple[Any, ...]:
        return tuple(chance.sample(list(items), len(items)))

    evidence = evidence_of(RULES, rows)
    first = decide(
        case(eligibility=ELIGIBLE, schema_differences=DIFFERENCES),
        evidence, RULES, POLICIES, History(), CLOCK,
    )  # fmt: skip
    again = decide(
        case(eligibility=shuffled(ELIGIBLE), schema_differences=shuffled(DIFFERENCES)),
        Evidence(**{**dict(evidence), "measures": dict(shuffled(evidence.measures.items()))}),
        shuffled(RULES), shuffled(POLICIES), History(), CLOCK,
    )  # fmt: skip
    assert again.to_json() == first.to_json()


@given(tables)
def test_blocked_exactly_if_a_check_fails(rows: list[dict[str, Any]]) -> None:
    ruled = ruling(evidence_of(RULES, rows), RULES)
    failing = [check for check in ruled.checks if check.outcome in (Outcome.FAIL, Outcome.ERROR)]
    assert (ruled.verdict is Verdict.BLOCKED) == bool(failing)
    assert len(ruled.reasons) == len(failing)
    assert [check.check_id for check in ruled.checks if check.kind is CheckKind.RULE] == sorted(
        item.rule_id for item in RULES
    )
    assert all(check.message for check in ruled.checks)


@given(tables, st.data())
def test_the_loss_of_any_measure_blocks(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = evidence_of(RULES, rows)
    lost = data.draw(st.sampled_from(sorted(whole.measures)))
    measures = {key: value for key, value in whole.measures.items() if key != lost}
    ruled = ruling(Evidence(**{**dict(whole), "measures": measures}), RULES)
    assert ruled.verdict is Verdict.BLOCKED
    assert Outcome.ERROR in {check.outcome for check in ruled.checks}


values = st.one_of(
    st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
)
sane_values = st.sampled_from([None, 0, 1, 8, 2.5, "NaN", "1.50", "2013-12-31"])


@given(tables, st.data())
def test_any_values_are_judged_without_an_exception(
    rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    whole = evidence_of(RULES, rows)
    measures = {key: data.draw(values | sane_values) for key in whole.measures}
    ruled = ruling(Evidence(**{**dict(whole), "measures": measures}), RULES, POLICIES, case())
    assert len(ruled.checks) == 1 + len(POLICIES) + len(RULES)
    assert not any("could not be evaluated" in check.message for check in ruled.checks)


@given(
    st.text(max_size=30) | st.sampled_from([item.expression for item in RULES]),
    st.sampled_from(["NOT_NULL", "UNIQUE", "RANGE", "ROW_COUNT", "NO_SUCH"]),
    st.sampled_from(Severity),
    tables,
)
def test_whatever_is_stored_as_a_rule_is_judged_or_blocks(
    expression: str, rule_type: str, severity: Severity, rows: list[dict[str, Any]]
) -> None:
    stored = RuleDefinition(
        rule_id="r", rule_type=rule_type, expression=expression, severity=severity
    )
    ruled = ruling(evidence_of((stored,), rows), (stored,))
    (found,) = [check for check in ruled.checks if check.check_id == "r"]
    assert found.outcome is not Outcome.NOT_EVALUATED
    assert "could not be evaluated" not in found.message


@given(st.text(max_size=30), st.sampled_from(PolicyType), st.sampled_from(Enforcement))
def test_whatever_is_stored_as_a_policy_is_judged_or_blocks(
    expression: str, type: PolicyType, enforcement: Enforcement
) -> None:
    stored: PolicyDefinition = policy(expression, type, enforcement)
    ruled = ruling(evidence_of((), []), policies=(stored,))
    (found,) = [check for check in ruled.checks if check.check_id == stored.policy]
    assert found.outcome in (Outcome.PASS, Outcome.ERROR)
    assert (found.outcome is Outcome.ERROR) == (ruled.verdict is Verdict.BLOCKED)


SURROUNDINGS = [
    {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "de_DE.UTF-8"},
    {"PYTHONHASHSEED": "4711", "TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"},
]
SCRIPT = """
import decimal, locale
decimal.getcontext().prec = {precision}
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass
from tests.property.gate.test_decide import DIFFERENCES, POLICIES, RULES, case
from tests.unit.gate.cases import evidence_of, row, ruling
from datetime import date
rows = [row(key="abcd", count=9, delay=51180.0, day=date(2099, 1, 1)), row(count=1, delay=0.1)]
told = case(schema_differences=DIFFERENCES)
print(ruling(evidence_of(RULES, rows), RULES, POLICIES, told).to_json())
"""


def test_hash_seed_zone_locale_and_precision_do_not_count() -> None:
    reported = set()
    for precision, surrounding in zip((28, 5, 60), SURROUNDINGS, strict=True):
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(precision=precision)],
            env={**os.environ, **surrounding, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, check=True,
        )  # fmt: skip
        reported.add(ran.stdout)
    assert len(reported) == 1
    assert b'"verdict":"BLOCKED"' in reported.pop()
