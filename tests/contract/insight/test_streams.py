"""What is known of streaming queries, from the last report of each."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeguard.insight.reader.reader import StateReader
from lakeguard.ledger.streams import SHOWN, SILENCE
from lakeguard.promotion.context import PlaneContext
from lakeguard.services.ports.operations import EmbeddedOperations
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import LoadType, StreamState
from lakeguard_sdk.errors import NotRegistered
from lakeguard_sdk.model.run import WorkerIdentity
from lakeguard_sdk.model.streams import Backlog, StreamProgress, StreamReport, StreamStatus
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.fakes.memory_tables import MemoryTables
from tests.support.projects.planes import NUMBERS, Clock, make_context, numbers_definitions
from tests.support.projects.projects import numbers_project

ON_EACH_STATE = pytest.mark.usefixtures("each_state")

ELSEWHERE = WorkerIdentity(name="openlaketx", host="elsewhere", pid=7, process_mark="")


def progress(batch: int, source: str = "KafkaV2[Subscribe[events]]") -> StreamProgress:
    return StreamProgress(
        batch=batch,
        ended_at=datetime(2026, 1, 5, tzinfo=UTC),
        seconds=0.5,
        rows=10,
        sources=(Backlog(source=source, rows=10, amount=3, unit="offsets"),),
    )


def report(query: str, state: StreamState = StreamState.RUNNING, **fields: object) -> StreamReport:
    known = {"query_id": query, "state": state, "process": this_process("test"), **fields}
    return StreamReport.model_validate(known)


def streams(client: Client) -> tuple[StreamStatus, ...]:
    (found,) = [each for each in client.reader.status() if each.dataset.dataset_name == NUMBERS]
    return found.streams


@ON_EACH_STATE
def test_the_last_report_of_a_query_counts(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    assert streams(client) == ()
    record = client.operations.record_stream
    record(NUMBERS, report("a", progress=progress(1)))
    record(NUMBERS, report("a", progress=progress(2)))
    (stream,) = streams(client)
    assert (stream.query_id, stream.state, stream.lost) == ("a", StreamState.RUNNING, "")
    assert stream.progress == progress(2)

    record(NUMBERS, report("a", StreamState.BLOCKED, error="not allowed"))
    (stream,) = streams(client)
    assert (stream.state, stream.error) == (StreamState.BLOCKED, "not allowed")
    assert stream.progress == progress(2), "of the program before"
    with pytest.raises(NotRegistered):
        record(DatasetName("silver.nowhere"), report("a"))


@ON_EACH_STATE
def test_queries_that_ended_make_room_for_others(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    for query, state in (
        ("first", StreamState.ENDED),
        ("second", StreamState.FAILED),
        ("third", StreamState.ENDED),
        ("fourth", StreamState.RUNNING),
    ):
        client.operations.record_stream(NUMBERS, report(query, state))
    assert [stream.query_id for stream in streams(client)] == ["fourth", "second"]


def test_passwords_in_the_address_of_a_source_are_masked(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    given = progress(1, source="Source[jdbc://shop?password=hunter2]")
    client.operations.record_stream(NUMBERS, report("a", progress=given))
    (stream,) = streams(client)
    assert "hunter2" not in stream.to_json()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def context(tmp_path: Path, clock: Clock) -> PlaneContext:
    return make_context(tmp_path, MemoryTables(), clock, numbers_definitions(LoadType.FULL))


def seen(context: PlaneContext) -> tuple[StreamStatus, ...]:
    (status,) = StateReader(context, context.lake).status()
    return status.streams


def test_a_query_without_reports_is_lost_and_later_forgotten(
    context: PlaneContext, clock: Clock
) -> None:
    EmbeddedOperations(context).record_stream(NUMBERS, report("a", process=ELSEWHERE))
    clock.pass_time(SILENCE.total_seconds() / 2)
    assert [stream.lost for stream in seen(context)] == [""]
    clock.pass_time(SILENCE.total_seconds())
    assert [stream.lost for stream in seen(context)] == ["no report from elsewhere"]
    clock.pass_time(SHOWN.total_seconds())
    assert seen(context) == ()


def test_a_query_whose_process_died_here_is_lost_at_once(context: PlaneContext) -> None:
    dead = this_process("test").model_copy(update={"pid": _ended_process()})
    record = EmbeddedOperations(context).record_stream
    record(NUMBERS, report("a", process=dead))
    (stream,) = seen(context)
    assert stream.lost == f"its process {dead.pid} on {dead.host} is gone"
    record(NUMBERS, report("a", StreamState.ENDED, process=dead))
    (stream,) = seen(context)
    assert stream.lost == ""


def _ended_process() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid
