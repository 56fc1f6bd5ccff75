"""What Spark's progress says of a streaming query, as it is reported."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self, cast

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.sql.streaming.query import StreamingQuery

from lakeguard_sdk.core.enums import StreamState
from lakeguard_sdk.errors import PublishBlocked, PublishFailed
from lakeguard_sdk.model.streams import StreamReport
from openlaketx.notebook.stream_progress import ProgressReporter, parse_progress

KAFKA = {
    "description": "KafkaV2[Subscribe[events]]",
    "startOffset": {"events": {"0": 5, "1": 7}},
    "endOffset": {"events": {"0": 15, "1": 7}},
    "latestOffset": {"events": {"0": 40, "1": 9}},
    "numInputRows": 10,
}


def progress(*sources: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "batchId": 4,
        "timestamp": "2026-01-05T10:00:00.250Z",
        "numInputRows": 10,
        "inputRowsPerSecond": 20.0,
        "processedRowsPerSecond": 40.0,
        "durationMs": {"triggerExecution": 1_500, "addBatch": 1_000},
        "sources": list(sources),
        **fields,
    }


def backlog(source: dict[str, Any]) -> tuple[int | None, str]:
    (found,) = parse_progress(progress(source)).sources
    return found.amount, found.unit


def test_a_micro_batch_ends_when_its_trigger_does() -> None:
    found = parse_progress(progress(KAFKA, eventTime={"max": "2026-01-05T09:59:58.000Z"}))
    assert (found.batch, found.rows, found.seconds) == (4, 10, 1.5)
    assert found.ended_at == datetime(2026, 1, 5, 10, 0, 1, 750_000, tzinfo=UTC)
    assert found.event_time == datetime(2026, 1, 5, 9, 59, 58, tzinfo=UTC)
    assert (found.arriving, found.processing) == (20.0, 40.0)


def test_the_backlog_of_kafka_is_counted_in_offsets() -> None:
    assert backlog(KAFKA) == (27, "offsets")
    assert backlog({**KAFKA, "latestOffset": KAFKA["endOffset"]}) == (0, "offsets")
    new_partition = {"events": {"0": 15, "1": 7, "2": 3}}
    assert backlog({**KAFKA, "latestOffset": new_partition}) == (3, "offsets")


def test_sources_that_count_files_or_bytes_say_so() -> None:
    metrics = {"numBytesOutstanding": "4096", "numFilesOutstanding": "3"}
    assert backlog({**KAFKA, "metrics": metrics}) == (3, "files")
    assert backlog({**KAFKA, "metrics": {"numBytesOutstanding": "4096"}}) == (4096, "bytes")


@pytest.mark.parametrize(
    "offsets",
    [
        {"endOffset": {"logOffset": 3}, "latestOffset": {"logOffset": 9}},
        {"endOffset": {"logOffset": 3}, "latestOffset": None},
        {"endOffset": 3, "latestOffset": 9},
        {"endOffset": None, "latestOffset": None},
        {"endOffset": {}, "latestOffset": {}},
    ],
)
def test_positions_of_other_sources_are_not_counted(offsets: dict[str, Any]) -> None:
    assert backlog({**KAFKA, **offsets}) == (None, "")


def test_a_first_progress_may_lack_what_is_not_known_yet() -> None:
    found = parse_progress({"batchId": 0, "timestamp": "2026-01-05T10:00:00.000Z"})
    assert (found.rows, found.arriving, found.sources) == (0, None, ())


@dataclass
class Shown:
    """A progress of Spark."""

    found: dict[str, Any]

    def json(self) -> str:
        return json.dumps(self.found)


@dataclass
class Query:
    """A streaming query that does what a test says."""

    active: bool = True
    found: dict[str, Any] | None = None
    failure: Exception | None = None
    gone: bool = False
    id: str = "q-1"

    @property
    def isActive(self) -> bool:
        if self.gone:
            raise Py4JNetworkError("no answer")
        return self.active

    @property
    def _jsq(self) -> Self:
        return self

    def recentProgress(self) -> list[Shown]:
        """Spark reports triggers that found no data, too."""
        ended = [] if self.found is None else [Shown(self.found)]
        return [*ended, Shown(progress(batchId=9, durationMs={"triggerExecution": 5}))]

    def exception(self) -> Exception | None:
        return self.failure


@dataclass
class Plane:
    """Takes the reports of one query, unless it is away."""

    query: Query = field(default_factory=Query)
    error: Exception | None = None
    away: bool = False
    reports: list[StreamReport] = field(default_factory=list)

    def __post_init__(self) -> None:
        query = cast(StreamingQuery, self.query)
        self._reporter = ProgressReporter(query, self._take, lambda: self.error)

    def _take(self, report: StreamReport) -> None:
        if self.away:
            raise TimeoutError
        self.reports.append(report)

    def looked(self) -> list[tuple[StreamState, int | None]]:
        """State and micro-batch of the reports that a look adds."""
        before = len(self.reports)
        self._reporter.finish()
        return [
            (each.state, each.progress.batch if each.progress else None)
            for each in self.reports[before:]
        ]


def test_a_query_is_reported_when_something_changes() -> None:
    plane = Plane()
    assert plane.looked() == [(StreamState.RUNNING, None)]
    assert plane.looked() == []
    plane.query.found = progress(KAFKA)
    assert plane.looked() == [(StreamState.RUNNING, 4)]
    assert plane.looked() == []
    plane.query.active = False
    assert plane.looked() == [(StreamState.ENDED, 4)]
    assert plane.looked() == []


def test_a_report_that_is_not_taken_is_sent_again() -> None:
    plane = Plane(away=True)
    plane.query.active = False
    assert plane.looked() == []
    plane.away = False
    assert plane.looked() == [(StreamState.ENDED, None)]


def test_what_ended_a_query_is_reported_without_values_of_rows() -> None:
    blocked = PublishBlocked(dataset="silver.events", reason="too few rows", run="run_1")
    failed = PublishFailed(dataset="silver.events", reason="no disk")
    for error, failure, state, text in (
        (blocked, ValueError("x"), StreamState.BLOCKED, "too few rows"),
        (failed, ValueError("x"), StreamState.FAILED, "no disk"),
        (None, ValueError("a.person@example.com"), StreamState.FAILED, "ValueError"),
    ):
        plane = Plane(Query(active=False, failure=failure), error)
        assert plane.looked() == [(state, None)]
        assert text in plane.reports[0].error
        assert "person" not in plane.reports[0].error


def test_nothing_is_reported_of_a_query_whose_spark_is_gone() -> None:
    plane = Plane(Query(gone=True))
    assert plane.looked() == []
    plane.query.gone = False
    assert plane.looked() == [], "it cannot come back"
