"""The sample definition rows, loaded into an empty project, run."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from lakeguard.registry.rows import read_rows
from lakeguard.registry.rows.assemble import assemble
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import RunStatus, TaskState
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.worker import create_worker

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

SAMPLES = sorted((Path(__file__).parents[3] / "metadata" / "dml").glob("*.sql"))
CELLS = """\
radio,mcc,net,area,cell,lon,lat,range,samples
GSM,262,2,801,86355,13.285,52.522,1000,7
LTE,262,1,801,1795,13.276,52.525,5716,9
LTE,208,1,12,77,2.35,48.85,900,3
"""
COUNTRIES = "mcc,country\n262,Germany\n208,France\n"
NAMES = ("bronze.opencellid_cells", "bronze.countries", "silver.cells", "gold.coverage")


def run(client: Client, name: str) -> RunResult:
    task = client.operations.submit(DatasetName(name), "tests")
    return create_worker(client.for_worker(), spark_options={}).run_task(task)


def triggered(client: Client, job: str) -> RunResult:
    launched = client.jobs.trigger(job, "tests")
    assert launched.state is TaskState.QUEUED, launched.reason
    (given,) = client.dispatch.claim(this_process("tests"), only=launched.task_id)
    return create_worker(client.for_worker(), spark_options={}).run_claimed(given.ticket)


def rows(client: Client, name: str, columns: str) -> list[tuple[object, ...]]:
    found = client.reader.resolve(parse_address(name))
    live = live_files(open_table(found.location, found.commit))
    files = [f"{found.location}/{path}" for path in live]
    query = f"SELECT {columns} FROM read_parquet($f, hive_partitioning=true) ORDER BY ALL"
    with duckdb.connect() as connection:
        return connection.execute(query, {"f": files}).fetchall()


def test_the_samples_run_from_source_to_gold(tmp_path: Path) -> None:
    (tmp_path / "lakeguard.toml").write_text("[env.dev]\n")
    landed = {"opencellid/cell_towers_1.csv": CELLS, "countries/countries.csv": COUNTRIES}
    for file, text in landed.items():
        path = tmp_path / "landing" / file
        path.parent.mkdir(parents=True)
        path.write_text(text)
    client = connect(tmp_path)
    findings = Findings()
    found = assemble(read_rows(SAMPLES, findings), client.registry.definitions(), findings)
    findings.raise_if_any()
    client.registry.apply(client.registry.plan(found))
    client.jobs.deploy()
    assert triggered(client, "load_opencellid").status is RunStatus.SUCCESS
    for name in NAMES[1:]:
        assert run(client, name).status is RunStatus.SUCCESS, name
    place = client.reader.resolve(parse_address(NAMES[0])).location
    assert Path(place.removeprefix("file://")) == tmp_path / "raw/bronze/opencellid_cells"
    assert len(rows(client, NAMES[0], "cell")) == 3
    assert rows(client, NAMES[3], "country, radio, cells, samples") == [
        ("France", "LTE", 1, 3),
        ("Germany", "GSM", 1, 7),
        ("Germany", "LTE", 1, 9),
    ]
    landed_cells = tmp_path / "landing" / "opencellid" / "cell_towers_1.csv"
    landed_cells.write_text(CELLS.replace("radio,mcc", "mcc,radio", 1))
    failed = triggered(client, "load_opencellid")
    assert failed.status is RunStatus.FAILED
    assert failed.error is not None
    assert "column 1 is 'mcc' instead of 'radio'" in failed.error.message
