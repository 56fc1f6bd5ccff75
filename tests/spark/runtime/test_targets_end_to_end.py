"""Target settings drive the write with the real control plane: layout, transform and file sets."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.delivered_tables import SECRETS, LiveSchema
from tests.support.lakes.delivered_tables import live as live
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.folders import applied, apply_again
from tests.support.projects.folders import run as run_named

pytestmark = pytest.mark.spark
NAME = DatasetName("bronze.orders")
TARGET = """\
target: raw
location: zones/raw
zone: landing
sources: [orders]
"""
FILES: dict[str, str | bytes] = {
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in\n",
    "definitions/targets/raw.yaml": TARGET,
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: {name: orders, object: "*.csv"}
target: raw
load: {type: APPEND, partition_by: [region]}
columns:
  region: {type: string}
  id: {type: long}
rules:
  - unique(id)
""",
}


@pytest.fixture
def client(spark: SparkSession, tmp_path: Path) -> Client:
    return applied(tmp_path, FILES)


def write(file: Path, content: str) -> None:
    write_folder(file.parent, {file.name: content})


def retarget(client: Client, folder: Path, **given: str) -> None:
    lines = "".join(f"{key}: {value}\n" for key, value in given.items())
    write(folder / "definitions/targets/raw.yaml", TARGET + lines)
    apply_again(client, folder)


def land(folder: Path, name: str, *rows: str) -> None:
    write(folder / "in" / f"{name}.csv", "\n".join(["region,id", *rows, ""]))


def run(client: Client) -> RunResult:
    return run_named(client, NAME)


def table(folder: Path) -> str:
    return str(folder / "zones" / "raw" / "bronze" / "orders")


def rows(folder: Path) -> list[tuple[Any, ...]]:
    found = pa.table(DeltaTable(table(folder)).scan().read_all()).to_pylist()
    return sorted((row["region"], row["id"]) for row in found)


def delivered(folder: Path) -> tuple[int, list[tuple[Any, ...]]]:
    """The version in the manifest, and its rows as a file reader sees them."""
    root = Path(f"{table(folder)}.files")
    manifest = json.loads((root / "manifest.json").read_bytes())
    found: list[tuple[Any, ...]] = []
    for file in manifest["files"]:
        lines = (root / file["path"]).read_text("utf-8").splitlines()
        if manifest["format"] == "csv":
            found += [(row["region"], int(row["id"])) for row in csv.DictReader(lines)]
        else:
            found += [(row["region"], row["id"]) for row in map(json.loads, lines)]
    return manifest["version"], sorted(found)


def test_rows_of_the_target_change_the_next_run(client: Client, tmp_path: Path) -> None:
    land(tmp_path, "a", "north,1", "a/b %,2")
    first = run(client)
    assert first.version == 1
    log = DeltaTable(table(tmp_path))
    assert log.metadata().partition_columns == ["region"]
    shown = pa.table(log.get_add_actions(flatten=True))["partition.region"].to_pylist()
    assert sorted(shown) == ["a/b %", "north"]

    text = "SELECT upper(region) AS region, id FROM batch"
    retarget(client, tmp_path, transform=text, format="csv")
    land(tmp_path, "b", "south,3")
    second = run(client)
    assert second.version == 2
    assert rows(tmp_path) == [("SOUTH", 3), ("a/b %", 2), ("north", 1)]
    assert delivered(tmp_path) == (2, rows(tmp_path))
    hashes = {evidence(tmp_path, result)["build_hash"] for result in (first, second)}
    assert len(hashes) == 2

    retarget(client, tmp_path, format="jsonl")
    assert run(client).version is None, "nothing new to read"
    assert delivered(tmp_path) == (2, rows(tmp_path))

    client.operations.rollback(NAME, 1, "not in capitals")
    assert delivered(tmp_path)[0] == 2
    land(tmp_path, "b", "east,1")
    blocked = run(client)
    assert blocked.status is RunStatus.BLOCKED
    assert delivered(tmp_path) == (1, [("a/b %", 2), ("north", 1)])


def evidence(folder: Path, result: RunResult) -> dict[str, Any]:
    from sqlalchemy import create_engine, text

    assert result.decision is not None
    engine = create_engine(f"sqlite:///{folder}/.lakeguard/state.db")
    with engine.connect() as connection:
        query = text("SELECT body FROM documents WHERE content_hash = :hash")
        body = connection.scalar(query, {"hash": result.decision.case.evidence})
    engine.dispose()
    found: dict[str, Any] = json.loads(str(body))
    return found


def test_a_delivery_that_dies_is_made_good_by_the_next_run(client: Client, tmp_path: Path) -> None:
    retarget(client, tmp_path, format="csv")
    land(tmp_path, "a", "north,1")
    assert run(client).version == 1
    land(tmp_path, "b", "south,2")
    with dying_at("deliver.written"):
        run(client)
    assert delivered(tmp_path) == (1, [("north", 1)])
    assert rows(tmp_path) == [("north", 1), ("south", 2)], "the version is published"
    assert run(client).version is None
    assert delivered(tmp_path) == (2, [("north", 1), ("south", 2)])


def test_a_live_table_follows_what_the_gate_allowed(
    client: Client, tmp_path: Path, live: LiveSchema
) -> None:
    given = {"format": "postgresql", "url": live.url, "details": f"{{schema: '{live.name}'}}"}
    retarget(client, tmp_path, **given, secrets=json.dumps(SECRETS))
    land(tmp_path, "a", "north,1")
    first = run(client)
    assert first.version == 1
    assert live.rows("region, id") == [("north", 1)]
    (marker,) = live.sql("SELECT version, run_id, decision_id, dataset_id FROM {markers}")
    row = client.reader.versions(NAME)[0]
    assert marker == (1, row.run_id, row.decision_id, row.dataset_id)

    land(tmp_path, "b", "south,1")
    assert run(client).status is RunStatus.BLOCKED
    assert live.rows("region, id") == [("north", 1)], "nothing that the gate refused is there"

    land(tmp_path, "b", "south,2")
    with dying_at("deliver.marked"):
        run(client)
    assert rows(tmp_path) == [("north", 1), ("south", 2)], "the version is published"
    assert live.rows("region, id") == [("north", 1)]
    assert run(client).version is None
    assert sorted(live.rows("region, id")) == [("north", 1), ("south", 2)]

    client.operations.rollback(NAME, 1, "too far south")
    land(tmp_path, "b", "south,1")
    assert run(client).status is RunStatus.BLOCKED
    assert (live.version(), live.rows("region, id")) == (1, [("north", 1)])


def test_a_database_that_is_away_changes_no_result(client: Client, tmp_path: Path) -> None:
    retarget(client, tmp_path, format="postgresql", url="postgresql://127.0.0.1:1/nowhere")
    land(tmp_path, "a", "north,1")
    result = run(client)
    assert (result.status, result.version) == (RunStatus.SUCCESS, 1)


def test_another_partitioning_is_refused_with_the_way_out(client: Client, tmp_path: Path) -> None:
    land(tmp_path, "a", "north,1")
    assert run(client).version == 1
    file = tmp_path / "definitions/bronze/orders.yaml"
    file.write_text(file.read_text().replace("partition_by: [region]", "partition_by: [id]"))
    apply_again(client, tmp_path)
    refused = run(client)
    assert refused.decision is not None
    assert "set partition_by back to [region]" in refused.decision.ruling.reasons[0]
    file.write_text(file.read_text().replace("partition_by: [id]", "partition_by: [region]"))
    apply_again(client, tmp_path)
    land(tmp_path, "b", "south,2")
    assert run(client).version == 2
