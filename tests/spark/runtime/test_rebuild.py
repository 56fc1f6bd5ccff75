"""Rebuild of a past run: equal rows, different rows, or a reason why it is impossible."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.errors import NotRebuildable
from lakeguard_sdk.model.history import Rebuilt
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import Window
from openlaketx.worker import create_worker
from tests.support.cases.load_variants import VARIANTS
from tests.support.lakes.loaded_tables import LoadedTable, Row
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, apply_again, published, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

COLUMNS = {"k": "long", "n": "long", "v": "string", "g": "string", "at": "timestamp"}
LOADS = [
    pytest.param(load, id=f"{kind} {name}")
    for kind, variants in VARIANTS.items()
    for name, load in list(variants.items())[-1:]
]
FULL = VARIANTS[LoadType.FULL]["plain"]


def batch(load: Load, *keys: int, n: int = 0) -> list[Row]:
    given = {"at": datetime(2026, 1, 1 + n, tzinfo=UTC)} | ({"op": "u"} if load.operation else {})
    return [{"k": k, "n": n + k, "v": f"v{k % 2}", "g": f"g{k % 2}", **given} for k in keys]


def rebuilt(client: Client, run_id: str) -> Rebuilt:
    worker = create_worker(client.for_worker(), spark_options={})
    return worker.rebuild(client.history.rebuild_plan(run_id))


def everything(folder: Path) -> set[str]:
    """All files of a project except the State."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if ".lakeguard" not in path.parts
    }


@pytest.mark.parametrize("load", LOADS)
def test_every_load_comes_to_the_same_rows_again(tmp_path: Path, load: Load) -> None:
    table = LoadedTable(tmp_path / "project", load, COLUMNS)
    runs = []
    for step, keys in enumerate([(1, 2, 3, 4), (3, 4, 5, 6), (7, 8, 1)]):
        table.land(batch(load, *keys, n=step))
        result = table.run()
        assert result.status is RunStatus.SUCCESS, result
        if result.version is not None:
            runs.append(result.run_id)
    before = everything(table.folder)
    for run_id in runs if load.type not in (LoadType.FULL, LoadType.SNAPSHOT) else runs[-1:]:
        found = rebuilt(table.client, run_id)
        assert found.same, found
        assert (found.missing, found.extra, found.columns) == (0, 0, ())
    assert everything(table.folder) == before, "nothing of it stays"


def test_a_full_load_reads_the_files_of_then_and_no_later_ones(tmp_path: Path) -> None:
    table = LoadedTable(tmp_path / "project", FULL, COLUMNS)
    table.land(batch(FULL, 1, 2))
    first = table.run()
    table.land(batch(FULL, 3))
    assert table.run().version == 2
    found = rebuilt(table.client, first.run_id)
    assert (found.same, found.rows, found.version) == (True, 2, 1)


def test_source_files_that_are_gone_or_changed(tmp_path: Path) -> None:
    load = VARIANTS[LoadType.APPEND]["plain"]
    table = LoadedTable(tmp_path / "project", load, COLUMNS)
    name = table.land(batch(load, 1, 2))
    result = table.run()
    file = table.folder / "in" / name
    kept = file.read_bytes()
    file.write_bytes(kept + b"x")
    with pytest.raises(NotRebuildable, match=f"in/{name} has changed since the run"):
        rebuilt(table.client, result.run_id)
    file.unlink()
    with pytest.raises(NotRebuildable, match=f"source file in/{name} no longer exists"):
        rebuilt(table.client, result.run_id)
    file.write_bytes(kept)
    assert rebuilt(table.client, result.run_id).same, "a copy of another time is the same file"


def test_files_that_maintenance_removed(tmp_path: Path) -> None:
    table = LoadedTable(tmp_path / "project", FULL, COLUMNS)
    table.land(batch(FULL, 1, 2))
    result = table.run()
    location, _ = table.at()
    for file in Path(location).rglob("*.parquet"):
        file.unlink()
    with pytest.raises(NotRebuildable, match="files of what it wrote were removed since"):
        rebuilt(table.client, result.run_id)


