"""The data plane with the real control plane: bronze to silver, incremental, and rollback."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, published, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BRONZE, SILVER = DatasetName("bronze.orders"), DatasetName("silver.orders")
FILES: dict[str, str | bytes] = {
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
    return applied(tmp_path, FILES)


def ids(client: Client, name: DatasetName) -> list[int]:
    return [int(each) for each in published(client, name, "id")]


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
