"""Spark and DuckDB say of every rule what its sentence says, in any time zone."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given
from pyspark.sql import SparkSession

from lakeguard_sdk.expressions.measures import measure_key
from openlaketx.engine.spark.session import run_session
from openlaketx.measure import Measured, MeasureOptions, take_measures
from openlaketx.measure.engine_choice import EngineChoice
from tests.property.measure.macro_cases import MACROS, PRIMITIVES, TIMED, table_of, tables
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

pytestmark = pytest.mark.spark

ZONES = ("UTC", "America/New_York", "Asia/Kolkata")


def wrong(
    session: SparkSession, cases: dict[str, Oracle], data: Data, samples: Sequence[Any] = ()
) -> list[Any]:
    """Rules, and samples of values, of which the three do not say the same."""
    with tempfile.TemporaryDirectory() as folder:
        subject = laid_out(Path(folder) / "now", data)
        asked = [*questions(cases), *samples]
        engines = [
            take_measures(asked, subject, MeasureOptions(chosen), session)
            for chosen in (EngineChoice.SPARK, EngineChoice.DUCKDB)
        ]
        history = earlier(Path(folder) / "before", data, cases)
    assert [one.engine.split()[0] for one in engines] == ["spark", "duckdb"]
    found = {
        call: [judge(call, measured, subject, data, history) for measured in engines]
        for call in cases
    }
    return [*disagreements(cases, found, data), *_wrong_samples(samples, engines, data)]


def _wrong_samples(samples: Sequence[Any], engines: list[Measured], data: Data) -> list[Any]:
    found = [
        (measure, sampled(measure, data), [one.values[measure_key(measure)] for one in engines])
        for measure in samples
    ]
    return [item for item in found if set(item[2]) != {item[1]}]


@given(data=tables(0, 150))
@examples(1, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_every_rule_means_what_it_says(spark: SparkSession, data: Data) -> None:
    assert wrong(run_session(spark), MACROS | PRIMITIVES, data, SAMPLES) == []


@pytest.mark.parametrize("zone", ZONES)
def test_the_zone_of_a_session_does_not_matter(spark: SparkSession, zone: str) -> None:
    theirs = spark.newSession()
    theirs.conf.set("spark.sql.session.timeZone", zone)
    assert wrong(run_session(theirs), TIMED, table_of(Random(5), 60)) == []
    assert theirs.conf.get("spark.sql.session.timeZone") == zone


@pytest.mark.parametrize("zone", ZONES[1:])
def test_the_zone_of_the_process_does_not_matter(
    spark: SparkSession, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _process_zone(spark, zone, monkeypatch):
        assert wrong(run_session(spark), TIMED, table_of(Random(6), 60)) == []


@contextmanager
def _process_zone(spark: SparkSession, zone: str, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python and the JVM as if they had been started there."""
    zones: Any = spark.sparkContext._jvm.java.util.TimeZone  # type: ignore[union-attr]
    before = zones.getDefault()
    with patch.context() as environment:
        environment.setenv("TZ", zone)
        time.tzset()
        zones.setDefault(zones.getTimeZone(zone))
        try:
            yield
        finally:
            zones.setDefault(before)
    time.tzset()
