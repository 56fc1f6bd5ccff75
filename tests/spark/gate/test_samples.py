"""Samples of failing rows from real runs: reported, masked if required, never blocking a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from sqlalchemy import select

from lakeguard.relay.owner import ledger_root, table_location
from lakeguard.state.database import Database
from lakeguard.state.schema import data_quality_results
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import Enforcement, PolicyType, RunStatus
from lakeguard_sdk.model.definitions import Definitions, PolicyDefinition
from lakeguard_sdk.model.row_sample import MASKED
from openlaketx.measure import MeasureOptions, SampleRequest, draw_samples
from openlaketx.measure.engine_choice import EngineChoice
from tests.property.measure.staging import staged
from tests.support.cases.failing_rows import (
    NAN,
    RULES,
    SCHEMA,
    counted_by,
    row,
    staged_rows,
)
from tests.support.fakes.killed_at import dying_at
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, published, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
PEOPLE = DatasetName("bronze.people")
DEFINITION = """\
dataset: bronze.people
owner: tests
domain: shop
source: people
load: {type: INCREMENTAL, keys: [id]}
SETTINGS
columns:
  id: {type: long}
  mail: {type: string, tags: [pii]}
  age: {type: integer}
  city: {type: string}
rules:
  - {id: grown, rule: "range(age, min=18)"}
  - {id: reachable, rule: "like(mail, pattern='%@%')", severity: WARN}
  - {id: somewhere, rule: "not_null(city)", severity: WARN}
  - {id: young, rule: "mean(age, max=1)", severity: WARN}
"""
GOOD = "id,mail,age,city\n1,a@x.org,40,Ulm\n"
WARNS = "id,mail,age,city\n1,a@x.org,40,Ulm\n2,nobody,50,\n"
FAILS = "id,mail,age,city\n3,secret,7,Ulm\n4,d@x.org,8,\n"


def people(folder: Path, settings: str = "", somewhere: str = "not_null(city)") -> Client:
    definition = DEFINITION.replace("SETTINGS", settings).replace("not_null(city)", somewhere)
    files: dict[str, str | bytes] = {
        "definitions/sources/people.yaml": "source: people\nformat: csv\npath: in/*.csv\n",
        "definitions/bronze/people.yaml": definition,
    }
    return applied(folder, files)


def results(folder: Path, run_id: str) -> dict[str, dict[str, Any]]:
    """Rule results of a run in the view, by the rule's name in its dataset."""
    database = Database(f"sqlite:///{folder}/.lakeguard/state.db")
    shown = data_quality_results.c
    with database.read() as connection:
        rows = connection.execute(select(data_quality_results).where(shown.run_id == run_id))
        found = {row.rule_id.removeprefix(f"{PEOPLE}."): dict(row._mapping) for row in rows}
    database.close()
    return found


def samples(folder: Path, run_id: str) -> dict[str, Any]:
    described = {rule: row["samples"] for rule, row in results(folder, run_id).items()}
    return {rule: json.loads(text) for rule, text in described.items() if text is not None}


def test_spark_draws_the_rows_that_duckdb_draws(session: SparkSession, tmp_path: Path) -> None:
    asked = SampleRequest({rule: counted_by(rule) for rule in RULES}, ("id",))
    drawn = draw_samples(
        asked, staged_rows(tmp_path), MeasureOptions(EngineChoice.SPARK), 300.0, session
    )
    found = {sample.rule_id: (sample.columns, sorted(sample.rows, key=str)) for sample in drawn}
    assert found == {rule: (names, sorted(rows, key=str)) for rule, (names, rows) in RULES.items()}


@pytest.mark.parametrize("rule", ["unique(price)", "unique(id, price)"])
def test_spark_draws_duplicates_of_floats(session: SparkSession, tmp_path: Path, rule: str) -> None:
    """NaN is a key, and zeros of either sign are one."""
    prices = [NAN, 0.0, NAN, -0.0, 5.0]
    subject = staged(tmp_path, [row(1, price=price) for price in prices], [], SCHEMA)
    asked = SampleRequest({rule: counted_by(rule)})
    (sample,) = draw_samples(asked, subject, MeasureOptions(EngineChoice.SPARK), 300.0, session)
    assert sorted(str(values[-1]) for values in sample.rows) == ["0", "0", "NaN", "NaN"]


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_failing_rows_are_told_with_the_results(tmp_path: Path, engine: str) -> None:
    client = people(tmp_path, f"details: {{measure_with: {engine}}}")
    write_files(tmp_path, a=WARNS)
    warned = run(client, PEOPLE)
    assert warned.version == 1
    assert samples(tmp_path, warned.run_id) == {
        "reachable": {"columns": ["id", "mail"], "masked": ["mail"], "rows": [["2", MASKED]]},
        "somewhere": {"columns": ["id", "city"], "masked": [], "rows": [["2", None]]},
    }
    write_files(tmp_path, b=FAILS)
    blocked = run(client, PEOPLE)
    assert blocked.status is RunStatus.BLOCKED
    grown = samples(tmp_path, blocked.run_id)["grown"]
    assert sorted(grown.pop("rows")) == [["3", "7"], ["4", "8"]]
    assert grown == {"columns": ["id", "age"], "masked": []}
    reported = results(tmp_path, blocked.run_id)["grown"]
    assert (reported["rule_type"], reported["parameters"]) == ("RANGE", '{"min":"18"}')
    assert reported["rule_fingerprint"].startswith("sha256:")
    client.ledger.sync()
    assert client.ledger.verify().findings == ()
    location = table_location(ledger_root(str(tmp_path), "default"), "rule_samples")
    lake = DeltaTable(location).to_pyarrow_table()
    assert "secret" not in str(lake.to_pylist())
    assert {row["run_id"] for row in lake.to_pylist()} == {warned.run_id, blocked.run_id}


def test_a_good_run_shows_nothing(tmp_path: Path) -> None:
    client = people(tmp_path)
    write_files(tmp_path, a=GOOD)
    good = run(client, PEOPLE)
    assert good.version == 1
    assert client.reader.samples(good.run_id) == ()


def test_what_may_not_be_kept_is_not_shown(tmp_path: Path) -> None:
    client = people(tmp_path)
    text = "forbid pattern 'secret' in values"
    policy = PolicyDefinition(policy="no_secrets", type=PolicyType.PII, expression=text)
    client.registry.apply(client.registry.plan(Definitions(policies=(policy,))))
    write_files(tmp_path, b=FAILS)
    blocked = run(client, PEOPLE)
    assert blocked.decision is not None
    assert blocked.decision.ruling.discard
    assert client.reader.samples(blocked.run_id) == ()


def test_texts_are_masked_where_a_forbidden_pattern_was_found(tmp_path: Path) -> None:
    client = people(tmp_path, "", somewhere="like(city, pattern='U%')")
    alert = PolicyDefinition(
        policy="no_secrets",
        type=PolicyType.PII,
        expression="forbid pattern 'secret' in values",
        enforcement=Enforcement.ALERT,
    )
    client.registry.apply(client.registry.plan(Definitions(policies=(alert,))))
    write_files(tmp_path, a="id,mail,age,city\n1,a@x.org,40,Bonn\n")
    clean = run(client, PEOPLE)
    assert samples(tmp_path, clean.run_id)["somewhere"]["rows"] == [["1", "Bonn"]]
    write_files(tmp_path, b="id,mail,age,city\n2,b@x.org,50,my secret\n")
    found = run(client, PEOPLE)
    assert found.version == 2
    described = {"columns": ["id", "city"], "masked": ["city"], "rows": [["2", MASKED]]}
    assert samples(tmp_path, found.run_id)["somewhere"] == described


@pytest.mark.parametrize("rows", [WARNS, FAILS], ids=["warns", "fails"])
def test_a_death_between_decision_and_samples_harms_nothing(tmp_path: Path, rows: str) -> None:
    client = people(tmp_path)
    write_files(tmp_path, a=rows)
    with dying_at("decision.recorded"):
        run(client, PEOPLE)
    write_files(tmp_path, a=WARNS)
    after = run(client, PEOPLE)
    assert after.version == 1
    assert published(client, PEOPLE, "id") == [1, 2]
    ended = [each.run_id for each in client.reader.runs(PEOPLE)]
    assert [run_id for run_id in ended if client.reader.samples(run_id)] == [after.run_id]
