"""Whatever delta-rs would accept in silence is refused before the commit."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable, Schema, Transaction

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import (
    BaseChanged,
    ForeignTable,
    LakeGuardError,
    StagedFilesChanged,
    TableUnreadable,
)
from lakeguard_sdk.model.delta_log import PUBLISH_APP, TABLE_PROPERTIES
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import delta_schema
from openlaketx.publish import commit_publish
from tests.unit.openlaketx.governed import NUMBERS, Governed, create_governed


@pytest.fixture
def table(tmp_path: Path) -> Governed:
    """One published file: commit 1, move 1."""
    table = Governed.at(tmp_path)
    table.published(commit_publish(table.intent(table.stage("runs/run_1/a.parquet", [1, 2]))))
    return table


def refused(table: Governed, intent: Intent, kind: type[LakeGuardError], about: str) -> None:
    before = table.handle().version()
    with pytest.raises(kind, match=about):
        commit_publish(intent)
    assert table.handle().version() == before


@pytest.mark.parametrize("seq", [0, 1, 3, 99])
def test_only_the_next_number_commits(table: Governed, seq: int) -> None:
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]), seq=seq)
    refused(table, intent, BaseChanged, "move")


def test_a_missing_file(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    os.remove(Path(table.location) / staged.path)
    refused(table, table.intent(staged), StagedFilesChanged, "not there")


def test_a_file_of_another_size(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    table.stage(staged.path, list(range(10_000)))
    refused(table, table.intent(staged), StagedFilesChanged, "instead of")


def test_a_file_written_again(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    os.utime(Path(table.location) / staged.path, (1, 1))
    refused(table, table.intent(staged), StagedFilesChanged, "instead of")


def test_an_overwrite_that_adds_a_live_path(table: Governed) -> None:
    again = table.stage("runs/run_1/a.parquet", [9])
    intent = table.intent(again, load=LoadType.FULL)
    refused(table, intent, BaseChanged, "in the table already")


def test_one_path_added_twice(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    refused(table, table.intent(staged, staged), BaseChanged, "in the table already")


def test_removing_what_is_not_there(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    removes = ("runs/run_1/a.parquet", "runs/run_0/gone.parquet")
    intent = table.intent(staged, load=LoadType.FULL, removes=removes)
    refused(table, intent, BaseChanged, "gone.parquet to be live")


def test_a_full_load_that_would_leave_a_file(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    refused(table, table.intent(staged, load=LoadType.FULL, removes=()), BaseChanged, "would stay")


def test_an_append_that_would_remove(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3])
    intent = table.intent(staged, removes=("runs/run_1/a.parquet",))
    refused(table, intent, BaseChanged, "removes nothing")


@pytest.mark.parametrize(
    "columns",
    [
        {"N": "long", "s": "string"},
        {"n": "integer", "s": "string"},
        {"n": "long"},
        {"n": "long", "s": "string", "t": "string"},
    ],
    ids=["case", "type", "missing", "more"],
)
def test_an_append_under_another_schema(table: Governed, columns: dict[str, str]) -> None:
    schema = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in columns.items()))
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]), table_schema=schema)
    refused(table, intent, ForeignTable, "differs from the declared column")


def test_another_table_at_the_same_place(table: Governed) -> None:
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]), table_id="another")
    refused(table, intent, TableUnreadable, "and not another")


def test_no_table_at_all(tmp_path: Path) -> None:
    table = Governed(str(tmp_path / "nothing"), "none")
    with pytest.raises(TableUnreadable):
        commit_publish(table.intent())


def test_properties_that_let_versions_be_forgotten(table: Governed) -> None:
    table.handle().alter.set_table_properties({"delta.logRetentionDuration": "interval 1 day"})
    table.base = table.handle().version()
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]))
    refused(table, intent, TableUnreadable, "logRetentionDuration")


@pytest.mark.parametrize("feature", ["deletionVectors", "typeWidening", "columnMapping"])
def test_a_protocol_feature_that_this_engine_does_not_write(table: Governed, feature: str) -> None:
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": [feature],
        "writerFeatures": [feature],
    }
    _write_commit(table, {"protocol": protocol})
    table.base = 2
    with pytest.raises(TableUnreadable, match=f"uses .*{feature}|{feature}"):
        commit_publish(table.intent(table.stage("runs/run_2/a.parquet", [3])))


@pytest.mark.parametrize(("reader", "writer"), [(1, 4), (2, 5)])
def test_a_protocol_version_that_brings_features_unsaid(
    table: Governed, reader: int, writer: int
) -> None:
    _write_commit(table, {"protocol": {"minReaderVersion": reader, "minWriterVersion": writer}})
    table.base = 2
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]))
    refused(table, intent, TableUnreadable, f"reader {reader} and writer {writer}")


def test_a_table_with_another_nested_column(tmp_path: Path) -> None:
    location = str(tmp_path / "t")
    nested = {"type": "array", "elementType": "long", "containsNull": True}
    field = {"name": "n", "type": nested, "nullable": True, "metadata": {}}
    DeltaTable.create(
        location,
        Schema.from_json(json.dumps({"type": "struct", "fields": [field]})),
        configuration=dict(TABLE_PROPERTIES),
        commit_properties=CommitProperties(app_transactions=[Transaction(PUBLISH_APP, 0)]),
    )
    table = Governed(location, str(DeltaTable(location).metadata().id))
    text = "column n differs from the declared column"
    refused(table, table.intent(), ForeignTable, text)
    declared = TableSchema(columns=(Column(name="n", type="array<string>"),))
    refused(table, table.intent(table_schema=declared), ForeignTable, text)


def test_a_partitioned_table(tmp_path: Path) -> None:
    location = str(tmp_path / "t")
    DeltaTable.create(
        location, delta_schema(NUMBERS), partition_by=["s"], configuration=dict(TABLE_PROPERTIES)
    )
    table = Governed(location, str(DeltaTable(location).metadata().id))
    refused(table, table.intent(), TableUnreadable, r"partitioned by \(s\) and not by \(\)")
    intent = table.intent(partition_by=("n", "s"))
    refused(table, intent, TableUnreadable, r"partitioned by \(s\) and not by \(n, s\)")


@pytest.mark.parametrize("partition", [{}, {"s": ""}, {"s": "a", "n": "1"}])
def test_a_file_of_no_partition(tmp_path: Path, partition: dict[str, str | None]) -> None:
    location = str(tmp_path / "t")
    table = Governed(location, create_governed(location, partition_by=("s",)))
    staged = table.stage("runs/run_1/a.parquet", [1]).model_copy(update={"partition": partition})
    intent = table.intent(staged, partition_by=("s",))
    refused(table, intent, StagedFilesChanged, "values of|not a valid string")


def test_a_partition_of_a_table_that_has_none(table: Governed) -> None:
    staged = table.stage("runs/run_2/a.parquet", [3]).model_copy(update={"partition": {"s": "3"}})
    refused(table, table.intent(staged), StagedFilesChanged, r"values of \(s\)")


def test_a_base_that_the_table_has_not_reached(table: Governed) -> None:
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]), base_commit=5)
    refused(table, intent, BaseChanged, "commits after 5")


def test_a_torn_commit_since_the_base(table: Governed) -> None:
    Path(table.location, "_delta_log", f"{2:020d}.json").write_text("")
    intent = table.intent(table.stage("runs/run_2/a.parquet", [3]))
    with pytest.raises(TableUnreadable, match="log is corrupt"):
        commit_publish(intent)


def _write_commit(table: Governed, *actions: dict[str, object]) -> None:
    version = table.handle().version() + 1
    lines = [json.dumps(action) for action in ({"commitInfo": {"operation": "UPGRADE"}}, *actions)]
    file = Path(table.location, "_delta_log", f"{version:020d}.json")
    file.write_text("\n".join(lines) + "\n")
