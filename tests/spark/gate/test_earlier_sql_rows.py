"""Tags of rows that stay in a table after its SELECT has changed, through whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, apply_again, published, run
from tests.support.projects.people import people_definitions

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

FILES: dict[str, str | bytes] = {
    **people_definitions(
        "id: {type: long}",
        "email: {type: string, tags: [pii]}",
        "city: {type: string}",
        load="{type: APPEND}",
    ),
    "definitions/silver/notes.yaml": """\
dataset: silver.notes
owner: tests
domain: shop
parents: [bronze.people]
build: {sql: sql/notes.sql}
load: {type: PARTITION, partition_by: [id]}
columns:
  id: {type: long}
  note: {type: string}
""",
    "definitions/gold/notes.yaml": """\
dataset: gold.notes
owner: tests
domain: shop
parents: [silver.notes]
build: {sql: sql/gold.sql}
load: {type: FULL}
columns:
  id: {type: long}
  note: {type: string}
""",
    "definitions/policies/no_personal_data.yaml": """\
policy: no_personal_data
applies_to: gold
type: PII
expression: "forbid tag:pii"
""",
    "sql/notes.sql": "SELECT id, email AS note FROM bronze.people\n",
    "sql/gold.sql": "SELECT id, note FROM silver.notes\n",
}


def test_replaced_sql_does_not_clear_the_rows_it_made(tmp_path: Path) -> None:
    client = applied(tmp_path, FILES)
    write_files(tmp_path, a="id,email,city\n1,a@b.c,Rome\n")
    for name in ("bronze.people", "silver.notes"):
        assert run(client, name).status is RunStatus.SUCCESS
    assert run(client, "gold.notes").status is RunStatus.BLOCKED
    text = "SELECT id, city AS note FROM bronze.people WHERE id > 1\n"
    (tmp_path / "sql/notes.sql").write_text(text)
    apply_again(client, tmp_path)
    write_files(tmp_path, b="id,email,city\n2,d@e.f,Oslo\n")
    for name in ("bronze.people", "silver.notes"):
        assert run(client, name).status is RunStatus.SUCCESS
    assert published(client, "silver.notes", "note") == ["Oslo", "a@b.c"]
    result = run(client, "gold.notes")
    assert result.status is RunStatus.BLOCKED
    assert result.decision is not None
    (reason,) = result.decision.ruling.reasons
    assert "column note derives from bronze.people.email, tagged pii" in reason
