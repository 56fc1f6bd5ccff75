"""A whole lake in an object store: the same answers as in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard_sdk.storage.storage import join, storage_for
from openlaketx.deliver.file_sets import FileSet
from tests.cloud.shops import Shop
from tests.support.lakes.s3_server import S3Server, StorePath

BLOCKED = 3


@pytest.fixture
def shop(tmp_path: Path, s3_server: S3Server, store: StorePath) -> Shop:
    return Shop(tmp_path, s3_server, store)


def test_a_lake_in_a_store_lives_as_one_in_a_folder(shop: Shop) -> None:
    shop.type("lakeguard apply")
    found = shop.type("lakeguard doctor")
    assert "conditional writes hold" in found
    assert "S3 jars" in found
    assert "3 datasets: 3 promoted" in shop.type("lakeguard run --all")
    shop.add_python_build()
    assert "✓ PROMOTED  silver.large_orders v1" in shop.type("lakeguard run silver.large_orders")
    made = json.loads(shop.type("lakeguard runs silver.large_orders --json"))["runs"][0]["run_id"]
    assert "SAME ROWS" in shop.type(f"lakeguard replay {made} --rebuild")
    delivered = join(shop.lake, "zones/reports/silver/large_orders.files", "manifest.json")
    assert FileSet.from_json(storage_for(delivered).read_bytes(delivered)).version == 1
    shop.land(shop.folder / "incoming" / "orders-2026-01-07.csv")
    shop.type("lakeguard run --all", BLOCKED)
    assert "range(amount" in shop.type("lakeguard why silver.orders")
    shop.type('lakeguard rollback bronze.orders --to v1 --reason "mistakes in the export"')
    assert "nothing new" in shop.type("lakeguard run silver.orders")
    shop.type("lakeguard verify --replay")
    (shop.folder / ".lakeguard" / "state.db").unlink()
    shop.type("lakeguard rebuild")
    assert "bronze.orders" in shop.type("lakeguard status")
    shop.type("lakeguard verify")
    shop.type("lakeguard maintain")
    shop.type("lakeguard verify")
