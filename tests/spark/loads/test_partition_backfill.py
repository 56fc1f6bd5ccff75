"""A wrong partition is backfilled from bronze to gold by one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakeguard.cli.main import call
from lakeguard_sdk import DatasetName
from lakeguard_sdk.scheduling.invalidations import End
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, published, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
COLUMNS = "columns: {month: {type: string}, id: {type: long}, amount: {type: long}}\n"
FILES: dict[str, str | bytes] = {
    "definitions/sources/sales.yaml": "source: sales\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/sales.yaml": "dataset: bronze.sales\nowner: tests\ndomain: shop\n"
    "source: sales\nload: {type: PARTITION, partition_by: [month]}\n" + COLUMNS,
    "definitions/silver/sales.yaml": "dataset: silver.sales\nowner: tests\ndomain: shop\n"
    "parents: [bronze.sales]\nbuild: {sql: sql/sales.sql}\n"
    "load: {type: INCREMENTAL, keys: [id], partition_by: [month]}\n" + COLUMNS,
    "definitions/gold/sales.yaml": "dataset: gold.sales\nowner: tests\ndomain: shop\n"
    "parents: [silver.sales]\nbuild: {sql: sql/totals.sql}\nload: FULL\n"
    "columns: {amount: {type: long}}\n",
    "sql/sales.sql": "SELECT month, id, amount FROM bronze.sales\n",
    "sql/totals.sql": "SELECT sum(amount) AS amount FROM silver.sales\n",
}
SILVER = DatasetName("silver.sales")
HEAD = "month,id,amount\n"


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
    code = call([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_partitions_are_filled_back_through_all_layers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client = applied(tmp_path, FILES)
    write_files(
        tmp_path, jan=f"{HEAD}01,1,10\n01,2,20\n", feb=f"{HEAD}02,3,30\n", mar=f"{HEAD}03,4,40\n"
    )
    for name in ("bronze.sales", "silver.sales", "gold.sales"):
        assert run(client, name).version == 1
    assert published(client, "gold.sales", "amount") == [100]

    write_files(tmp_path, jan=f"{HEAD}01,1,11\n01,2,20\n", feb=f"{HEAD}02,3,33\n")
    keys = ("--partition", "month=02", "--partition", "month=01")
    at = ("--project", str(tmp_path))
    code, reported = command(capsys, "backfill", "bronze.sales", *keys, "--downstream", *at)
    assert code == 0, reported
    runs = [(item["run"]["dataset"], item["run"]["version"]) for item in reported["runs"]]
    assert runs == [
        ("bronze.sales", 2),
        ("bronze.sales", 3),
        ("silver.sales", 2),
        ("silver.sales", 3),
        ("gold.sales", 2),
    ]
    starts = [item["window"]["start"] for item in reported["runs"][:4]]
    assert (starts, reported["runs"][4]["window"]) == (["01", "02", "01", "02"], None)

    rows = published(client, "silver.sales", "month, id, amount")
    assert rows == [("01", 1, 11), ("01", 2, 20), ("02", 3, 33), ("03", 4, 40)]
    assert published(client, "gold.sales", "amount") == [104]
    shown = {row.partition: row.version for row in client.reader.partitions(SILVER)}
    assert shown == {"month=01": 2, "month=02": 3, "month=03": 1}
    every = client.reader.invalidations(every=True)
    assert [row.end for row in every] == [End.DONE] * len(every)
    assert client.ledger.verify().findings == ()
