"""With which engine a run is measured, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from lakeguard_sdk.measure import AnyMeasure, GroupBreach
from lakeguard_sdk.words import Scope
from openlaketx.measure.subject import Subject

ENGINE = "measure_with"
SECONDS = "measure_seconds"
LARGE = "measure_spark_above_gb"
"""Details of a job, dataset, target or source."""
_GB = 2**30


class Chosen(StrEnum):
    AUTO = "auto"
    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(frozen=True)
class How:
    """Whatever is not measured by then is not measured, and blocks."""

    engine: Chosen = Chosen.AUTO
    seconds: float = 3600.0
    large_bytes: int = 32 * _GB

    def with_spark(self, measures: Iterable[AnyMeasure], subject: Subject) -> bool:
        """DuckDB where the files are here and it can read them all in time; else Spark.

        Columns that only the table's log tells are known to DuckDB alone.
        """
        if self.engine is not Chosen.AUTO or subject.lacking:
            return self.engine is Chosen.SPARK and not subject.lacking
        if "://" in subject.batch.location.removeprefix("file://"):
            return True
        return _bytes(measures, subject) > self.large_bytes


def how_to_measure(settings: Mapping[str, str]) -> How:
    """ValueError, with what to write, where a setting means nothing."""
    try:
        engine = Chosen(settings.get(ENGINE, Chosen.AUTO).strip().lower())
    except ValueError:
        raise ValueError(f"{ENGINE} is one of {', '.join(Chosen)}") from None
    seconds = _positive(settings, SECONDS, How.seconds)
    return How(engine, seconds, int(_positive(settings, LARGE, How.large_bytes / _GB) * _GB))


def _positive(settings: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(settings.get(name, default))
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"{name} is a number above 0")
    return number


def _bytes(measures: Iterable[AnyMeasure], subject: Subject) -> int:
    scoped = (item.of if isinstance(item, GroupBreach) else item for item in measures)
    if any(getattr(item, "scope", Scope.BATCH) is Scope.TABLE for item in scoped):
        return subject.table_bytes
    return sum(file.size for file in subject.batch.files)
