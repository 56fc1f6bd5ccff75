"""Builds claimed from the queue end in time, or are released to another worker."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import Fenced, NotRegistered
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import RunPlan, RunResult, RunTicket
from openlaketx.worker import SparkWorker, create_worker
from tests.support.lakes.plain_runs import PlainRuns
from tests.support.lakes.plans import DATASET, csv, schema, write_files

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


class Unopened(PlainRuns):
    """No run can be opened."""

    error: Exception = NotRegistered(dataset="bronze.gone")

    def open_claimed(self, ticket: RunTicket) -> RunPlan | RunResult:
        raise self.error


class Taken(PlainRuns):
    """Every opened run is fenced by another worker."""

    def heartbeat(self, ticket: RunTicket) -> float:
        raise Fenced(run=ticket.run_id, reason="another goes on with it")


def ticket() -> RunTicket:
    return RunTicket(run_id=new_id("run"), task_id="task_7", attempt=2, lease_token="token")


def make(kind: type[PlainRuns], lake: Path) -> PlainRuns:
    write_files(lake, a="id,name\n1,one\n2,two\n")
    return kind(lake, DATASET, schema(id="long", name="string"), csv(), LoadType.APPEND)


def worker(runs: PlainRuns) -> SparkWorker:
    return create_worker(runs.client(), spark_options={})


def test_a_claimed_build_is_run_under_its_ticket(tmp_path: Path) -> None:
    runs = make(PlainRuns, tmp_path)
    own = ticket()
    result = worker(runs).run_claimed(own, within=600)
    assert (result.run_id, result.version) == (own.run_id, 1)
    assert runs.evidence[-1].run_id == own.run_id


def test_the_end_of_its_time_is_a_failure_that_may_pass(tmp_path: Path) -> None:
    runs = make(PlainRuns, tmp_path)

    def linger(evidence: Evidence) -> bool:
        time.sleep(1.5)
        return True

    runs.allow = linger
    spark_worker = worker(runs)
    result = spark_worker.run_claimed(ticket(), within=1)
    assert result.status is RunStatus.FAILED
    (failure,) = runs.failures
    assert (failure.code, failure.retryable) == ("LG-5655", True)
    assert failure.message == f"{DATASET} timed out after 1 s"
    assert runs.seq == 0
    runs.allow = lambda evidence: True
    assert spark_worker.run_claimed(ticket(), within=600).version == 1


def test_the_lease_is_kept_while_spark_starts(tmp_path: Path, spark: SparkSession) -> None:
    runs = make(PlainRuns, tmp_path)
    runs.lease_seconds = 0.4
    seen: list[int] = []

    def cold_start() -> SparkSession:
        time.sleep(1.0)
        seen.append(runs.beats)
        return spark

    result = SparkWorker(runs.client(), cold_start).run_task("task_7")
    assert seen[0] >= 2
    assert result.version == 1


def test_a_lease_that_is_lost_while_spark_starts_ends_the_run(
    tmp_path: Path, spark: SparkSession
) -> None:
    runs = make(Taken, tmp_path)
    runs.lease_seconds = 0.4

    def cold_start() -> SparkSession:
        time.sleep(0.5)
        return spark

    SparkWorker(runs.client(), cold_start).run_claimed(ticket())
    assert [failure.code for failure in runs.failures] == ["LG-4003"]
    assert runs.live == []  # nothing was read


def test_a_worker_that_is_stopped_leaves_its_builds_to_others(tmp_path: Path) -> None:
    runs = make(PlainRuns, tmp_path)
    spark_worker = worker(runs)

    def stop(evidence: Evidence) -> bool:
        spark_worker.stop()
        return True

    runs.allow = stop
    for _ in range(2):  # under way, and not even begun
        with pytest.raises(KeyboardInterrupt):
            spark_worker.run_claimed(ticket())
    assert [(each.code, each.retryable) for each in runs.failures] == [("LG-5658", True)] * 2
    assert runs.seq == 0


def test_what_cannot_be_opened_has_failed(tmp_path: Path) -> None:
    runs = make(Unopened, tmp_path)
    result = worker(runs).run_claimed(ticket())
    assert result.error is not None
    assert (result.status, result.error.code) == (RunStatus.FAILED, "LG-1003")


def test_what_others_have_ended_is_left_alone(tmp_path: Path) -> None:
    runs = make(Unopened, tmp_path)
    assert isinstance(runs, Unopened)
    runs.error = Fenced(run="run_7", reason="it is canceled")
    with pytest.raises(Fenced):
        worker(runs).run_claimed(ticket())
    assert runs.failures == []
