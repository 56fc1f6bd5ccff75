"""Logs whose first commits are gone, and logs that cannot be listed."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard.lake.compacted_commits import compacted_difference
from lakeguard.lake.port import Shown, ShownFile
from lakeguard.lake.quarantine_tables import DeltaQuarantineTables
from lakeguard_sdk.types.schema import Column, TableSchema

SCHEMA = TableSchema(columns=(Column(name="n", type="long"),))


def test_a_quarantine_table_is_found_by_its_checkpoint(tmp_path: Path) -> None:
    """Delta engines remove commits that are older than the retention of the log."""
    location, tables = str(tmp_path / "bronze" / "numbers" / "shape"), DeltaQuarantineTables()
    for at, path in enumerate(("a.parquet", "b.parquet"), -1):
        assert tables.show(location, SCHEMA, at, [ShownFile(path, 1, 1, 1)], ())
    DeltaTable(location).create_checkpoint()
    Path(location, "_delta_log", f"{0:020d}.json").unlink()
    assert tables.shown(location) == Shown(1, frozenset({"a.parquet", "b.parquet"}))


def test_a_table_without_a_log_has_no_compacted_commits(tmp_path: Path) -> None:
    assert compacted_difference(str(tmp_path)) is None


def test_compacted_commits_that_cannot_be_listed_are_not_taken_for_right(tmp_path: Path) -> None:
    (tmp_path / "_delta_log").symlink_to("_delta_log")
    with pytest.raises(OSError, match="symbolic links"):
        compacted_difference(str(tmp_path))
