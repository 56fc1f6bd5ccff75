"""The kinds of Spark that a run can work on, and all that it does differently on them.

    classic    Spark in this process, 3.5 or newer, on local cores or a cluster
    connect    Spark behind a server of Spark Connect, 4.0 or newer

Everything else of a run is the same on each.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import pyspark
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import SparkElsewhere, SparkTooOld

OLDEST = (3, 5)
_OLDEST_CONNECT = (4, 0)


class NotAQuery(ValueError):
    """A text does something else than to ask."""


class Counted(NamedTuple):
    """A frame to write, and how many rows of it were written once that has succeeded.

    None where Spark keeps no such figure.
    """

    frame: DataFrame
    rows: Callable[[], int | None]


class Runtime(Protocol):
    """What a run asks of Spark beside the ways that all kinds share."""

    def child(self, spark: SparkSession) -> SparkSession:
        """A session of the same Spark, with settings and views of its own."""

    def close(self, child: SparkSession) -> None:
        """Nothing of the child stays behind; its frames are not used any more."""

    def has_catalogue_of_others(self, spark: SparkSession) -> bool:
        """Whether views in its catalogue are seen by others, or stay for them."""

    def in_session(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        """The rows of ``frame`` as its own session understands them, written as ``session`` does.

        Time zone, arithmetic and names stay settled where the frame was made.
        """

    def settled(self, frame: DataFrame) -> DataFrame:
        """The frame as it is meant now, whatever becomes of its session's views and settings."""

    def query(self, session: SparkSession, text: str) -> DataFrame:
        """The frame of a SELECT; ``NotAQuery`` where the text may do more, and nothing is done."""

    def job_group(self, session: SparkSession, name: str) -> AbstractContextManager[None]:
        """All that this thread has Spark do is of the group, and ends where the block fails."""

    def stop_group(self, session: SparkSession, name: str) -> None:
        """From any thread: what Spark does for the group ends."""

    def rebalanced(self, frame: DataFrame, name: str) -> DataFrame:
        """Rows of one value of the column together, in parts of a good size."""

    def counting(self, frame: DataFrame, name: str) -> AbstractContextManager[Counted]:
        """For the one write in the block; nothing comes after the frame that is given back."""


def runtime_of(thing: SparkSession | DataFrame) -> Runtime:
    """By the session or frame; ``SparkElsewhere`` where it is neither, or of no known kind."""
    if type(thing).__module__.startswith("pyspark.sql.connect."):
        from openlaketx.engine.spark.connect import ConnectSpark

        if _numbers(_version()) < _OLDEST_CONNECT:
            raise SparkElsewhere(kind=f"{type(thing).__name__} of Spark Connect {_version()}")
        return ConnectSpark()
    if isinstance(thing, SparkSession | DataFrame):
        from openlaketx.engine.spark.classic import ClassicSpark

        require_new_enough()
        return ClassicSpark()
    raise SparkElsewhere(kind=type(thing).__name__)


def is_metastore(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.catalogImplementation") == "hive"


def require_new_enough() -> None:
    require_spark(_version(), OLDEST, "a run")


def require_spark(version: str, oldest: tuple[int, int], thing: str) -> None:
    """``SparkTooOld`` where the thing would come out otherwise on this Spark."""
    if _numbers(version) < oldest:
        raise SparkTooOld(version=version, oldest=".".join(map(str, oldest)), thing=thing)


def _version() -> str:
    return str(pyspark.__version__)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
