"""A value that fails a run is reported with its location, and masked in a private column."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import RunStatus
from tests.support.projects.csv_files import BRONZE, SILVER, CsvProject

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

PRIVATE = "string, tags: [pii]"
ADA = "ada@example.org"


@pytest.fixture
def project(tmp_path: Path) -> CsvProject:
    return CsvProject(tmp_path)


def described(project: CsvProject, name: str = BRONZE) -> str:
    """The failure in the ledger."""
    result = project.run(name)
    assert result.status is RunStatus.FAILED
    message = project.client.reader.run(result.run_id).error_message
    assert message
    return message


def test_a_bad_value_is_told_with_file_and_line(project: CsvProject) -> None:
    project.bronze("APPEND", {"id": "long", "order_day": "date"})
    project.apply()
    project.land("a", "id,Order Day", "1,2026-01-01", "2,2026-01-02")
    project.land("b", "id,Order Day", "3,2026-01-03", '4,"2026-01-\n0"', "5,2026-01-05")
    assert "in/b.csv, line 3: column order_day: '2026-01- 0' is not a valid date" in described(
        project
    )


def test_a_long_value_is_cut(project: CsvProject) -> None:
    project.bronze("APPEND", {"id": "long"})
    project.apply()
    project.land("a", "id", "1", "x" * 300)
    message = described(project)
    assert f"in/a.csv, line 3: column id: '{'x' * 40}…' is not" in message
    assert "x" * 41 not in message


def test_json_lines_are_told_by_line_too(project: CsvProject) -> None:
    source = project.folder / "definitions/sources/orders.yaml"
    source.write_text("source: orders\nformat: jsonl\npath: in/*.jsonl\n")
    project.bronze("FULL", {"id": "long"})
    project.apply()
    (project.folder / "in").mkdir()
    (project.folder / "in" / "a.jsonl").write_text('{"id": 1}\n{"id": 2.5}\n')
    assert "in/a.jsonl, line 2: column id: '2.5' is not a valid long" in described(project)


@pytest.mark.parametrize("tag", ["pii", "secret"])
def test_a_private_value_is_not_told_though_its_place_is(project: CsvProject, tag: str) -> None:
    project.bronze("APPEND", {"id": "long", "born": f"date, tags: [{tag}]"})
    project.apply()
    project.land("a", "id,born", f"1,{ADA}")
    message = described(project)
    assert "in/a.csv, line 2: column born: (masked value) is not a valid date" in message
    assert ADA not in message


def test_a_private_key_is_not_told(project: CsvProject) -> None:
    columns = {"email": PRIVATE, "shop": "string", "n": "long"}
    project.bronze("{type: INCREMENTAL, keys: [email, shop]}", columns)
    project.apply()
    project.land("a", "email,shop,n", f"{ADA},s1,1", f"{ADA},s1,2")
    message = described(project)
    assert "several rows of the key (email, shop) = ((masked value), s1) differ" in message
    assert ADA not in message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, CAST(email AS INT) AS n FROM bronze.orders",
        "SELECT id, CAST(raise_error(concat('bad: ', email)) AS INT) AS n FROM bronze.orders",
    ],
)
def test_what_spark_says_of_a_private_column_is_not_kept(project: CsvProject, sql: str) -> None:
    project.bronze("FULL", {"id": "long", "email": PRIVATE})
    project.silver("FULL", sql, {"id": "long", "n": "integer"})
    project.apply()
    project.land("a", "id,email", f"1,{ADA}")
    assert project.run().version == 1
    message = described(project, SILVER)
    assert ADA not in message
    assert "may contain a value of email, n" in message


def test_what_spark_says_of_others_is_told(project: CsvProject) -> None:
    project.bronze("FULL", {"id": "long", "name": "string"})
    project.silver("FULL", "SELECT CAST(name AS INT) AS n FROM bronze.orders", {"n": "integer"})
    project.apply()
    project.land("a", "id,name", "1,Ada")
    assert project.run().version == 1
    assert "The value 'Ada'" in described(project, SILVER)


def test_what_spark_says_of_a_private_column_that_drifts_in_is_not_kept(
    project: CsvProject,
) -> None:
    project.bronze("FULL", {"id": "long", "name": "string"})
    sql = "SELECT id, CAST(name AS INT) AS ssn FROM bronze.orders"
    project.silver("FULL", sql, {"id": "long"})
    silver = project.folder / "definitions/silver/orders.yaml"
    silver.write_text(f"{silver.read_text()}schema: {{profile: additive}}\n")
    policy = project.folder / "definitions/policies/no_numbers.yaml"
    policy.parent.mkdir()
    policy.write_text(
        "policy: no_numbers\napplies_to: gold\ntype: PII\nexpression: forbid columns [ssn]\n"
    )
    project.apply()
    project.land("a", "id,name", f"1,{ADA}")
    assert project.run().version == 1
    message = described(project, SILVER)
    assert ADA not in message
    assert "may contain a value of ssn" in message
