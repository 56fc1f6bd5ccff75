"""Tagged columns of real tables reach gold under no other name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, run
from tests.support.projects.people import people_definitions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

FILES: dict[str, str | bytes] = {
    **people_definitions(
        "id: {type: string}",
        "email: {type: string, tags: [pii]}",
        "born: {type: date, tags: [pii]}",
    ),
    "definitions/policies/no_pii.yaml": """\
policy: no_pii
applies_to: gold
type: PII
expression: "forbid tag:pii"
""",
}
DATASET = """\
dataset: {name}
owner: tests
domain: shop
parents: [{parents}]
build: {{sql: sql/{name}.sql}}
load: {load}
columns: {columns}
"""
INFO = "struct<email:string,age:string>"
PEOPLE = f"{{email: {{type: string}}, id: {{type: string}}, info: {{type: '{INFO}'}}}}"
HISTORY = "{id: {type: string}, email: {type: string}, born: {type: date}}"
TAGGED = {
    "semi": "SELECT b AS z FROM (SELECT * FROM silver.people LEFT SEMI JOIN silver.orders"
    " USING (id)) x(a, b, c)",
    "pivot": "SELECT z FROM (SELECT 'k' AS `1`, `1` AS z FROM (SELECT email, id FROM"
    " silver.people) PIVOT (max(email) FOR id IN (01)))",
    "field": "SELECT l.z FROM (SELECT 'k' AS email FROM silver.orders) o, LATERAL (SELECT"
    " info.email, upper(email) AS z FROM (SELECT info FROM silver.people)) l",
    "sign": "SELECT z FROM (SELECT email AS k, k AS z FROM (SELECT email, +k FROM"
    " (SELECT email, '1' AS k FROM silver.people)))",
    "cast": "SELECT z FROM (SELECT email AS k, k AS z FROM (SELECT email, string(s.k) FROM"
    " (SELECT email, named_struct('k', 'k') AS s FROM silver.people)))",
    "name": "SELECT (p).email AS z FROM silver.people p, (SELECT named_struct('email', 'k') AS p)",
}


def dataset(
    name: str, text: str, columns: str = "{z: {type: string}}", load: str = "{type: FULL}"
) -> dict[str, str | bytes]:
    known = ("bronze.people", "silver.people", "silver.orders", "silver.history", "silver.keys")
    parents = ", ".join(each for each in known if each in text)
    yaml = DATASET.format(name=name, parents=parents, columns=columns, load=load)
    return {f"definitions/{name.replace('.', '/')}.yaml": yaml, f"sql/{name}.sql": f"{text}\n"}


def started(folder: Path, files: dict[str, str | bytes], *names: str) -> Client:
    """A project, and a run of these datasets."""
    client = applied(folder, FILES | files)
    write_files(folder, a="id,email,born\n1,ada@example.org,1815-12-10\n")
    for name in ("bronze.people", *names):
        assert run(client, name).status is RunStatus.SUCCESS
    return client


def test_a_select_does_not_lose_tags_by_the_names_that_spark_gives(tmp_path: Path) -> None:
    made = "SELECT email, id, struct(email, id AS age) AS info FROM bronze.people"
    files = dataset("silver.people", made, PEOPLE)
    files |= dataset("silver.orders", "SELECT id FROM bronze.people", "{id: {type: string}}")
    for name, text in TAGGED.items():
        files |= dataset(f"gold.{name}", text)
    files |= dataset("gold.plain", "SELECT id AS z FROM silver.people")
    client = started(tmp_path, files, "silver.people", "silver.orders", "gold.plain")
    for name in TAGGED:
        assert run(client, f"gold.{name}").status is RunStatus.BLOCKED, name


def test_columns_that_a_load_writes_carry_the_tags_of_what_they_are_made_of(
    tmp_path: Path,
) -> None:
    all_of_it = "SELECT id, email, born FROM bronze.people"
    history = "{type: SCD2, keys: [id], effective: born, hash: ROW_HASH}"
    keyed = "{type: INCREMENTAL, keys: [email], hash: KEY_HASH}"
    files = dataset("silver.history", all_of_it, HISTORY, history)
    files |= dataset("silver.keys", all_of_it, HISTORY, keyed)
    tagged = ("valid_from", "valid_to", "row_hash")
    for name in (*tagged, "is_current"):
        files |= dataset(f"gold.{name}", f"SELECT cast({name} AS string) AS z FROM silver.history")
    files |= dataset("gold.key_hash", "SELECT key_hash AS z FROM silver.keys")
    client = started(tmp_path, files, "silver.history", "silver.keys", "gold.is_current")
    for name in (*tagged, "key_hash"):
        assert run(client, f"gold.{name}").status is RunStatus.BLOCKED, name
    assert _bounded(tmp_path / "silver" / "history") == {"id"}


def _bounded(table: Path) -> set[str]:
    """Columns of which the log of the table tells the least or greatest value."""
    lines = "\n".join(path.read_text() for path in table.glob("_delta_log/*.json")).splitlines()
    added = (json.loads(line).get("add") for line in lines)
    stats = [json.loads(each["stats"]) for each in added if each]
    return {name for each in stats for key in ("minValues", "maxValues") for name in each[key]}
