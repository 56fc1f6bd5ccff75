"""Spark Connect: frames are unresolved plans until they run, and the JVM is not accessible.

A plan that must not change is stored as a global temporary view, which keeps it as analysed.
"""

from __future__ import annotations

import copy
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from typing import Any, cast
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect.client import ChannelBuilder
from pyspark.sql.connect.session import SparkSession as ConnectSession

from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.runtime import Counted, is_metastore

_PRIVATE_SERVER = "SPARK_LOCAL_REMOTE"
_SHARED_VIEWS = "spark.sql.globalTempDatabase"
_ROWS = "rows"
_views: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


class ConnectSpark:
    """Spark 4.0 or newer. Lake files must have the same paths on client and server."""

    shows_plans = False

    def child(self, spark: SparkSession) -> SparkSession:
        """Same connection and user, with a session id of its own."""
        theirs: Any = spark.client
        way = copy.deepcopy(theirs._builder)
        way._params.pop(ChannelBuilder.PARAM_SESSION_ID, None)
        return cast(SparkSession, ConnectSession(connection=way, userId=theirs._user_id))

    def close(self, child: SparkSession) -> None:
        """``stop`` would also stop a server started for the user's session."""
        client: Any = child.client
        with suppress(*SPARK_ERRORS):
            for view in _views.pop(child, []):
                child.catalog.dropGlobalTempView(view)
            client.release_session()
        client.close()

    def names_of_settings(self, session: SparkSession) -> list[str]:
        return list(session.conf.getAll)

    def has_catalogue_of_others(self, spark: SparkSession) -> bool:
        """A server started for this process ends with it."""
        return _PRIVATE_SERVER not in os.environ or is_metastore(spark)

    def in_session(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        view = f"lakeguard_{secrets.token_hex(8)}"
        frame.createGlobalTempView(view)
        _views.setdefault(session, []).append(view)
        return session.table(f"{session.conf.get(_SHARED_VIEWS)}.{view}")

    def settled(self, frame: DataFrame) -> DataFrame:
        return self.in_session(frame, frame.sparkSession)

    def analysed(self, frame: DataFrame, origin: SparkSession) -> None:
        """The server does not return analysed plans."""

    def reads_clock(self, frame: DataFrame) -> None:
        """The server does not return analysed plans."""

    def query(
        self, session: SparkSession, text: str, parameters: Mapping[str, str | date]
    ) -> DataFrame:
        """In parentheses, where Spark accepts only a query."""
        inside = f"SELECT * FROM ({text.rstrip().rstrip(';')}\n)"  # noqa: S608
        return session.sql(inside, args=dict(parameters)) if parameters else session.sql(inside)

    @contextmanager
    def job_group(self, session: SparkSession, name: str) -> Iterator[None]:
        """The session belongs to the run, so its interrupt affects only the run."""
        try:
            yield
        except BaseException:
            with suppress(*SPARK_ERRORS):  # the original error is reported
                session.interruptAll()
            raise

    def stop_group(self, session: SparkSession, name: str) -> None:
        session.interruptAll()

    def rebalanced(self, frame: DataFrame, name: str) -> DataFrame:
        return frame.hint("rebalance", F.col(name))

    @contextmanager
    def counting(self, frame: DataFrame, name: str) -> Iterator[Counted]:
        """Exact only as the last step: rows shuffled afterwards may be counted twice."""
        observation = Observation()
        observed = frame.observe(observation, F.count(F.lit(1)).alias(_ROWS))
        yield Counted(observed, lambda: observation.get.get(_ROWS))
