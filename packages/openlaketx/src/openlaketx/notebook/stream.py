"""A governed table as the sink of a streaming query: every micro-batch is a run.

The persistent id of the query and the number of the micro-batch are the key of its task. Spark
repeats a micro-batch whose end it has not recorded, with the same number and the same offsets:
the task says whether it is published already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, TaskState
from lakeguard_sdk.errors import NotPublishable
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.streams import StreamReport
from lakeguard_sdk.storage.fault_points import reached
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.extract import ProgramFrame
from openlaketx.extract.frame_lineage import Reads
from openlaketx.notebook.result import PublishResult
from openlaketx.notebook.stream_progress import ProgressReporter
from openlaketx.run import collecting_notes, note

APPEND, COMPLETE = "append", "complete"
_WHOLE = (LoadType.FULL, LoadType.SNAPSHOT)
"""Loads whose batch is the whole table, as is every micro-batch in complete mode."""
_LOOK_SECONDS = 0.2

RunTask = Callable[[str, SparkSession, ProgramFrame], RunResult]
"""Runs a queued task with a frame to its end, retrying retryable failures."""


def check_stream(
    dataset: DatasetName, frame: DataFrame, load: LoadType, output_mode: str, checkpoint: str
) -> None:
    """``NotPublishable`` unless micro-batches of the frame can be published one by one."""
    if not frame.isStreaming:
        raise NotPublishable(dataset=dataset, reason="it is not a streaming frame: use tx.publish")
    if not runtime_of(frame).shows_plans:
        reason = "Spark Connect runs micro-batches on its server, apart from this program"
        raise NotPublishable(dataset=dataset, reason=reason)
    if not checkpoint.strip():
        raise NotPublishable(dataset=dataset, reason="a stream needs a checkpoint")
    if (load in _WHOLE) != (output_mode == COMPLETE):
        wanted = f'output_mode="{COMPLETE}"' if load in _WHOLE else "another output mode"
        reason = f"load {load} of a stream in {output_mode} mode: it needs {wanted}"
        raise NotPublishable(dataset=dataset, reason=reason)


@dataclass
class BatchPublisher:
    """Publishes every micro-batch of one query once, however often Spark repeats it.

    A micro-batch that is blocked or fails raises, which ends the query: Spark repeats it when the
    query is started again.
    """

    client: Client
    dataset: DatasetName
    actor: str
    run_task: RunTask
    reads: Reads
    lineage: BatchLineage
    """Of the streaming frame: Spark hides the sources of a micro-batch."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    query_id: Future[str] = field(default_factory=Future)
    """Set once the query is started, which may be after its first micro-batch is."""
    last: PublishResult | None = None
    error: Exception | None = None

    def publish(self, frame: DataFrame, batch: int) -> None:
        try:
            self._publish(frame, batch)
        except Exception as error:
            self.error = error  # Spark passes on its text only
            raise

    def _publish(self, frame: DataFrame, batch: int) -> None:
        query = self.query_id.result()
        operations = self.client.operations
        operations.reap()
        key = f"stream {query} batch {batch}"
        task = operations.submit(self.dataset, self.actor, key=key)
        if self._is_published(task):
            return
        with collecting_notes():
            note({**self.notes, "stream": query, "batch": batch})
            given = ProgramFrame(frame, self.reads, self.lineage)
            result = self.run_task(task, frame.sparkSession, given)
        self.last = PublishResult(result)
        reached("stream.published")
        self.last.raise_if_blocked()

    def report(self, report: StreamReport) -> None:
        self.client.operations.record_stream(self.dataset, report)

    def _is_published(self, task: str) -> bool:
        """Whether an earlier attempt ended with success; otherwise the next one is queued.

        The run of a killed program ends a little after it, or with its lease.
        """
        operations = self.client.operations
        while (state := operations.resume(task)) is TaskState.RUNNING:
            time.sleep(_LOOK_SECONDS)
            operations.reap()
        return state is TaskState.COMPLETED


class GovernedQuery(StreamingQuery):
    """Spark's query; what ended it is raised as the error of the micro-batch, with its decision."""

    def __init__(self, query: StreamingQuery, publisher: BatchPublisher) -> None:
        super().__init__(query._jsq)
        self._publisher = publisher
        self._reporter = ProgressReporter(query, publisher.report, lambda: publisher.error)
        self._reporter.start()

    @property
    def last_result(self) -> PublishResult | None:
        """Of the last micro-batch that this query ran, published or not; None before the first."""
        return self._publisher.last

    def awaitTermination(self, timeout: int | None = None) -> bool | None:
        with self._explained():
            return super().awaitTermination(timeout)

    def processAllAvailable(self) -> None:
        with self._explained():
            super().processAllAvailable()

    def stop(self) -> None:
        with self._explained():
            super().stop()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """The program may end next, and its reports with it."""
        try:
            yield
        except PySparkException as ended:
            if self._publisher.error is not None:
                raise self._publisher.error from ended
            raise
        finally:
            self._reporter.finish()


def start_query(
    frame: DataFrame,
    publisher: BatchPublisher,
    *,
    checkpoint: str,
    trigger: Mapping[str, Any],
    output_mode: str,
) -> GovernedQuery:
    writer = frame.writeStream.outputMode(output_mode).option("checkpointLocation", checkpoint)
    if trigger:
        writer = writer.trigger(**trigger)
    try:
        query = writer.foreachBatch(publisher.publish).start()
        publisher.query_id.set_result(str(query.id))
    except BaseException as error:
        publisher.query_id.set_exception(error)  # a micro-batch may wait for it
        raise
    return GovernedQuery(query, publisher)
