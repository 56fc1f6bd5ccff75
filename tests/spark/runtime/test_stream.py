"""A governed table as the sink of a streaming query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import openlaketx
from lakeguard_sdk import DatasetName
from lakeguard_sdk.core.enums import LoadType, RunStatus, StreamState
from lakeguard_sdk.errors import BuiltByRuns, NotPublishable, PublishBlocked, WrongArgument
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.streams import StreamStatus
from openlaketx.notebook.stream import GovernedQuery
from tests.support.projects.definitions import rule, shop
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.spark
EVENTS = DatasetName("silver.events")
ONCE = {"availableNow": True}


class Stream:
    """A folder of files, one of them for each micro-batch, and the query that reads it."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.folder = folder
        self.landing = folder / "landing"
        self.checkpoint = folder / "checkpoint"
        self.spark = spark
        self.landing.mkdir(parents=True)
        make_project(folder / "lake", Definitions())
        self.tx = openlaketx.connect(folder / "lake")

    def define(self, load: Load, *rules: str) -> None:
        columns = (
            ColumnDefinition(name="n", type="bigint"),
            ColumnDefinition(name="word", type="string"),
        )
        events = DatasetDefinition(
            dataset=EVENTS,
            domain="shop",
            owner="sales",
            build=FromFrame(),
            load=load,
            columns=columns,
            rules=tuple(map(rule, rules)),
        )
        registry = self.tx._client.registry
        registry.apply(registry.plan(Definitions(datasets=(events,))))

    def land(self, number: int, *rows: tuple[int, str]) -> None:
        lines = (json.dumps({"n": n, "word": word}) for n, word in rows)
        (self.landing / f"{number:04}.json").write_text("\n".join(lines) + "\n")

    def frame(self) -> DataFrame:
        reader = self.spark.readStream.schema("n long, word string")
        return reader.option("maxFilesPerTrigger", 1).json(str(self.landing))

    def start(self, frame: DataFrame | None = None, **given: Any) -> GovernedQuery:
        usual: dict[str, Any] = {"checkpoint": self.checkpoint, "trigger": ONCE}
        return self.tx.stream(EVENTS, frame or self.frame(), **{**usual, **given})

    def drain(self, frame: DataFrame | None = None, **given: Any) -> GovernedQuery:
        query = self.start(frame, **given)
        query.awaitTermination()
        return query

    def forget_end(self, batch: int) -> None:
        """As if the program had died before Spark recorded the end of the micro-batch."""
        for name in (f"{batch}", f".{batch}.crc"):
            (self.checkpoint / "commits" / name).unlink(missing_ok=True)

    @property
    def rows(self) -> list[tuple[int, str]]:
        return sorted(tuple(row) for row in self.tx.read(self.spark, EVENTS).collect())

    @property
    def reported(self) -> StreamStatus:
        (status,) = self.tx._client.reader.status()
        (stream,) = status.streams
        return stream

    @property
    def versions(self) -> list[int]:
        return sorted(row.version for row in self.tx._client.reader.versions(EVENTS))

    @property
    def runs(self) -> list[RunRow]:
        return list(reversed(self.tx._client.reader.runs(EVENTS)))


@pytest.fixture
def stream(tmp_path: Path, spark: SparkSession) -> Stream:
    return Stream(tmp_path, spark)


def test_every_micro_batch_is_a_version_and_is_published_once(stream: Stream) -> None:
    stream.land(1, (1, "a"), (2, "b"))
    stream.land(2, (3, "c"))
    query = stream.drain(notes={"team": "shop"})
    assert stream.rows == [(1, "a"), (2, "b"), (3, "c")]
    assert stream.versions == [1, 2]
    assert query.last_result is not None
    assert (query.last_result.status, query.last_result.version) == (RunStatus.SUCCESS, 2)
    latest = max(stream.tx._client.reader.versions(EVENTS), key=lambda row: row.version)
    assert latest.notes == {"team": "shop", "stream": str(query.id), "batch": 1}

    stream.forget_end(1)
    stream.land(3, (4, "d"))
    again = stream.drain()
    assert again.id == query.id
    assert stream.rows == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    assert stream.versions == [1, 2, 3]
    assert len({run.task_id for run in stream.runs}) == len(stream.runs) == 3


def test_a_blocked_micro_batch_ends_the_query_and_is_repeated(stream: Stream) -> None:
    stream.define(Load(type=LoadType.APPEND), "range(n, min=0)")
    stream.land(1, (1, "a"))
    stream.land(2, (-2, "b"), (3, "c"))
    stream.land(3, (4, "d"))
    query = stream.start()
    with pytest.raises(PublishBlocked, match=r"range\(n, min=0\)|range.n") as reported:
        query.awaitTermination()
    assert not query.isActive
    assert query.last_result is not None
    assert query.last_result.decision is not None
    assert not query.last_result.decision.allowed
    assert reported.value.next_step == f"lakeguard why {query.last_result.run.run_id}"
    assert stream.rows == [(1, "a")]

    with pytest.raises(PublishBlocked):
        stream.drain()
    assert stream.rows == [(1, "a")]
    blocked = [run for run in stream.runs if run.status is RunStatus.BLOCKED]
    assert [run.attempt for run in blocked] == [1, 2]
    assert len({run.task_id for run in blocked}) == 1

    stream.define(Load(type=LoadType.APPEND), "range(n, min=-5)")
    stream.drain()
    assert stream.rows == [(-2, "b"), (1, "a"), (3, "c"), (4, "d")]
    assert stream.versions == [1, 2, 3]


