"""Spark's own count of the rows it wrote, read from the metrics of the write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from openlaketx.engine.runtime import Counted

_ROWS = "number of output rows"
_WAIT_MS = 10_000
_DESCRIPTION = "spark.job.description"


class WrittenRows:
    """The write that runs under one description; ask after it has succeeded."""

    def __init__(self, spark: SparkSession, description: str) -> None:
        self._spark = spark
        self._description = description

    def rows(self) -> int | None:
        """Rows that the write command counted; None where Spark keeps no such figure."""
        try:
            return self._read()
        except (Py4JError, AttributeError):
            return None

    def _read(self) -> int | None:
        context: Any = self._spark._jsparkSession.sparkContext()
        context.listenerBus().waitUntilEmpty(_WAIT_MS)
        store: Any = self._spark._jsparkSession.sharedState().statusStore()
        found = store.executionsList(max(0, store.executionsCount() - 20), 20)
        for index in range(found.size() - 1, -1, -1):
            execution = found.apply(index)
            if execution.description() == self._description:
                return _rows_of(store, execution.executionId())
        return None


@contextmanager
def counting(frame: DataFrame, name: str) -> Iterator[Counted]:
    """Names the write, so that its metrics can be told from any other's."""
    spark, description = frame.sparkSession, f"stage {name}"
    context: Any = spark.sparkContext
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, description)
    try:
        yield Counted(frame, WrittenRows(spark, description).rows)
    except Exception:
        context.setLocalProperty(_DESCRIPTION, before)
        raise
    context.setLocalProperty(_DESCRIPTION, before)


def _rows_of(store: Any, execution_id: int) -> int | None:
    values = store.executionMetrics(execution_id)
    nodes = store.planGraph(execution_id).allNodes()
    for index in range(nodes.size()):
        node = nodes.apply(index)
        if not node.name().startswith("Execute InsertIntoHadoopFsRelationCommand"):
            continue
        metrics = node.metrics()
        for place in range(metrics.size()):
            metric = metrics.apply(place)
            if metric.name() == _ROWS:
                text = values.apply(metric.accumulatorId())
                return int(re.sub(r"[^0-9]", "", text))
    return None
