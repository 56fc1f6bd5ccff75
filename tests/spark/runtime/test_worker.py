"""Runs from open to end: published, blocked, unchanged, failed, fenced."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from py4j.protocol import Py4JNetworkError
from pyspark import InheritableThread
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, RunStatus, Scope
from lakeguard_sdk.errors import Fenced, TableBusy
from lakeguard_sdk.expressions.conditions import ColumnRef, IsNull
from lakeguard_sdk.expressions.measures import (
    CountIf,
    DuplicateRows,
    RowCount,
    measure_key,
)
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import (
    Intent,
    RunResult,
    RunTicket,
    SchemaVerdict,
)
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.delta_table import live_files
from openlaketx.worker import create_worker
from tests.support.fakes.killed_at import meanwhile
from tests.support.lakes.plain_runs import PlainRuns
from tests.support.lakes.plans import DATASET, csv, schema, write_files
from tests.unit.openlaketx.governed import create_governed

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
ROOT = Path(__file__).parents[3]
DECLARED = schema(id="long", name="string")
ID = ColumnRef(name="id", type="long")
MEASURES = (
    RowCount(),
    RowCount(scope=Scope.TABLE),
    CountIf(condition=IsNull(of=ID)),
    DuplicateRows(columns=(ID,)),
)


@pytest.fixture
def runs(tmp_path: Path) -> PlainRuns:
    return make(PlainRuns, tmp_path)


def make(kind: type[PlainRuns], lake: Path) -> PlainRuns:
    write_files(lake, a="id,name\n1,one\n2,two\n")
    return kind(lake, DATASET, DECLARED, csv(), LoadType.APPEND, MEASURES)


def run(runs: PlainRuns, stages: list[str] | None = None) -> RunResult:
    described = (lambda stage, facts: stages.append(stage)) if stages is not None else None
    return create_worker(runs.client(), spark_options={}, progress=described).run_task("task_1")


def measured(runs: PlainRuns) -> list[Any]:
    return [runs.evidence[-1].measures[measure_key(measure)] for measure in MEASURES]


def test_appends_build_on_each_other_and_full_loads_replace(
    runs: PlainRuns, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stages: list[str] = []
    assert run(runs, stages).version == 1
    assert stages == ["extract", "schema", "stage", "measure", "decide", "publish"]
    first = runs.evidence[-1]
    assert (first.rows, first.table_rows, first.base_commit, first.removes) == (2, 2, None, ())
    assert measured(runs) == [2, 2, 0, 0]

    runs.continue_source(first.position)
    assert (run(runs).version, len(runs.evidence)) == (None, 1)

    write_files(tmp_path, b="id,name\n2,again\n,nobody\n")
    assert run(runs).version == 2
    second = runs.evidence[-1]
    assert (second.rows, second.table_rows, second.base_commit) == (2, 4, 1)
    assert measured(runs) == [2, 4, 1, 2]
    assert first.build_hash == second.build_hash

    runs.load = LoadType.FULL
    before = set(live_files(DeltaTable(runs.location)))
    assert run(runs).version == 3
    third = runs.evidence[-1]
    assert (set(third.removes), third.rows, third.table_rows) == (before, 4, 4)
    assert set(live_files(DeltaTable(runs.location))) == {file.path for file in third.files}
    assert capfd.readouterr() == ("", "")


def test_a_blocked_run_leaves_the_table_as_it_is(runs: PlainRuns) -> None:
    runs.allow = lambda evidence: False
    result = run(runs)
    assert (result.status, result.rows) == (RunStatus.BLOCKED, 2)
    assert result.decision is not None
    assert not DeltaTable.is_deltatable(runs.location)
    staged = [Path(runs.location, file.path) for file in runs.evidence[-1].files]
    assert all(file.exists() for file in staged)


@pytest.mark.parametrize(
    ("content", "code", "about"),
    [
        ("id,name\n1\n", "LG-5003", "in/a.csv: line 2 has 1 field instead of 2"),
        ("id,name\n1.5,x\n", "LG-5003", "column id: '1.5' is not a valid long"),
        ("id\n1\n", "LG-5010", "column 'name' is missing"),
    ],
)
def test_a_run_that_cannot_finish_says_so_in_one_line(
    runs: PlainRuns,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    content: str,
    code: str,
    about: str,
) -> None:
    write_files(tmp_path, a=content)
    result = run(runs)
    assert result.status is RunStatus.FAILED
    assert result.error == runs.failures[-1]
    assert result.error.code == code
    assert about in result.error.message
    assert "\n" not in result.error.message
    assert capfd.readouterr() == ("", "")


def test_a_table_that_moved_is_told_as_worth_another_try(tmp_path: Path) -> None:
    class Busy(PlainRuns):
        def begin_move(self, ticket: RunTicket) -> Intent:
            raise TableBusy(dataset=self.dataset, holder="run_9")

    result = run(make(Busy, tmp_path))
    assert result.error is not None
    assert (result.error.code, result.error.retryable) == ("LG-4001", True)


def test_a_commit_that_came_in_between_is_retryable_and_not_absorbed(runs: PlainRuns) -> None:
    create_governed(runs.location, DECLARED)

    def rogue() -> None:
        DeltaTable(runs.location).alter.set_table_properties({"delta.checkpointInterval": "11"})

    with meanwhile("publish.before_commit", rogue):
        result = run(runs)
    assert result.error is not None
    assert (result.error.code, result.error.retryable) == ("LG-4002", True)
    assert live_files(DeltaTable(runs.location)) == {}


def test_a_run_that_lost_its_lease_stops_before_it_commits(tmp_path: Path) -> None:
    lost = threading.Event()

    class Losing(PlainRuns):
        def heartbeat(self, ticket: RunTicket) -> float:
            lost.set()
            raise Fenced(run=ticket.run_id, reason="another attempt runs")

    runs = make(Losing, tmp_path)
    runs.lease_seconds = 0.2
    with meanwhile("measure.taken", lambda: lost.wait(30)):
        result = run(runs)
    assert (result.status, runs.evidence) == (RunStatus.FAILED, [])
    assert result.error is not None
    assert result.error.code == "LG-4003"
    assert not DeltaTable.is_deltatable(runs.location)


def test_losing_the_lease_stops_spark_in_the_middle_of_its_work(
    spark: SparkSession, tmp_path: Path
) -> None:
    class Losing(PlainRuns):
        def heartbeat(self, ticket: RunTicket) -> float:
            if not spark.sparkContext.statusTracker().getJobIdsForGroup(ticket.run_id):
                return 0.4
            raise Fenced(run=ticket.run_id, reason="its lease is over")

    runs = make(Losing, tmp_path)
    write_files(tmp_path, a="id,name\n" + "1,x\n" * 3_000_000)
    runs.lease_seconds = 0.4
    result = run(runs)
    assert result.error is not None
    assert result.error.code == "LG-4003"
    assert runs.evidence == []
    assert not list(Path(runs.location).rglob("_SUCCESS"))


def test_a_lease_lost_before_the_write_begins_lets_it_write_nothing(tmp_path: Path) -> None:
    lost = threading.Event()

    class Losing(PlainRuns):
        def heartbeat(self, ticket: RunTicket) -> float:
            lost.set()
            raise Fenced(run=ticket.run_id, reason="its lease is over")

        def submit_schema(
            self, ticket: RunTicket, live: TableSchema, lineage: BatchLineage | None = None
        ) -> SchemaVerdict:
            assert lost.wait(30)
            return super().submit_schema(ticket, live, lineage)

    runs = make(Losing, tmp_path)
    runs.lease_seconds = 0.1
    result = run(runs)
    assert result.error is not None
    assert result.error.code == "LG-4003"
    assert not list(Path(runs.location).rglob("*.parquet"))


def long_work(spark: SparkSession) -> None:
    """Minutes, on any machine."""
    spark.range(10**12).selectExpr("max(hash(id))").collect()


def test_losing_the_lease_stops_what_is_not_a_write_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    begun, ended = threading.Event(), threading.Event()

    class Losing(PlainRuns):
        def heartbeat(self, ticket: RunTicket) -> float:
            if not begun.is_set():
                return 0.4
            raise Fenced(run=ticket.run_id, reason="its lease is over")

    def work() -> None:
        begun.set()
        long_work(spark)
        ended.set()

    runs = make(Losing, tmp_path)
    runs.lease_seconds = 0.4
    with meanwhile("measure.taken", work):
        result = run(runs)
    assert result.error is not None
    assert result.error.code == "LG-4003"
    assert not ended.is_set()


def test_a_failed_run_stops_jobs_that_it_starts_later(spark: SparkSession, runs: PlainRuns) -> None:
    """As when an interrupt comes between two jobs of one query: the JVM goes on with the second."""
    failed, ended = threading.Event(), threading.Event()

    def later() -> None:
        failed.wait()
        with pytest.raises(Exception, match="cancelled"):
            long_work(spark)
        ended.set()

    thread: Any = InheritableThread(target=later, session=spark, daemon=True)

    def work() -> None:
        thread.start()
        raise KeyboardInterrupt

    with meanwhile("measure.taken", work), pytest.raises(KeyboardInterrupt):
        run(runs)
    failed.set()
    assert ended.wait(60)


def test_a_failed_run_stops_its_jobs_though_the_jvm_closes_connections(
    spark: SparkSession, runs: PlainRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an interrupt, when py4j has the JVM close new connections, too."""
    context: Any = spark.sparkContext
    client = context._gateway._gateway_client
    own, connect, ended = threading.current_thread(), client._create_new_connection, []
    closed = iter(range(3))

    def connect_again() -> Any:
        if threading.current_thread() is own and next(closed, None) is not None:
            raise Py4JNetworkError("Answer from Java side is empty")
        return connect()

    def job() -> None:
        with pytest.raises(Exception, match="cancelled"):
            long_work(spark)
        ended.append(True)

    thread: Any = InheritableThread(target=job, session=spark, daemon=True)

    def work() -> None:
        thread.start()
        while not context.statusTracker().getActiveJobsIds():
            time.sleep(0.05)
        monkeypatch.setattr(client, "_create_new_connection", connect_again)
        client.get_thread_connection().close()
        raise KeyboardInterrupt

    with meanwhile("measure.taken", work), pytest.raises(KeyboardInterrupt):
        run(runs)
    thread.join(60)
    assert ended
    assert next(closed, None) is None