def test_rows_that_fail_a_quarantine_rule_stop_nothing(stream: Stream) -> None:
    stream.define(Load(type=LoadType.APPEND), "range(n, min=0) on_fail quarantine")
    stream.land(1, (1, "a"), (-2, "b"))
    stream.land(2, (3, "c"))
    stream.drain()
    assert stream.rows == [(1, "a"), (3, "c")]
    (entry,) = stream.tx._client.reader.quarantine(EVENTS)
    assert entry.rows == 1


def test_the_query_is_reported_with_its_last_micro_batch(stream: Stream) -> None:
    stream.define(Load(type=LoadType.APPEND), "range(n, min=0)")
    stream.land(1, (1, "a"), (2, "b"))
    query = stream.drain()
    ended = stream.reported
    assert (ended.query_id, ended.state) == (str(query.id), StreamState.ENDED)
    assert ended.progress is not None
    assert (ended.progress.batch, ended.progress.rows) == (0, 2)
    (source,) = ended.progress.sources
    assert source.source.startswith("FileStreamSource")

    running = stream.start(trigger={"processingTime": "1 hour"})
    running.processAllAvailable()
    assert (stream.reported.state, stream.reported.lost) == (StreamState.RUNNING, "")
    running.stop()
    assert stream.reported.state is StreamState.ENDED

    stream.land(2, (-2, "b"))
    with pytest.raises(PublishBlocked):
        stream.drain()
    blocked = stream.reported
    assert blocked.state is StreamState.BLOCKED
    assert "range.n" in blocked.error
    assert blocked.progress == ended.progress, "the last that ended"


def test_a_micro_batch_without_rows_makes_no_version(stream: Stream) -> None:
    stream.land(1, (1, "a"))
    stream.land(2, (-2, "b"))
    stream.land(3, (3, "c"))
    stream.drain(stream.frame().where("n > 0"))
    assert stream.rows == [(1, "a"), (3, "c")]
    assert stream.versions == [1, 2]
    assert [run.status for run in stream.runs] == [RunStatus.SUCCESS] * 3


def test_keyed_loads_merge_micro_batches(stream: Stream) -> None:
    stream.define(Load(type=LoadType.INCREMENTAL, keys=("n",)))
    stream.land(1, (1, "a"), (2, "b"))
    stream.land(2, (2, "B"), (3, "c"))
    stream.drain()
    assert stream.rows == [(1, "a"), (2, "B"), (3, "c")]
    assert stream.versions == [1, 2]


def test_complete_mode_replaces_the_table(stream: Stream) -> None:
    stream.define(Load(type=LoadType.FULL))
    counted = stream.frame().groupBy("word").count().selectExpr("`count` AS n", "word")
    for mode in ("append", "update"):
        with pytest.raises(NotPublishable, match='output_mode="complete"'):
            stream.start(counted, output_mode=mode)
    stream.land(1, (1, "a"), (2, "b"))
    stream.land(2, (3, "a"))
    stream.drain(counted, output_mode="complete")
    assert stream.rows == [(1, "b"), (2, "a")]
    assert stream.versions == [1, 2]


def test_what_cannot_be_streamed(stream: Stream) -> None:
    given: dict[str, Any] = {"checkpoint": stream.checkpoint}
    with pytest.raises(WrongArgument):
        stream.tx.stream(EVENTS, None, **given)  # type: ignore[arg-type]
    with pytest.raises(NotPublishable, match=r"use tx\.publish"):
        stream.tx.stream(EVENTS, stream.spark.range(3), **given)
    with pytest.raises(NotPublishable, match=r"use tx\.stream"):
        stream.tx.publish(EVENTS, stream.frame())
    with pytest.raises(NotPublishable, match="needs another output mode"):
        stream.start(output_mode="complete")
    with pytest.raises(NotPublishable, match="a checkpoint"):
        stream.start(checkpoint=" ")
    assert not stream.tx._client.reader.datasets(), "nothing is registered"
    registry = stream.tx._client.registry
    registry.apply(registry.plan(shop()))
    with pytest.raises(BuiltByRuns):
        stream.tx.stream("bronze.orders", stream.frame(), **given)


def test_sources_of_a_stream_are_unknown_and_what_it_is_joined_with_is_an_input(
    stream: Stream,
) -> None:
    """Spark shows the rows of a micro-batch without their sources."""
    words = stream.spark.createDataFrame([("a", "A"), ("b", "B")], "word string, large string")
    stream.tx.publish("bronze.words", words).raise_if_blocked()
    read = stream.tx.read(stream.spark, "bronze.words")
    stream.land(1, (1, "a"))
    joined = stream.frame().join(read, "word").selectExpr("n", "large AS word")
    query = stream.drain(joined)
    assert stream.rows == [(1, "A")]
    assert query.last_result is not None
    assert [str(item.dataset) for item in query.last_result.run.inputs] == ["bronze.words"]
    columns = stream.tx._client.reader.column_lineage(EVENTS)
    assert {(item.column, item.input_column) for item in columns} == {("n", None), ("word", None)}
