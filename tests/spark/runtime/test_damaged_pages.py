"""Pages that do not match their checksums: found while Spark or DuckDB reads a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from lakeguard.cli.rendering.status import Badge, badge_of
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BRONZE, SILVER = DatasetName("bronze.orders"), DatasetName("silver.orders")
PYTHON = DatasetName("silver.copied")
FILES: dict[str, str | bytes] = {
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: INCREMENTAL, keys: [id]}
columns:
  id: {type: long}
  name: {type: string}
rules:
  - sum(id, min=1)
""",
    "definitions/silver/orders.yaml": """\
dataset: silver.orders
owner: tests
domain: shop
parents: [bronze.orders]
build: {sql: sql/orders.sql}
load: {type: FULL}
columns:
  id: {type: long}
  name: {type: string}
""",
    "sql/orders.sql": "SELECT id, name FROM bronze.orders\n",
    "definitions/silver/copied.yaml": """\
dataset: silver.copied
owner: tests
domain: shop
parents: [bronze.orders]
build: {python: "python/copied.py:build"}
load: {type: FULL}
columns:
  id: {type: long}
  name: {type: string}
""",
    "python/copied.py": "def build(spark, inputs):\n    return inputs['bronze.orders']\n",
}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    made = applied(tmp_path, FILES)
    rows = "".join(f"{number},name {number}\n" for number in range(500))
    write_files(tmp_path, a=f"id,name\n{rows}")
    assert run(made, BRONZE).version == 1
    damage_pages(tmp_path / "bronze" / "orders")
    return made


def damage_pages(table: Path) -> None:
    """Another byte in the values of a page; size and footer are the recorded ones."""
    log = DeltaTable(str(table))
    (name,) = log.get_add_actions()["path"].to_pylist()
    file = table / name
    column = pq.read_metadata(file).row_group(0).column(1)
    data = bytearray(file.read_bytes())
    data[column.data_page_offset + column.total_compressed_size // 2] ^= 0xFF
    file.write_bytes(data)


def status(client: Client) -> tuple[Badge, str]:
    found = next(row for row in client.reader.status() if row.dataset.dataset_name == BRONZE)
    return badge_of(found), found.damage


def lose_checksum_files(table: Path) -> None:
    """Those that Spark writes beside a file; the checksums of Parquet are in the file."""
    for file in table.glob("runs/**/.*.crc"):
        file.unlink()


@pytest.mark.parametrize("name", [SILVER, PYTHON])
@pytest.mark.parametrize("beside", [True, False])
def test_a_build_that_reads_them_records_damage(
    client: Client, tmp_path: Path, name: DatasetName, beside: bool
) -> None:
    if not beside:
        lose_checksum_files(tmp_path / "bronze" / "orders")
    result = run(client, name)
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert (result.error.code == "LG-5022") is beside, result.error
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "v1 of bronze.orders is damaged" in damage
    assert "its content differs" in damage


def test_a_merge_that_reads_them_records_damage(client: Client, tmp_path: Path) -> None:
    write_files(tmp_path, b="id,name\n3,changed\n")
    result = run(client, BRONZE)
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert result.error.code == "LG-5022"
    badge, damage = status(client)
    assert badge is Badge.DAMAGED
    assert "its content differs" in damage
