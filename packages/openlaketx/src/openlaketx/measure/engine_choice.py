"""Chooses the engine and the time limit for measuring a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pyspark.sql import SparkSession

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.expressions.measures import AnyMeasure, GroupBreach
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.storage import is_remote, join
from openlaketx.engine.locations import is_here
from openlaketx.engine.spark.session import Sessions
from openlaketx.measure.subject import Subject

ENGINE = "measure_with"
SECONDS = "measure_seconds"
LARGE = "measure_spark_above_gb"
"""Settings of a job, dataset, target or source."""
_GB = 2**30


class EngineChoice(StrEnum):
    AUTO = "auto"
    DUCKDB = "duckdb"
    SPARK = "spark"


@dataclass(frozen=True)
class MeasureOptions:
    """A measure that is not taken within ``seconds`` has no value, which blocks the run."""

    engine: EngineChoice = EngineChoice.AUTO
    seconds: float = 3600.0
    large_bytes: int = 32 * _GB

    def session(
        self, measures: Iterable[AnyMeasure], subject: Subject, sessions: Sessions | None
    ) -> SparkSession | None:
        """A session if Spark takes the measures; it is not started for DuckDB."""
        if sessions is None or not self.with_spark(measures, subject):
            return None
        return sessions()

    def with_spark(self, measures: Iterable[AnyMeasure], subject: Subject) -> bool:
        """DuckDB for files on this machine below the size limit, Spark otherwise.

        Only DuckDB can read columns that exist only in the Delta log.
        """
        if self.engine is not EngineChoice.AUTO or subject.needs_log:
            return self.engine is EngineChoice.SPARK and not subject.needs_log
        measures = tuple(measures)
        if is_remote(subject.batch.location) and not _reads_files_here(measures, subject):
            return True
        return _bytes(measures, subject) > self.large_bytes


def measure_options(plan: RunPlan) -> MeasureOptions:
    """Reads the options from the run's settings; ``BuildFailed`` for an invalid setting."""
    try:
        return options_from_settings(plan.settings)
    except ValueError as error:
        raise BuildFailed(dataset=str(plan.dataset), reason=str(error)) from None


def options_from_settings(settings: Mapping[str, str]) -> MeasureOptions:
    """ValueError for an invalid setting, naming the valid values."""
    word = settings.get(ENGINE, EngineChoice.AUTO).strip().lower()
    if word not in list(EngineChoice):
        raise ValueError(f"setting {ENGINE} must be one of {', '.join(EngineChoice)}")
    seconds = _positive(settings, SECONDS, MeasureOptions.seconds)
    large = _positive(settings, LARGE, MeasureOptions.large_bytes / _GB)
    return MeasureOptions(EngineChoice(word), seconds, int(large * _GB))


def _positive(settings: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(settings.get(name, default))
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"setting {name} must be a positive number")
    return number


def reads_table(measures: Iterable[AnyMeasure], dataset: DatasetName) -> bool:
    """Whether a measure reads rows of the dataset that are not in the batch."""
    return any(
        _of_table(item) or getattr(item, "dataset", None) == dataset for item in _single(measures)
    )


def _single(measures: Iterable[AnyMeasure]) -> list[object]:
    """Of a measure by groups, the one that it takes of each."""
    return [item.of if isinstance(item, GroupBreach) else item for item in measures]


def _of_table(item: object) -> bool:
    return getattr(item, "scope", Scope.BATCH) is Scope.TABLE


def _reads_files_here(measures: Iterable[AnyMeasure], subject: Subject) -> bool:
    """Whether the measures read the batch alone, and a local Spark staged it on this machine."""
    items = _single(measures)
    if any(_of_table(item) or getattr(item, "dataset", None) for item in items):
        return False
    batch = subject.batch
    return all(is_here(join(batch.location, file.path)) for file in batch.files)


def _bytes(measures: Iterable[AnyMeasure], subject: Subject) -> int:
    if any(_of_table(item) for item in _single(measures)):
        return subject.table_bytes
    return sum(file.size for file in subject.batch.files)
