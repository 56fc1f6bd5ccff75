"""What changed since the last version: the spread of values, and the share of rows without one."""

from __future__ import annotations

import json
import math
import random
from datetime import date, timedelta
from decimal import ROUND_UP, Context, localcontext
from typing import Any

import pytest

from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.gate.evaluation.stability import Spread, read_spread, stability
from lakeguard.gate.rules.compile import compile_rule, history_measures
from lakeguard.gate.typecheck.checks import LOOKBACK, history_depth
from lakeguard.gate.typecheck.scalars import NotAValue
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import Distribution
from lakeguard_sdk.model.decision import CheckResult
from tests.property.measure.distribution_oracle import spread as expected_spread
from tests.unit.gate.cases import (
    CLOCK,
    SCHEMA,
    evidence_of,
    judged,
    result_of,
    row,
    rule,
    ruling,
)

CHANCE = random.Random(3)
NORMAL = [CHANCE.gauss(100, 15) for _ in range(5_000)]
AGAIN = [CHANCE.gauss(100, 15) for _ in range(4_000)]


def spread(values: list[Any], data_type: str = "double", most: int = 50) -> Spread:
    question = Distribution(column=ColumnRef(name="v", type=data_type), most=most)
    return read_spread(expected_spread(question, values), data_type)


def index(before: list[Any], now: list[Any], data_type: str = "double") -> float:
    found = stability(spread(before, data_type), spread(now, data_type))
    assert found is not None
    return float(found)


def by_hand(before: list[float], now: list[float]) -> float:
    """From all values: ten bins, between every tenth of those before."""
    ordered = sorted(before)
    edges = [ordered[math.ceil(len(ordered) * step / 10) - 1] for step in range(1, 10)]
    total = 0.0
    for low, high in zip([-math.inf, *edges], [*edges, math.inf], strict=True):
        one, other = (
            max(sum(low < value <= high for value in values) / len(values), 0.0001)
            for values in (before, now)
        )
        total += (other - one) * math.log(other / one)
    return total


@pytest.mark.parametrize("now", [NORMAL, AGAIN, [v + 5 for v in AGAIN], [v * 1.2 for v in AGAIN]])
def test_the_index_is_about_that_of_all_values(now: list[float]) -> None:
    """Fifty places stand for all of them."""
    assert index(NORMAL, now) == pytest.approx(by_hand(NORMAL, now), rel=0.1, abs=0.005)


def test_far_beyond_any_limit_it_only_says_so() -> None:
    """Bins with hardly a row are guessed from their neighbours."""
    twice = [value * 2 for value in AGAIN]
    assert min(index(NORMAL, twice), by_hand(NORMAL, twice)) > 5


def test_nothing_changed() -> None:
    assert index(NORMAL, list(reversed(NORMAL))) == 0
    assert index(list("aab"), list("baa"), "string") == 0
    assert index([5.0] * 3, [5.0] * 9) == 0


@pytest.mark.parametrize("now", [[3.0] * 5, [7.0] * 5])
def test_one_value_became_another(now: list[float]) -> None:
    assert index([5.0] * 3, now) > 9


def test_a_value_that_many_rows_have_is_counted_exactly() -> None:
    """Half of 0 and half of 1 became four fifths of 0."""
    before, now = [0] * 50 + [1] * 50, [0] * 80 + [1] * 20
    expected = 0.3 * math.log(0.8 / 0.5) + (0.2 - 0.5) * math.log(0.2 / 0.5)
    assert index(before, now, "long") == pytest.approx(expected)


def test_dates_and_infinities_have_places() -> None:
    days = [date(2026, 1, 1) + timedelta(days=day) for day in range(100)]
    later = [day + timedelta(days=50) for day in days]
    assert index(days, days, "date") == 0
    assert index(days, later, "date") > 1
    assert index([math.inf, -math.inf, 1.0], [math.inf, -math.inf, 1.0]) == 0
    assert index([1.0, 2.0], [-math.inf, 5.0]) > 1


def test_values_that_are_not_listed_count_together() -> None:
    """The hundred rare ones are others; those listed are compared."""
    rare = [f"rare {number}" for number in range(100)]
    before, now = ["a"] * 500 + rare, ["a"] * 500 + [f"{text}!" for text in rare]
    assert index(before, now, "string") == pytest.approx(0, abs=0.3)
    assert index(before, ["b"] * 500 + rare, "string") > 1


def test_a_value_is_known_to_be_gone_where_all_are_listed() -> None:
    expected = (0.5 - 0.0001) * math.log(0.5 / 0.0001) + 0.5 * math.log(2)
    assert index(list("ab"), list("aa"), "string") == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("value", [None, 3, "", "[]", "{}", '{"rows":1,"places":[["x",0,1]]}'])
def test_what_is_no_distribution_is_told(value: Any) -> None:
    with pytest.raises(NotAValue):
        read_spread(value, "double")


