"""The kind of Spark is detected; old versions and foreign objects are rejected."""

from __future__ import annotations

import pyspark
import pytest

from lakeguard_sdk.errors import SparkTooOld, UnsupportedSpark
from openlaketx.engine.spark.runtime import require_new_enough, runtime_of


class SparkSession:
    """A class whose module is that of Spark Connect."""


SparkSession.__module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize("version", ["3.4.4", "2.4.8"])
def test_an_old_spark_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    with pytest.raises(SparkTooOld, match=f"this is Spark {version}; a run needs 3.5 or"):
        require_new_enough()


@pytest.mark.parametrize("version", ["3.5.9", "3.10.0", "4.2.0", "5.0.0.dev1"])
def test_newer_ones_are_not(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)
    require_new_enough()


def test_spark_connect_before_4_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyspark, "__version__", "3.5.9")
    with pytest.raises(UnsupportedSpark, match=r"got a SparkSession of Spark Connect 3\.5\.9"):
        runtime_of(SparkSession())  # type: ignore[arg-type]


def test_what_is_no_spark_is_refused() -> None:
    with pytest.raises(UnsupportedSpark, match="got a list"):
        runtime_of([1, 2])  # type: ignore[arg-type]
