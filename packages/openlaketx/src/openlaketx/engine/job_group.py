"""One group for all that Spark does for a run, so that one call stops all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.clientserver import JavaClient
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

_KEYS = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


@contextmanager
def job_group(spark: SparkSession, name: str) -> Iterator[None]:
    """Every job that this thread starts in the block is of the group; afterwards the thread has
    the group of its own again, and nothing of a block that was left by an error goes on."""
    context: Any = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in _KEYS}
    context.setJobGroup(name, name, interruptOnCancel=True)
    try:
        yield
    except BaseException:
        with suppress(Py4JError, OSError):  # what went wrong before is what is told
            _leave_broken_call(context)
            context.cancelJobGroup(name)
            _restore(context, before)
        raise
    _restore(context, before)


def stop_group(spark: SparkSession, name: str) -> None:
    """From any thread: jobs of the group end, and none begins any more.

    Spark 3.5 ends those that run, and lets the next one begin.
    """
    context: Any = spark.sparkContext._jsc.sc()
    if spark.version.startswith("3."):
        context.cancelJobGroup(name)
    else:
        context.cancelJobGroupAndFutureJobs(name)


def _restore(context: Any, before: dict[str, str | None]) -> None:
    for key, value in before.items():
        context.setLocalProperty(key, value)


def _leave_broken_call(context: Any) -> None:
    """An interrupt leaves a call to the JVM without its answer, and the next call would wait for
    it and take it for its own: that connection is closed, and the next call opens another."""
    client = context._gateway._gateway_client
    if not isinstance(client, JavaClient):
        return
    connection = client.get_thread_connection()
    if connection is not None and connection not in client.deque:
        connection.close()
