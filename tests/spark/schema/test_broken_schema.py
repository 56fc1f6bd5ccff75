"""A column dropped by a run disappears for dependents, which are rebuilt."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.cli.main import call
from lakeguard_sdk.model.row_ranges import WHOLE
from lakeguard_sdk.scheduling.invalidations import End, Reason
from tests.support.lakes.plans import write_files
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.folders import applied, published

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
BRONZE = "definitions/bronze/sales.yaml"
HEAD = "dataset: bronze.sales\nowner: tests\ndomain: shop\nsource: sales\nload: FULL\n"
FILES: dict[str, str | bytes] = {
    "definitions/sources/sales.yaml": "source: sales\nformat: csv\npath: in/*.csv\n",
    BRONZE: HEAD + "columns: {id: {type: long}, amount: {type: long}, note: {type: string}}\n",
    "definitions/silver/sales.yaml": "dataset: silver.sales\nowner: tests\ndomain: shop\n"
    "parents: [bronze.sales]\nbuild: {sql: sql/sales.sql}\nload: FULL\n"
    "columns: {id: {type: long}, amount: {type: long}}\n",
    "sql/sales.sql": "SELECT id, amount FROM bronze.sales\n",
}
NARROWER = HEAD + "columns: {id: {type: long}, amount: {type: integer}}\n"


def test_dropped_and_narrowed_columns_are_told_to_dependents(tmp_path: Path) -> None:
    client = applied(tmp_path, FILES)
    at = ("--project", str(tmp_path))
    write_files(tmp_path, one="id,amount,note\n1,10,a\n2,20,b\n")
    for name in ("bronze.sales", "silver.sales"):
        assert call(["run", name, *at]) == 0
    assert client.reader.invalidations(every=True) == []

    write_folder(tmp_path, {BRONZE: NARROWER})
    write_files(tmp_path, one="id,amount\n1,10\n2,20\n")
    assert call(["apply", *at]) == 0
    assert call(["run", "bronze.sales", *at]) == 0
    (row,) = client.reader.invalidations()
    assert (row.reason, row.reach) == (Reason.SCHEMA_CHANGE, WHOLE)
    assert [(str(item.dataset), item.standing) for item in row.followers] == [
        ("bronze.sales", "caught_up"),
        ("silver.sales", "ready"),
    ]

    assert call(["run", "silver.sales", *at]) == 0
    client.operations.reconcile()
    (row,) = client.reader.invalidations(every=True)
    assert row.end is End.DONE
    assert published(client, "bronze.sales", "id, amount") == [(1, 10), (2, 20)]
    assert published(client, "silver.sales", "id, amount") == [(1, 10), (2, 20)]
    assert client.ledger.verify().findings == ()
