"""Exactly the rows that fail a rule are excluded from the table."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.core.enums import LoadType, RunStatus
from lakeguard_sdk.model.load import Load
from tests.support.lakes.quarantining_tables import SiftedTable

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
COLUMNS = {"id": "long", "amount": "long", "note": "string"}
RULES = {"a_amount": "ge(amount, value=0)", "b_note": "not_null(note)"}


def row(number: int, amount: int | None = 1, note: str | None = "x") -> dict[str, object]:
    return {"id": number, "amount": amount, "note": note}


def table(folder: Path, load: Load | None = None, **rules: str) -> SiftedTable:
    return SiftedTable(folder, load or Load(type=LoadType.APPEND), COLUMNS, rules or RULES)


def test_the_rest_is_published_and_what_failed_is_kept(tmp_path: Path) -> None:
    things = table(tmp_path)
    things.land(row(1), row(2, -5), row(3, note=None), row(4, -1, None), row(5, None))
    result = things.run()
    assert result.status is RunStatus.SUCCESS
    assert things.shown("id") == [1, 5]
    assert things.evidence.rows == 2
    assert things.filed() == {"a_amount": [2, 4], "b_note": [3]}
    assert (things.quarantined.rows, things.before("a_amount"), things.before("b_note")) == (
        3, (2, 5), (2, 5),
    )  # fmt: skip
    assert (things.left("a_amount"), things.left("b_note")) == (0, 0)


def test_a_kept_row_says_why_and_since_when(tmp_path: Path) -> None:
    things = table(tmp_path)
    things.land(row(1), row(2, -5), row(4, -1, None))
    result = things.run()
    rows = {item["id"]: item for item in things.kept().to_pylist()}
    assert rows[2]["lg_rules"] == ["a_amount"]
    assert rows[4]["lg_rules"] == ["a_amount", "b_note"]
    expressions = [rule.expression for rule in things.runs.quarantine_rules]
    assert rows[4]["lg_reason"] == "; ".join(expressions)
    assert {item["lg_run_id"] for item in rows.values()} == {result.run_id}
    (file,) = things.quarantined.files
    assert {item["lg_first_seen"].astimezone(UTC) for item in rows.values()} == {file.first_seen}
    assert things.kept().column_names == [
        *COLUMNS, "lg_run_id", "lg_rules", "lg_reason", "lg_first_seen"
    ]  # fmt: skip


def test_a_clean_batch_is_measured_once_and_written_once(tmp_path: Path) -> None:
    things = table(tmp_path)
    things.land(row(1), row(2))
    things.run()
    assert things.evidence.quarantined is None
    assert not (tmp_path / "quarantine").exists()
    assert [file.path.count("/") for file in things.evidence.files] == [2]


def test_files_without_a_failing_row_stay_as_they_were_staged(tmp_path: Path) -> None:
    things = table(tmp_path)
    things.runs.partition_by = things.partition_by = ("note",)
    things.land(row(1, note="a"), row(2, note="a"), row(3, -1, "b"), row(4, note="b"))
    things.run()
    assert things.shown("id", "note") == [(1, "a"), (2, "a"), (4, "b")]
    staged = {file.partition["note"]: file.path for file in things.evidence.files}
    assert "sifted" not in staged["a"]
    assert "sifted" in staged["b"]
    held = list(Path(things.runs.location, "runs").rglob("*.parquet"))
    assert len(held) == len(things.evidence.files)


def test_a_batch_of_failing_rows_alone_leaves_the_table_as_it_was(tmp_path: Path) -> None:
    things = table(tmp_path)
    things.land(row(1))
    things.run()
    things.land(row(2, -1), row(3, -1))
    assert things.run().version == 2
    assert things.shown("id") == [1]
    assert (things.evidence.rows, things.evidence.files, things.quarantined.rows) == (0, (), 2)
    things.land(row(4))
    things.run()
    assert things.shown("id") == [1, 4]


def test_a_blocked_run_leaves_its_rows_where_nothing_names_them(tmp_path: Path) -> None:
    things = table(tmp_path)
    things.runs.allow = lambda evidence: False
    things.land(row(1), row(2, -1))
    assert things.run().status is RunStatus.BLOCKED
    (file,) = things.quarantined.files
    assert pq.read_metadata(tmp_path / file.path).num_rows == file.rows == 1
    assert not Path(things.runs.location, "_delta_log").exists()
