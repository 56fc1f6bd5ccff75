"""Details, ``--set`` and ``--date`` reach SQL as bound values, and Python builds as an argument."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.worker import create_worker
from tests.support.projects.folders import applied, published

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

BRONZE = """\
dataset: bronze.orders
owner: o
domain: d
source: orders
load: FULL
columns: {id: {type: long}, country: {type: string}}
"""
DATASET = """\
dataset: silver.{name}
owner: o
domain: d
parents: [bronze.orders]
build: {build}
load: FULL
columns: {{id: {{type: long}}, country: {{type: string}}, day: {{type: date}}}}
details: {{top: 2, country: "PT"}}
"""
SQL = """\
SELECT id, country, :date AS day FROM bronze.orders
WHERE country = :country AND id <= cast(:top AS long)
"""
PYTHON = """\
import datetime

from pyspark.sql import functions as F


def build(spark, inputs, parameters):
    assert isinstance(parameters["date"], datetime.date)
    rows = inputs["bronze.orders"]
    kept = rows.where((rows.country == parameters["country"]) & (rows.id <= int(parameters["top"])))
    return kept.withColumn("day", F.lit(parameters["date"]))
"""
JOB = "job: {name}\ndataset: silver.{name}\ndetails: {{top: 3}}\n"
COLUMNS = "id, country, day"
INJECTED = "PT' OR '1' = '1"


def project(folder: Path) -> Client:
    return applied(
        folder,
        {
            "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
            "definitions/bronze/orders.yaml": BRONZE,
            "definitions/silver/by_sql.yaml": DATASET.format(
                name="by_sql", build="{sql: sql/a.sql}"
            ),
            "definitions/silver/by_python.yaml": DATASET.format(
                name="by_python", build="{python: code/a.py:build}"
            ),
            "definitions/jobs/by_sql.yaml": JOB.format(name="by_sql"),
            "definitions/jobs/by_python.yaml": JOB.format(name="by_python"),
            "sql/a.sql": SQL,
            "code/a.py": PYTHON,
            "in/a.csv": "id,country\n1,PT\n2,ES\n3,PT\n4,PT\n",
        },
    )


def triggered(client: Client, job: str, **values: str) -> RunResult:
    launched = client.jobs.trigger(job, "test", day=date(2026, 1, 31), set_to=values)
    (given,) = client.dispatch.claim(this_process("test"), only=launched.task_id)
    return create_worker(client.for_worker(), spark_options={}).run_claimed(given.ticket)


def test_values_of_a_launch_reach_both_kinds_of_build(tmp_path: Path) -> None:
    client = project(tmp_path)
    client.jobs.deploy()
    worker = create_worker(client.for_worker(), spark_options={})
    first = worker.run_task(client.operations.submit(DatasetName("bronze.orders"), "test"))
    assert first.status is RunStatus.SUCCESS
    day = date(2026, 1, 31)
    for job in ("by_sql", "by_python"):
        first = triggered(client, job)
        assert first.status is RunStatus.SUCCESS, first.error
        assert published(client, f"silver.{job}", COLUMNS) == [(1, "PT", day), (3, "PT", day)], (
            "the job's detail wins"
        )
        assert triggered(client, job, top="9", country="ES").status is RunStatus.SUCCESS
        assert published(client, f"silver.{job}", COLUMNS) == [(2, "ES", day)], "the launch wins"
        assert triggered(client, job, country=INJECTED).status is RunStatus.SUCCESS
        assert published(client, f"silver.{job}", COLUMNS) == [], (
            "a value is never part of the text"
        )
