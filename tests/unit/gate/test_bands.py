"""Bands out of earlier values: by hand, step by step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from lakeguard.gate.evaluation.bands import (
    Band,
    NoBand,
    Point,
    band,
    median,
)
from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.gate.rules.compile import compile_rule
from lakeguard.gate.typecheck.checks import Past
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.measures import MeasureValue, measure_key
from tests.unit.gate.cases import CLOCK, SCHEMA, evidence_of, judged, row, rule

DAY = timedelta(days=1)


def points(*values: float, step: timedelta = DAY) -> list[Point]:
    """The last a step ago, the one before it two, and so on."""
    return [Point(Decimal(str(value)), CLOCK - step * at) for at, value in enumerate(values, 1)]


def history(text: str, *values: MeasureValue) -> History:
    (measure, *_) = compile_rule(rule(text), SCHEMA).measures
    return History(
        versions=tuple(
            EarlierVersion(
                version=9 - at, at=CLOCK - DAY * at, values={measure_key(measure): value}
            )
            for at, value in enumerate(values, 1)
        )
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [((1,), "1"), ((3, 1, 2), "2"), ((4, 1, 2, 3), "2.5"), ((-1, -1), "-1")],
)
def test_median(values: tuple[int, ...], expected: str) -> None:
    assert median([Decimal(value) for value in values]) == Decimal(expected)


def test_around_the_last_value() -> None:
    past = Past("last", change=Decimal(20))
    found = band(past, points(-50, 7), CLOCK, whole=False)
    assert found == Band(Decimal(-60), Decimal(-40), "last value -50 and 20 % of it")
    assert band(past, [], CLOCK, whole=False) == NoBand("no earlier version to compare with")


def test_median_and_spreads() -> None:
    past = Past("mad", k=Decimal(2), least=5, over=5)
    found = band(past, points(10, 12, 14, 11, 13, 900), CLOCK, whole=False)
    # the sixth is beyond reach; deviations from 12 are 2 0 2 1 1, their median is 1
    assert found == Band(
        Decimal("9.0348"), Decimal("14.9652"), "median of 5 earlier values and 2 spreads"
    )


@pytest.mark.parametrize(
    ("value", "whole", "low", "high"),
    [
        (100, False, "97", "103"),
        (100, True, "97", "103"),
        (5, True, "2", "8"),
        (0, False, "0", "0"),
    ],
)
def test_values_that_never_differed_have_a_floor(
    value: int, whole: bool, low: str, high: str
) -> None:
    past = Past("mad", least=3, over=30)
    found = band(past, points(value, value, value), CLOCK, whole=whole)
    assert isinstance(found, Band)
    assert (found.low, found.high) == (Decimal(low), Decimal(high))


def test_only_the_same_season_counts() -> None:
    weekly = points(*([1.0] * 6 + [70.0]) * 3)
    found = band(Past("weekday", least=3, over=100), weekly, CLOCK, whole=False)
    assert isinstance(found, Band)
    assert found.low <= 70 <= found.high
    assert band(Past("weekday", least=4, over=100), weekly, CLOCK, whole=False) == NoBand(
        "3 of 4 earlier values on this weekday needed for a band"
    )
    hourly = points(*range(1, 25), step=timedelta(hours=1))
    alone = band(Past("hour", least=1, over=100), hourly, CLOCK, whole=False)
    assert isinstance(alone, Band)
    assert "in this hour" in alone.of
    assert alone.low <= 24 <= alone.high


def test_a_season_is_that_of_utc() -> None:
    eastern = datetime(2026, 1, 31, 1, tzinfo=UTC).astimezone()
    assert isinstance(
        band(Past("hour", least=1, over=1), [Point(Decimal(1), eastern)],
             datetime(2026, 2, 1, 1, 59, tzinfo=UTC), whole=False),
        Band,
    )  # fmt: skip


def test_values_that_are_none_teach_nothing() -> None:
    text = "mean(count, change=10%)"
    known = history(text, None, "NaN", 10.0)
    assert judged(text, [row(count=11)], history=known).outcome is Outcome.PASS
    assert judged(text, [row(count=12)], history=known).outcome is Outcome.FAIL


def test_bounds_hold_until_there_is_a_band() -> None:
    text = "mean(count, min=0, max=5, band='mad', least=2)"
    found = judged(text, [row(count=6)], history=history(text, 100.0))
    assert (found.outcome, found.limit) == (Outcome.FAIL, "0 to 5")
    learnt = judged(text, [row(count=100)], history=history(text, 100.0, 100.0))
    assert (learnt.outcome, learnt.limit) == (Outcome.PASS, "97 to 103")


def test_shares_change_too() -> None:
    text = "completeness(name, change=10%)"
    nulls, rows = (measure_key(one) for one in compile_rule(rule(text), SCHEMA).measures)
    before = EarlierVersion(version=1, at=CLOCK - DAY, values={nulls: 0, rows: 4})
    data = [row(name="a"), row(name=None)]
    found = judged(text, data, history=History(versions=(before,)))
    assert found.outcome is Outcome.FAIL
    assert found.message == (
        "completeness of name is 50 %, limit 90 to 110 % (last value 100 and 10 % of it)"
    )


def test_sets_of_values_drift() -> None:
    text = "set_drift(name, new=1, gone=0)"
    measure = compile_rule(rule(text), SCHEMA).measures[0]
    first = judged(text, [row(name="a"), row(name="b"), row(name=None)])
    assert first.outcome is Outcome.PASS
    assert first.message == "2 values of name, no earlier version to compare with"
    known = _values_of(text, "a", "b")
    assert measure_key(measure) in known.versions[0].values
    for names, new, gone, outcome in (
        ("ab", 0, 0, Outcome.PASS),
        ("abc", 1, 0, Outcome.PASS),
        ("abcd", 2, 0, Outcome.FAIL),
        ("a", 0, 1, Outcome.FAIL),
    ):
        found = judged(text, [row(name=name) for name in names], history=known)
        plural = "" if new == 1 else "s"
        assert found.message == (
            f"name: {new} new value{plural}, {gone} gone, limit 1 new and 0 gone"
        )
        assert found.outcome is outcome


def _values_of(text: str, *names: str) -> History:
    """What evidence held of a version with these values."""
    evidence = evidence_of((rule(text),), [row(name=name) for name in names])
    before = EarlierVersion(version=1, at=CLOCK - DAY, values=dict(evidence.measures))
    return History(versions=(before,))
