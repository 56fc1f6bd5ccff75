"""Logs whose first commits are gone, logs that cannot be listed, and names in long logs."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakeguard.lake.compacted_commits import compacted_difference
from lakeguard.lake.log_entries import LogFolder, odd_entries
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


@pytest.mark.parametrize("kind", ["json", "crc", "checkpoint.parquet"])
@pytest.mark.parametrize("digits", [3, 19, 21])
def test_a_name_with_other_digits_is_odd_after_a_known_checkpoint(
    tmp_path: Path, kind: str, digits: int
) -> None:
    log = long_log(tmp_path)
    (log / f"{126:0{digits}d}.{kind}").touch()
    (found,) = odd_entries(LogFolder(str(tmp_path), set(range(126)), since=120))
    assert "does not have the 20 digits of a commit" in found.problem


def test_compacted_commits_that_begin_before_a_known_checkpoint_are_not_left_out(
    tmp_path: Path,
) -> None:
    log = long_log(tmp_path)
    (log / f"{5:020d}.{125:020d}.compacted.json").touch()
    assert LogFolder(str(tmp_path), set(range(126)), since=120).derived


def test_names_about_earlier_versions_are_left_out(tmp_path: Path) -> None:
    log = long_log(tmp_path)
    for name in (f"{5:020d}.crc", f".{5:020d}.json.crc", f"{5:020d}.{9:020d}.compacted.json"):
        (log / name).touch()
    listed = LogFolder(str(tmp_path), set(range(126)), since=120)
    assert (len(listed.names), listed.derived) == (7, False)


def long_log(table: Path) -> Path:
    log = table / "_delta_log"
    log.mkdir()
    for version in range(126):
        (log / f"{version:020d}.json").write_text('{"commitInfo":{}}\n')
    (log / f"{120:020d}.checkpoint.parquet").touch()
    return log