def against(text: str, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> CheckResult:
    evidence = evidence_of((rule(text),), before)
    known = EarlierVersion(version=1, at=CLOCK, values=dict(evidence.measures))
    return judged(text, now, history=History(versions=(known,)))


def delays(*values: float | None) -> list[dict[str, Any]]:
    return [row(delay=value) for value in values]


def test_a_first_version_has_nothing_to_compare_with() -> None:
    first = judged("psi(delay, max=0.2)", delays(1.0, None))
    assert (first.outcome, first.limit) == (Outcome.PASS, "at most 0.2")
    assert first.message == "1 row with values of delay: nothing to compare with"
    share = judged("null_drift(delay, max=5%)", delays(1.0, None))
    assert share.outcome is Outcome.PASS
    assert share.message == "share of rows without delay: nothing to compare with"


def test_values_that_are_spread_otherwise_fail() -> None:
    text = "psi(delay, max=0.2)"
    before = delays(*range(100))
    assert against(text, before, before).message == (
        "the distribution of values of delay changed by 0 (PSI), limit at most 0.2"
    )
    found = against(text, before, delays(*range(50, 150)))
    assert found.outcome is Outcome.FAIL
    assert isinstance(found.observed, float)
    assert found.observed > 0.2
    assert against(text, before, delays(None, None)).outcome is Outcome.PASS
    assert against(text, delays(None), before).outcome is Outcome.PASS


def test_the_share_of_rows_without_a_value_may_not_grow_by_more() -> None:
    text = "null_drift(delay, max=25%)"
    before = delays(1.0, 2.0, 3.0, None)
    within = against(text, before, delays(1.0, 2.0, None, None))
    assert (within.outcome, within.observed) == (Outcome.PASS, 25.0)
    assert within.message == (
        "share of rows without delay went from 25 % to 50 %, limit at most 25 points more"
    )
    assert against(text, before, delays(1.0, None, None, None)).outcome is Outcome.FAIL
    assert against(text, before, delays(1.0, 1.0)).outcome is Outcome.PASS, "it may shrink"
    assert against(text, before, []).outcome is Outcome.PASS


def beside(text: str, other: str, *versions: list[dict[str, Any]]) -> CheckResult:
    """The last of the versions under both rules, with as much history as these look back at."""
    rules = (rule(text), rule(other, rule_id="other"))
    _, most = history_measures(rules, SCHEMA)
    *earlier, now = [evidence_of(rules, rows) for rows in versions]
    history = tuple(
        EarlierVersion(version=number, at=CLOCK, values=dict(evidence.measures))
        for number, evidence in enumerate(earlier, 1)
    )
    known = History(versions=history[::-1][:most])
    return result_of(rules[0].rule_id, ruling(now, rules, history=known))


NEAR = "not_null(key)"
FAR = "row_count(band='mad', least=30)"
DRIFTS = {
    "psi(delay, max=0.2)": delays(*range(50, 150)),
    "null_drift(delay, max=25%)": delays(None, None),
}


@pytest.mark.parametrize("other", [NEAR, FAR])
@pytest.mark.parametrize(("text", "now"), DRIFTS.items())
@pytest.mark.parametrize("empty", range(LOOKBACK + 2))
def test_versions_without_rows_are_stepped_over_within_reach(
    text: str, now: list[dict[str, Any]], other: str, empty: int
) -> None:
    """Whatever other rules look back at."""
    versions = [delays(*range(100)), *([] for _ in range(empty)), now]
    found = beside(text, other, *versions)
    assert found.outcome is (Outcome.FAIL if empty < LOOKBACK else Outcome.PASS), found.message
    assert ("nothing to compare with" in found.message) is (empty >= LOOKBACK)


def test_a_version_without_values_is_stepped_over() -> None:
    versions = delays(*range(100)), delays(None, None), delays(*range(50, 150))
    assert beside("psi(delay, max=0.2)", NEAR, *versions).outcome is Outcome.FAIL


def test_as_many_versions_as_they_say_are_looked_back_at() -> None:
    for text in DRIFTS:
        assert history_depth(compile_rule(rule(text), SCHEMA).check) == LOOKBACK


@pytest.mark.parametrize(("text", "now"), DRIFTS.items())
def test_the_numbers_do_not_depend_on_the_thread(text: str, now: list[dict[str, Any]]) -> None:
    """Decimals are rounded by a context that any library may change."""
    before = delays(*(value / 3 for value in range(100)), None, None, None)
    usual = against(text, before, now)
    for context in (Context(prec=2, rounding=ROUND_UP), Context(prec=60, rounding=ROUND_UP)):
        with localcontext(context):
            assert against(text, before, now) == usual


def test_the_index_does_not_depend_on_the_thread() -> None:
    before, now = spread(NORMAL), spread(AGAIN)
    usual = stability(before, now)
    for digits in (2, 9, 90):
        with localcontext(Context(prec=digits, rounding=ROUND_UP)):
            assert stability(before, now) == usual


def test_no_text_stands_in_evidence() -> None:
    evidence = evidence_of((rule("psi(name, max=0.2)"),), [row(name="secret")])
    (value,) = (value for key, value in evidence.measures.items() if "distribution" in key)
    assert isinstance(value, str)
    assert "secret" not in value
    assert json.loads(value)["rows"] == 1


def test_of_no_rows_there_is_no_index() -> None:
    assert stability(Spread(0), spread(NORMAL)) is None
    assert stability(spread(NORMAL), Spread(0)) is None