def test_a_back_fill_of_a_source_says_why_not(tmp_path: Path) -> None:
    table = LoadedTable(tmp_path / "project", FULL, COLUMNS)
    table.land(batch(FULL, 1, 2))
    assert table.run().version == 1
    table.land([*batch(FULL, 1), *batch(FULL, 2, n=1)], alone=True)
    filled = table.run(Window(column="k", start="2", end="2"))
    with pytest.raises(NotRebuildable, match="a backfill does not record the files"):
        rebuilt(table.client, filled.run_id)


FILES: dict[str, str | bytes] = {
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns: {id: {type: long}, amount: {type: double}}
""",
    "definitions/silver/totals.yaml": """\
dataset: silver.totals
owner: tests
domain: shop
parents: [bronze.orders]
build: {sql: sql/totals.sql}
load: {type: FULL}
columns: {id: {type: long}, amount: {type: double}}
""",
    "sql/totals.sql": "SELECT id, amount * 2 AS amount FROM bronze.orders\n",
}


def test_a_build_reads_the_version_that_it_had_pinned(tmp_path: Path) -> None:
    client = applied(tmp_path, FILES)
    write_files(tmp_path, a="id,amount\n1,2.5\n2,3\n")
    assert run(client, "bronze.orders").version == 1
    first = run(client, "silver.totals")
    write_files(tmp_path, b="id,amount\n3,9\n")
    assert run(client, "bronze.orders").version == 2
    assert run(client, "silver.totals").version == 2
    (tmp_path / "sql" / "totals.sql").write_text("SELECT id, amount FROM bronze.orders\n")
    apply_again(client, tmp_path)
    found = rebuilt(client, first.run_id)
    assert (found.same, found.rows, found.version) == (True, 2, 1)


def test_the_current_time_of_sql_is_that_of_the_run(tmp_path: Path) -> None:
    timed = """\
SELECT id, now() AS made, current_timestamp AS again, current_date AS day, curdate() AS day_too,
       localtimestamp() AS local, unix_timestamp() AS amount
FROM bronze.orders WHERE current_date() = cast(current_timestamp() AS date)
"""
    types = {"made": "timestamp", "again": "timestamp", "day": "date", "day_too": "date"}
    types |= {"local": "timestamp_ntz", "amount": "long"}
    columns = ", ".join(f"{name}: {{type: {kind}}}" for name, kind in types.items())
    totals = str(FILES["definitions/silver/totals.yaml"]).replace("amount: {type: double}", columns)
    files = {**FILES, "definitions/silver/totals.yaml": totals, "sql/totals.sql": timed}
    target = "target: raw\nlocation: zones/raw\nzone: raw\nsources: [orders]\n"
    target += "transform: SELECT *, now() AS landed FROM batch\n"
    orders = str(FILES["definitions/bronze/orders.yaml"]).replace(
        "{type: double}}", "{type: double}, landed: {type: timestamp}}\ntarget: raw"
    )
    files |= {"definitions/targets/raw.yaml": target, "definitions/bronze/orders.yaml": orders}
    client = applied(tmp_path, files)
    write_files(tmp_path, a="id,amount\n1,2.5\n2,3\n")
    landed = run(client, "bronze.orders")
    assert landed.version == 1, landed.error
    result = run(client, "silver.totals")
    then = client.history.rebuild_plan(result.run_id).run.as_of
    assert then is not None
    row = (then, then, then.date(), then.date(), then.replace(tzinfo=None), int(then.timestamp()))
    assert published(client, "silver.totals", ", ".join(types)) == [row, row]
    earlier = client.history.rebuild_plan(landed.run_id).run.as_of
    assert published(client, "bronze.orders", "landed") == [earlier, earlier]
    assert rebuilt(client, result.run_id).same
    assert rebuilt(client, landed.run_id).same


def test_a_build_by_chance_differs_and_says_where(tmp_path: Path) -> None:
    chance = """\
import time
from pyspark.sql import functions as F


def build(spark, inputs):
    return inputs["bronze.orders"].withColumn("amount", F.lit(time.time()))
"""
    totals = str(FILES["definitions/silver/totals.yaml"]).replace(
        "{sql: sql/totals.sql}", "{python: 'builds/totals.py:build'}"
    )
    files = {**FILES, "definitions/silver/totals.yaml": totals, "builds/totals.py": chance}
    client = applied(tmp_path, files)
    write_files(tmp_path, a="id,amount\n1,2.5\n2,3\n")
    assert run(client, "bronze.orders").version == 1
    found = rebuilt(client, run(client, "silver.totals").run_id)
    assert not found.same
    assert (found.rows, found.rows_now, found.missing, found.extra) == (2, 2, 2, 2)
    assert found.columns == ("amount",)


def test_a_landed_copy_is_enough(tmp_path: Path) -> None:
    source = "source: orders\nformat: csv\npath: in/*.csv\nlanding: true\n"
    client = applied(tmp_path, {**FILES, "definitions/sources/orders.yaml": source})
    write_files(tmp_path, a="id,amount\n1,2.5\n2,3\n")
    result = run(client, "bronze.orders")
    assert result.version == 1, result
    (tmp_path / "in" / "a.csv").unlink()
    assert rebuilt(client, result.run_id).same
    (copy,) = (tmp_path / "landing").rglob("a.csv")
    copy.write_text("id,amount\n1,2.5\n2,4\n")
    with pytest.raises(NotRebuildable, match=r"in/a\.csv has changed since the run"):
        rebuilt(client, result.run_id)


def test_a_source_above_the_lake_is_read_and_nothing_is_written_over(tmp_path: Path) -> None:
    source = "source: orders\nformat: csv\npath: ../../exports/*.csv\n"
    folder = tmp_path / "company" / "lake"
    client = applied(folder, {**FILES, "definitions/sources/orders.yaml": source})
    for place, text in ((tmp_path, "id,amount\n1,2.5\n2,3\n"), (folder, "ours\n")):
        (place / "exports").mkdir()
        (place / "exports" / "a.csv").write_text(text)
    result = run(client, "bronze.orders")
    assert (result.version, result.rows) == (1, 2), result
    before = everything(folder)
    assert rebuilt(client, result.run_id).same
    assert everything(folder) == before
    assert (folder / "exports" / "a.csv").read_text() == "ours\n"


def test_python_and_rows_that_were_quarantined(tmp_path: Path) -> None:
    """Rows excluded by rules are excluded again; changed code is reported."""
    code = "def totals(spark, inputs):\n    return inputs['bronze.orders']\n"
    totals = str(FILES["definitions/silver/totals.yaml"]).replace(
        "{sql: sql/totals.sql}", "{python: 'builds/totals.py:totals'}"
    )
    totals += "rules: ['range(amount, max=10) on_fail quarantine']\n"
    files = {**FILES, "definitions/silver/totals.yaml": totals, "builds/totals.py": code}
    files.pop("sql/totals.sql")
    client = applied(tmp_path, files)
    write_files(tmp_path, a="id,amount\n1,2.5\n2,30\n")
    assert run(client, "bronze.orders").version == 1
    result = run(client, "silver.totals")
    assert (result.version, result.rows) == (1, 1), result
    before = everything(tmp_path)
    found = rebuilt(client, result.run_id)
    assert (found.same, found.rows) == (True, 1)
    assert everything(tmp_path) - before <= {"builds/__pycache__"}
    (tmp_path / "builds" / "totals.py").write_text(code + "# another\n")
    with pytest.raises(NotRebuildable, match="cannot be rebuilt"):
        rebuilt(client, result.run_id)
