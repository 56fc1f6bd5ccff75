"""PostgreSQL targets: URL without secrets, secret references and schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.rows.write_rows import rows_of
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.definitions import Definitions, TargetDefinition
from lakeguard_sdk.model.delivery import database_table
from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import SHOP, load

FILE = "definitions/targets/serving.yaml"
SERVING = """\
target: serving
location: zones/serving
zone: serving
format: postgresql
url: postgresql://db.example:5432/reports?sslmode=require
secrets: {user: "env:REPORTS_USER", password: "env:REPORTS_PASSWORD"}
details: {schema: reports}
"""
URL = "postgresql://db.example:5432/reports?sslmode=require"
CASES = [
    Case("no address", SERVING, f"url: {URL}", "«url»:", "LG-2003", "'url'"),
    Case("another kind", SERVING, URL, "«mysql://db.example/reports»", "LG-2004", "HOST:PORT"),
    Case("a user in it", SERVING, URL, "«postgresql://me@db.example/x»", "LG-2004", "secrets:"),
    Case("a password in it", SERVING, URL, "«postgresql://me:pw@db.example/x»", "LG-2021", ""),
    Case("a bad port", SERVING, URL, "«postgresql://db.example:x/reports»", "LG-2004", "HOST:PORT"),
    Case("no database", SERVING, URL, "«postgresql://db.example»", "LG-2004", "one database"),
    Case("no host", SERVING, URL, "«postgresql:///reports»", "LG-2004", "one host"),
    Case("option", SERVING, URL, "«postgresql://d/x?user=me»", "LG-2004", "unknown URL option"),
    Case("a file", SERVING, URL, "«postgresql://d/x?sslkey=a.pem»", "LG-2004", "absolute path"),
    Case("a value", SERVING, '"env:REPORTS_PASSWORD"', "«swordfish»", "LG-2021", ""),
    Case("unknown", SERVING, 'user: "env:REPORTS_USER"', 'token: «"env:T"»', "LG-2004", "user or"),
    Case("reserved", SERVING, "schema: reports", "schema: «pg_temp»", "LG-2004", "is reserved"),
    Case("long", SERVING, "schema: reports", f"schema: «{'s' * 64}»", "LG-2004", "63 bytes"),
    Case("not of files", SERVING, "postgresql\nurl: " + URL, f"csv\nurl: «{URL}»", "LG-2004",
         "not supported by csv"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    check(case, FILE, tmp_path)


def serving(tmp_path: Path) -> TargetDefinition:
    (target,) = load(tmp_path, {**SHOP, FILE: SERVING}).targets
    return target


def test_a_live_table_has_the_name_of_its_layer_and_dataset(tmp_path: Path) -> None:
    table = database_table(serving(tmp_path), DatasetName("gold.sales"))
    assert table is not None
    assert table.full_name == "reports.gold_sales"
    assert (table.url, sorted(table.secrets)) == (URL, ["password", "user"])
    assert database_table(None, DatasetName("gold.sales")) is None


def test_files_and_rows_say_the_same(tmp_path: Path) -> None:
    target = serving(tmp_path)
    definitions = Definitions(targets=(target,))
    assert load(tmp_path / "again", dict(definition_files(definitions))).targets == (target,)
    details = {
        row["detail_name"]: row["detail_value"] for row in rows_of(definitions)["md_tgt_det"]
    }
    assert details["url"] == URL
    assert details["secret.password"] == "env:REPORTS_PASSWORD"
