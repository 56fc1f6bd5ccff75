"""Everything apart: a cluster with two workers, a lake in S3, the State in PostgreSQL."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from deltalake import DeltaTable

from lakeguard_sdk.storage.storage import join, storage_for, storage_options
from tests.cloud.shops import Shop
from tests.runtimes.clusters import running_cluster
from tests.support.databases.databases import shared_server
from tests.support.lakes.s3_server import S3Server, StorePath

TABLES = ("bronze/orders", "silver/orders", "gold/revenue_daily")


def test_a_cluster_makes_the_same_tables(
    tmp_path: Path, s3_server: S3Server, bucket: StorePath, store: StorePath
) -> None:
    with running_cluster(tmp_path) as cluster:
        there = _shop(tmp_path / "there", s3_server, store / "there", cluster.settings)
        lived(there.in_processes())
        cluster.assert_every_worker_worked()
    here = _shop(tmp_path / "here", s3_server, store / "here")
    lived(here)
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