def test_a_run_leaves_the_job_group_of_its_thread_as_it_was(
    spark: SparkSession, runs: PlainRuns
) -> None:
    context: Any = spark.sparkContext
    seen: list[str] = []
    context.setJobGroup("mine", "of my own")
    try:
        with meanwhile(
            "measure.taken", lambda: seen.append(context.getLocalProperty("spark.jobGroup.id"))
        ):
            run_id = run(runs).run_id
        found = [
            context.getLocalProperty(f"spark.{key}") for key in ("jobGroup.id", "job.description")
        ]
    finally:
        for key in ("jobGroup.id", "job.description", "job.interruptOnCancel"):
            context.setLocalProperty(f"spark.{key}", None)
    assert (seen, found) == ([run_id], ["mine", "of my own"])


INTERRUPTED = """
import os, signal, sys, threading
from pathlib import Path
from openlaketx.engine.spark.session import spark_session
from tests.support.lakes.plain_runs import PlainRuns
from tests.spark.runtime.test_worker import long_work, make, run
from tests.support.fakes.killed_at import meanwhile

spark = spark_session({})
signal.signal(signal.SIGINT, signal.default_int_handler)

def work():
    threading.Timer(3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    long_work(spark)

runs = make(PlainRuns, Path(sys.argv[1]))
try:
    with meanwhile("measure.taken", work):
        run(runs)
except KeyboardInterrupt:
    print("interrupted", [failure.message for failure in runs.failures])
print(spark.range(5).count(), spark.sparkContext.getLocalProperty("spark.jobGroup.id"))
print(spark.range(7).count(), spark.sparkContext.statusTracker().getActiveJobsIds())
"""


def test_an_interrupt_stops_spark_at_once_and_leaves_the_session_whole(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.stdout.splitlines() == [
        "interrupted ['the run of bronze.orders was interrupted']",
        "5 None",
        "7 []",
    ], done.stderr[-3000:]
