"""The data plane under the real control plane: bronze to silver, incrementally, and back."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lakeguard.registry.loading import load_folder
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.names import parse_address
from lakeguard_sdk.run import RunResult
from lakeguard_sdk.words import RunStatus
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.worker import create_worker
from tests.spark.plans import write_files

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BRONZE, SILVER = DatasetName("bronze.orders"), DatasetName("silver.orders")
FILES = {
    "lakeguard.toml": "[env.dev]\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  id: {type: string}
  amount: {type: string}
""",
    "definitions/silver/orders.yaml": """\
dataset: silver.orders
owner: tests
domain: shop
parents: [bronze.orders]
build: {sql: sql/orders.sql}
load: {type: APPEND}
columns:
  id: {type: long}
  amount: {type: "decimal(9,2)"}
rules:
  - unique(id)
  - range(amount, min=0)
""",
    "sql/orders.sql": """\
SELECT cast(id AS bigint) AS id, cast(amount AS decimal(9,2)) AS amount FROM bronze.orders
""",
}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    for name, content in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    client = connect(tmp_path)
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    return client


def run(client: Client, name: DatasetName) -> RunResult:
    task = client.operations.submit(name, "tests")
    return create_worker(client.for_worker(), spark_options={}).run_task(task)


def ids(client: Client, name: DatasetName) -> list[int]:
    found = client.reader.resolve(parse_address(name))
    live = live_files(open_table(found.location, found.commit))
    files = [f"{found.location}/{path}" for path in live]
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT id FROM read_parquet($f) ORDER BY ALL", {"f": files})
        return [int(row[0]) for row in rows.fetchall()]


def test_batches_flow_are_stopped_and_go_back(client: Client, tmp_path: Path) -> None:
    write_files(tmp_path, a="id,amount\n1,1.50\n2,2\n")
    assert run(client, BRONZE).version == 1
    assert run(client, SILVER).version == 1

    unchanged = [run(client, name) for name in (BRONZE, SILVER)]
    assert [(result.status, result.version) for result in unchanged] == [
        (RunStatus.SUCCESS, None)
    ] * 2

    write_files(tmp_path, b="id,amount\n3,3\n")
    assert (run(client, BRONZE).version, run(client, SILVER).version) == (2, 2)
    assert ids(client, SILVER) == [1, 2, 3]

    write_files(tmp_path, c="id,amount\n3,-1\n")
    assert run(client, BRONZE).version == 3
    blocked = run(client, SILVER)
    assert blocked.status is RunStatus.BLOCKED
    assert blocked.decision is not None
    failed = {check.check_id: check.failed_rows for check in blocked.decision.ruling.checks}
    assert (failed["unique.id"], failed["range.amount"]) == (2, 1)
    assert client.reader.replay(blocked.run_id).identical
    assert ids(client, SILVER) == [1, 2, 3]

    client.operations.rollback(BRONZE, 2, "a bad file came")
    assert run(client, SILVER).version is None
    client.operations.rollback(BRONZE, 1, "to the beginning")
    lost = run(client, SILVER)
    assert lost.error is not None
    assert "lost rows" in lost.error.message
    assert "FULL" in lost.error.message


def test_what_cannot_be_computed_fails_in_one_line(client: Client, tmp_path: Path) -> None:
    write_files(tmp_path, a="id,amount\nseven,1\n")
    assert run(client, BRONZE).version == 1
    failed = run(client, SILVER)
    assert failed.error is not None
    assert failed.error.code == "LG-5004"
    assert "'seven'" in failed.error.message
    assert client.reader.run(failed.run_id).status is RunStatus.FAILED
