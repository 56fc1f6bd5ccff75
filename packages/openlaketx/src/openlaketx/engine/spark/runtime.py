"""Kinds of Spark that a run supports, behind one interface.

    classic    Spark in this process, 3.5 or newer, on local cores or a cluster
    connect    a Spark Connect server, 4.0 or newer

Everything else of a run is the same on each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import date
from typing import NamedTuple, Protocol

import pyspark
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import SparkTooOld, UnsupportedSpark
from openlaketx.engine.locations import is_local_master
from openlaketx.engine.spark.analysed_plan import AnalysedPlan

OLDEST = (3, 5)
_OLDEST_CONNECT = (4, 0)


class NotAQuery(ValueError):
    """The statement is not a query."""


class Counted(NamedTuple):
    """A frame to write, and its row count after the write.

    None if Spark has no such metric.
    """

    frame: DataFrame
    rows: Callable[[], int | None]


class Runtime(Protocol):
    """What differs between the kinds of Spark."""

    shows_plans: bool
    """Whether plans are visible at all."""

    def child(self, spark: SparkSession) -> SparkSession:
        """A session of the same Spark with its own settings and views."""

    def close(self, child: SparkSession) -> None:
        """Release everything of the child; its frames must not be used afterwards."""

    def names_of_settings(self, session: SparkSession) -> list[str]:
        """Those that are set, by whomever; the others have Spark's defaults."""

    def has_catalogue_of_others(self, spark: SparkSession) -> bool:
        """Whether other users see the views in its catalogue, now or later."""

    def in_session(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        """The rows of ``frame`` as analysed by its own session, written with the settings of
        ``session``.

        Time zone, arithmetic and names are resolved in the frame's session.
        """

    def settled(self, frame: DataFrame) -> DataFrame:
        """The frame as analysed now, independent of later changes to views and settings."""

    def analysed(self, frame: DataFrame, origin: SparkSession) -> AnalysedPlan | None:
        """The plan of the frame, which the session ``origin`` made; None if it is not visible."""

    def reads_clock(self, frame: DataFrame) -> bool | None:
        """Whether Spark takes a text of the query, such as ``'no' || 'w'``, for its own time; None
        if the plan is not visible."""

    def query(
        self, session: SparkSession, text: str, parameters: Mapping[str, str | date]
    ) -> DataFrame:
        """The frame of a SELECT with its parameters bound; ``NotAQuery`` for any other statement,
        which is not executed."""

    def job_group(self, session: SparkSession, name: str) -> AbstractContextManager[None]:
        """Jobs of this thread belong to the group, and are cancelled if the block fails."""

    def stop_group(self, session: SparkSession, name: str) -> None:
        """Cancel the jobs of the group, from any thread."""

    def rebalanced(self, frame: DataFrame, name: str) -> DataFrame:
        """Rows with equal values in the column together, in partitions of a suitable size."""

    def counting(self, frame: DataFrame, name: str) -> AbstractContextManager[Counted]:
        """Count the rows of the single write in the block; the returned frame is written
        unchanged."""


def runtime_of(thing: SparkSession | DataFrame) -> Runtime:
    """By session or frame; ``UnsupportedSpark`` for anything else."""
    if type(thing).__module__.startswith("pyspark.sql.connect."):
        from openlaketx.engine.spark.connect import ConnectSpark

        if _numbers(_version()) < _OLDEST_CONNECT:
            raise UnsupportedSpark(kind=f"{type(thing).__name__} of Spark Connect {_version()}")
        return ConnectSpark()
    if isinstance(thing, SparkSession | DataFrame):
        from openlaketx.engine.spark.classic import ClassicSpark

        require_new_enough()
        return ClassicSpark()
    raise UnsupportedSpark(kind=type(thing).__name__)


def is_local(session: SparkSession) -> bool:
    """Whether Spark runs on this machine only."""
    if type(session).__module__.startswith("pyspark.sql.connect."):
        return False
    return is_local_master(str(session.sparkContext.master))


def is_metastore(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.catalogImplementation") == "hive"


def require_new_enough() -> None:
    require_spark(_version(), OLDEST, "a run")


def require_spark(version: str, oldest: tuple[int, int], thing: str) -> None:
    """``SparkTooOld`` if this Spark would produce another result for the feature."""
    if _numbers(version) < oldest:
        raise SparkTooOld(version=version, oldest=".".join(map(str, oldest)), thing=thing)


def _version() -> str:
    return str(pyspark.__version__)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
