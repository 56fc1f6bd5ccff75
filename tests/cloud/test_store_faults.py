"""Whole runs on a store with faults: nothing is lost or doubled, and errors say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import CredentialsExpired, StoreUnavailable
from lakeguard_sdk.model.run import Failure
from openlaketx.engine.spark.session import spark_session
from tests.cloud.shops import Shop
from tests.cloud.test_loads import BATCHES, COLUMNS
from tests.support.cases.load_variants import VARIANTS
from tests.support.fakes.store_proxy import (
    Request,
    StoreProxy,
    always,
    every,
    store_proxy,
)
from tests.support.lakes.loaded_tables import TABLE, LoadedTable
from tests.support.lakes.s3_server import ACCESS_KEY, SECRET_KEY, S3Server, StorePath
from tests.support.projects.projects import settings_added

FAULTS = {"lost": 9, "silent": 25, "trickled": 3}
"""One of so many requests has the fault."""
ATTEMPTS = 5


@pytest.fixture(scope="module")
def proxy(s3_server: S3Server) -> Iterator[StoreProxy]:
    with store_proxy(s3_server.endpoint) as made:
        yield made


@pytest.fixture(scope="module")
def faulty(proxy: StoreProxy, s3_server: S3Server) -> StorePath:
    """A bucket that is reached through the proxy."""
    return s3_server.new_bucket("faulty")


@pytest.fixture(scope="module")
def spark(proxy: StoreProxy, s3_server: S3Server, faulty: StorePath) -> SparkSession:
    """It may have been started for other buckets: what it knows of this one is added."""
    made = spark_session(s3_server.options.spark_options("lakes"), delta=True)
    there = S3Server(proxy.endpoint, s3_server.folder).options.spark_options("faulty")
    settings = made._jsc.hadoopConfiguration()
    for name, value in there.items():
        settings.set(name.removeprefix("spark.hadoop."), value)
    settings.set("fs.s3a.bucket.faulty.connection.timeout", "2s")
    return made


@pytest.fixture
def in_store(
    spark: SparkSession,
    proxy: StoreProxy,
    s3_server: S3Server,
    faulty: StorePath,
    tmp_path: Path,
) -> Iterator[Path]:
    behind = S3Server(proxy.endpoint, s3_server.folder)
    limits = "timeout_seconds = 2\nretry_seconds = 4\n"
    with settings_added(behind.settings_of(faulty / tmp_path.name) + limits):
        yield tmp_path / "project"


def is_data(request: Request) -> bool:
    return request.method == "PUT" and request.path.endswith(".parquet")


def discreet(failure: Failure | None) -> Failure:
    """A failure that contains no key."""
    assert failure is not None
    for key in (ACCESS_KEY, SECRET_KEY, "Signature"):
        assert key not in failure.message
    return failure


def promoted(table: LoadedTable) -> None:
    """Run until it succeeds, as a worker would."""
    for _ in range(ATTEMPTS):
        result = table.run()
        if result.status is RunStatus.SUCCESS:
            return
        assert discreet(result.error).retryable, result.error
    raise AssertionError(result)


def assert_whole(table: LoadedTable, versions: int) -> None:
    found = sorted(version.version for version in table.client.reader.versions(TABLE))
    assert found == list(range(1, versions + 1))
    assert table.client.ledger.verify(replay=True).findings == ()


_LONG = ("silent", "trickled")


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=pytest.mark.exhaustive if fault in _LONG else ())
        for fault in FAULTS
    ],
)
def test_every_batch_arrives_once(fault: str, in_store: Path, proxy: StoreProxy) -> None:
    """The first batch makes the table, the second is merged into it."""
    table = LoadedTable(in_store, VARIANTS[LoadType.INCREMENTAL]["parts"], COLUMNS)
    for batch in BATCHES[:2]:
        table.land(batch)
        with proxy.with_fault(every(fault, FAULTS[fault])):
            promoted(table)
    assert proxy.faults[fault]
    shown = sorted((row["k"], row["v"]) for row in table.by_duckdb())
    assert shown == [("a1", "changed"), ("a2", "two"), ("b1", "three"), ("c1", "new")]
    assert_whole(table, versions=2)


@pytest.mark.parametrize(
    ("fault", "error"),
    [("503", StoreUnavailable), ("expired", CredentialsExpired)],
)
def test_a_store_that_refuses_in_the_middle_fails_the_run(
    fault: str, error: type[StoreUnavailable], in_store: Path, proxy: StoreProxy
) -> None:
    table = LoadedTable(in_store, VARIANTS[LoadType.APPEND]["plain"], COLUMNS)
    table.land(BATCHES[0])
    with proxy.with_fault(always(fault, is_data)):
        failed = table.run()
    found = discreet(failed.error)
    assert (found.code, found.retryable) == (error.code, error.retryable)
    assert table.client.reader.versions(TABLE) == []
    promoted(table)
    assert len(table.by_duckdb()) == len(BATCHES[0])
    assert_whole(table, versions=1)


def test_a_command_names_the_next_one_when_the_store_is_away(
    tmp_path: Path, proxy: StoreProxy, s3_server: S3Server
) -> None:
    behind, away = S3Server(proxy.endpoint, s3_server.folder), s3_server.new_bucket("away")
    limits = "timeout_seconds = 1\nretry_seconds = 1\n"
    shop = Shop(tmp_path, behind, away / tmp_path.name, tables=limits)
    shop.type("lakeguard apply")
    with proxy.with_fault(always("503", lambda _: True)):
        told = shop.refused("lakeguard verify")
        assert StoreUnavailable.code in told
        assert f"Next: {StoreUnavailable.next_command}" in told
        assert ACCESS_KEY not in told
    shop.type("lakeguard verify")
