"""DuckDB says of every rule, of the catalogue or its own type, what its sentence says."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given

from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.registry.macros import built_in_rules
from lakeguard_sdk.expressions.measures import AnyMeasure, Distribution, measure_key
from openlaketx.measure import take_measures
from tests.property.measure.macro_cases import MACROS, PRIMITIVES, table_of, tables
from tests.property.measure.macro_judging import (
    disagreements,
    earlier,
    judge,
    laid_out,
    questions,
)
from tests.property.measure.macro_oracle import Data, Oracle
from tests.property.measure.macro_samples import SAMPLES, sampled
from tests.support.examples import examples

AGAINST_THE_PAST = {"psi", "null_drift"}
"""Rules that are nothing but a comparison: tests/unit/gate/test_drift.py reckons them anew."""

_ROOT = Path(__file__).parents[3]
_IN_A_ZONE = """
from random import Random
from tests.property.measure.macro_cases import TIMED, table_of
from tests.property.measure.test_macros import wrong
print(wrong(TIMED, table_of(Random(4), 60)))
"""


def wrong(cases: dict[str, Oracle], data: Data) -> list[Any]:
    """Rules that DuckDB does not judge as the oracle does."""
    with tempfile.TemporaryDirectory() as folder:
        subject = laid_out(Path(folder) / "now", data)
        measured = take_measures(questions(cases), subject)
        history = earlier(Path(folder) / "before", data, cases)
    found = {call: [judge(call, measured, subject, data, history)] for call in cases}
    return disagreements(cases, found, data)


def test_every_rule_of_the_catalogue_has_an_oracle() -> None:
    assert {call.partition("(")[0] for call in MACROS} == set(built_in_rules())


def test_every_type_of_rule_has_an_oracle() -> None:
    held = {call.partition("(")[0] for call in PRIMITIVES}
    assert held | AGAINST_THE_PAST == {kind.name for kind in RULE_TYPES}


def test_every_rule_is_seen_to_hold_and_not_to_hold() -> None:
    tables = [table_of(Random(size), size) for size in (0, 1, 3, 4, 10, 25, 40, 80)]
    seen: dict[str, set[bool]] = {}
    for call, oracle in (MACROS | PRIMITIVES).items():
        verdicts = {reported.holds for data in tables for reported in oracle(data)}
        seen.setdefault(call.partition("(")[0], set()).update(verdicts)
    assert seen.pop("column_exists") == {True}  # without the column it is refused
    assert [name for name, verdicts in seen.items() if len(verdicts) < 2] == []


def test_every_measure_is_asked() -> None:
    asked = {type(measure) for measure in (*questions(MACROS | PRIMITIVES), *SAMPLES)}
    assert asked | {Distribution} == set(get_args(AnyMeasure))  # its oracle is in test_groups


@given(data=tables(0, 40))
@examples(6, suppress_health_check=list(HealthCheck))
def test_the_catalogue_means_what_it_says(data: Data) -> None:
    assert wrong(MACROS, data) == []


@given(data=tables(0, 40))
@examples(6, suppress_health_check=list(HealthCheck))
def test_types_of_rules_mean_what_they_say(data: Data) -> None:
    assert wrong(PRIMITIVES, data) == []


@given(data=tables(0, 40))
@examples(10, suppress_health_check=list(HealthCheck))
def test_samples_are_the_same_ones_each_time(data: Data) -> None:
    with tempfile.TemporaryDirectory() as folder:
        measured = take_measures(SAMPLES, laid_out(Path(folder), data))
    found = [measured.values[measure_key(measure)] for measure in SAMPLES]
    assert found == [sampled(measure, data) for measure in SAMPLES]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata"])
def test_the_zone_of_the_process_does_not_matter(zone: str) -> None:
    """One that was started there: DuckDB looks at it but once."""
    result = subprocess.run(
        [sys.executable, "-c", _IN_A_ZONE],
        env={**os.environ, "TZ": zone, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "[]\n"


@given(data=tables(0, 120))
@examples(6, quick=1, suppress_health_check=list(HealthCheck))
def test_all_rules_together_mean_what_they_say(data: Data) -> None:
    assert wrong(MACROS | PRIMITIVES, data) == []
