"""Lakes in S3 with the State in PostgreSQL, on a cluster with two workers and on a server of Spark
Connect: the tables are those of a local Spark."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard_sdk.storage.storage import join, storage_for, storage_options
from openlaketx.engine.spark.jars import delta_jars, s3_jars
from tests.cloud.shops import Shop
from tests.runtimes.clusters import running_cluster
from tests.runtimes.connect_servers import running_connect_server
from tests.support.databases.databases import shared_server
from tests.support.lakes.s3_server import S3Server, StorePath

TABLES = (
    "bronze/orders",
    "silver/orders",
    "zones/reports/silver/large_orders",
    "gold/revenue_daily",
)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, s3_server: S3Server, bucket: StorePath) -> Shop:
    """What a Spark of this machine makes."""
    shop = _shop(tmp_path_factory.mktemp("lake") / "here", s3_server, bucket / "of-a-local-spark")
    lived(shop)
    return shop


def test_a_cluster_makes_the_same_tables(
    tmp_path: Path, s3_server: S3Server, store: StorePath, here: Shop
) -> None:
    with running_cluster(tmp_path) as cluster:
        there = _shop(tmp_path / "on-a-cluster", s3_server, store, cluster.settings)
        lived(there.in_processes())
        cluster.assert_every_worker_worked()
    assert_the_same_tables(there, here)


@pytest.mark.exhaustive
def test_a_server_of_spark_connect_makes_the_same_tables(
    tmp_path: Path, s3_server: S3Server, bucket: StorePath, store: StorePath, here: Shop
) -> None:
    """The server has access of its own to the bucket, as an administrator gives it."""
    access = s3_server.options.spark_options(str(bucket).removeprefix("s3://"))
    with running_connect_server(tmp_path, access | delta_options()) as server:
        spark = f'spark.remote = "{server}"\n'
        there = _shop(tmp_path / "over-connect", s3_server, store, spark)
        lived(there.in_processes())
    assert_the_same_tables(there, here)


def delta_options() -> dict[str, str]:
    jars = ",".join(map(str, [*s3_jars(), *delta_jars()]))
    return {
        "spark.jars": jars,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }


def assert_the_same_tables(there: Shop, here: Shop) -> None:
    for table in TABLES:
        assert _rows(there, table) == _rows(here, table), table
        assert not _left(there, table)


def _shop(folder: Path, server: S3Server, lake: StorePath, spark: str = "") -> Shop:
    folder.mkdir()
    schema = f'schema = "state of {folder.name}"\n'
    settings = f'database = "{shared_server().url}"\n{schema}'
    return Shop(folder, server, lake, settings, f"[env.dev.spark]\n{spark}")


def lived(shop: Shop) -> None:
    """A source, SQL and Python; all of it proven."""
    shop.add_python_build()
    assert "4 datasets: 4 promoted" in shop.type("lakeguard run --all")
    shop.type("lakeguard verify --replay")


def _rows(shop: Shop, table: str) -> Counter[str]:
    place = join(shop.lake, table)
    found = DeltaTable(place, storage_options=storage_options(place)).to_pyarrow_table()
    return Counter(map(repr, found.to_pylist()))


def _left(shop: Shop, table: str) -> list[str]:
    """Logs of the tables that Spark wrote a batch as."""
    runs = join(shop.lake, table, "runs")
    return [f.path for f in storage_for(runs).files_under(runs) if "_delta_log" in f.path]
