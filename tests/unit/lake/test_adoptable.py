"""What is refused of tables of others, by logs as any engine may write them; nothing is changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard.lake.adoptable import examine
from lakeguard_sdk.errors import NotAdoptable
from tests.support.lakes.foreign_tables import fingerprint, foreign_numbers, forget_the_past

Actions = list[dict[str, Any]]


def schema(*fields: dict[str, Any]) -> str:
    usual = {"name": "n", "type": "long", "nullable": True, "metadata": {}}
    return json.dumps({"type": "struct", "fields": [{**usual, **field} for field in fields]})


def log(**given: Any) -> Actions:
    """The actions of a plain table of one file, with what is said in their place."""
    protocol = {"minReaderVersion": 1, "minWriterVersion": 2, **given.get("protocol", {})}
    metadata = {
        "id": "t",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema({}),
        "partitionColumns": [],
        "configuration": {},
        **given.get("metadata", {}),
    }
    add = {
        "path": "a.parquet",
        "size": 1,
        "partitionValues": {},
        "modificationTime": 0,
        "dataChange": True,
        "stats": '{"numRecords": 2}',
        **given.get("add", {}),
    }
    return [{"protocol": protocol}, {"metaData": metadata}, {"add": add}]


def table(folder: Path, actions: Actions, version: int = 0) -> str:
    place = folder / "_delta_log" / f"{version:020d}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("\n".join(map(json.dumps, actions)))
    return str(folder)


def refused(location: str) -> NotAdoptable:
    before = fingerprint(location)
    with pytest.raises(NotAdoptable) as caught:
        examine(location)
    assert fingerprint(location) == before
    assert caught.value.next_step
    return caught.value


def test_a_plain_table_is_told_as_it_is(tmp_path: Path) -> None:
    found = examine(table(tmp_path, log(add={"path": "p%20q/a%2525.parquet"})))
    assert (found.commit, found.rows, found.table_id, found.seq) == (0, 2, "t", None)
    assert [file.path for file in found.files] == ["p q/a%25.parquet"]


@pytest.mark.parametrize("parts", [0, 1])
def test_it_reads_what_the_engine_reads(tmp_path: Path, parts: int) -> None:
    location = foreign_numbers(tmp_path, [1], [2], [3])
    write_deltalake(location, pa.table({"n": pa.array([4, 5])}), mode="overwrite")
    if parts:
        forget_the_past(location)
    write_deltalake(location, pa.table({"n": pa.array([6])}), mode="append")
    handle, found = DeltaTable(location), examine(location)
    assert {Path(uri).name for uri in handle.file_uris()} == {file.path for file in found.files}
    assert (found.commit, found.table_id) == (handle.version(), str(handle.metadata().id))
    assert found.rows == 3
    older = examine(location, 3)
    assert (older.commit, older.rows) == (3, 2)


PROTOCOLS: dict[str, dict[str, Any]] = {
    name: {"minReaderVersion": 3, "minWriterVersion": 7, "writerFeatures": [name], **more}
    for name, more in {
        "deletionVectors": {"readerFeatures": ["deletionVectors"]},
        "variantType": {"readerFeatures": ["variantType"]},
        "clustering": {},
        "somethingOfNextYear": {},
        "checkpointProtection": {},
        "icebergCompatV2": {},
    }.items()
}


@pytest.mark.parametrize("feature", PROTOCOLS)
def test_a_feature_is_named(tmp_path: Path, feature: str) -> None:
    error = refused(table(tmp_path, log(protocol=PROTOCOLS[feature])))
    assert f"it uses {feature}" in str(error)


@pytest.mark.parametrize("versions", [(1, 4), (2, 5), (2, 2), (1, 3)])
def test_versions_that_mean_features_are_refused(tmp_path: Path, versions: tuple[int, int]) -> None:
    reader, writer = versions
    given = {"minReaderVersion": reader, "minWriterVersion": writer}
    error = refused(table(tmp_path, log(protocol=given)))
    assert f"reader version {reader} and writer version {writer}" in str(error)


COLUMNS: dict[str, dict[str, Any]] = {
    "generated": {"metadata": {"delta.generationExpression": "1"}},
    "invariant": {"metadata": {"delta.invariants": "{}"}},
    "identity": {"metadata": {"delta.identity.start": 1}},
    "default": {"metadata": {"CURRENT_DEFAULT": "1"}},
    "length": {"metadata": {"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"}},
    "NOT NULL": {"nullable": False},
    "variant": {"type": "variant"},
}


@pytest.mark.parametrize("word", COLUMNS)
def test_a_column_that_no_dataset_could_keep_is_named(tmp_path: Path, word: str) -> None:
    given = {"schemaString": schema({}, {"name": "odd", **COLUMNS[word]})}
    error = refused(table(tmp_path, log(metadata=given)))
    assert "column odd" in str(error)
    assert word in str(error)


def test_a_column_by_a_reserved_name_is_named(tmp_path: Path) -> None:
    given = {"schemaString": schema({}, {"name": "LG_place", "type": "string"})}
    assert "column LG_place begins with lg_" in str(refused(table(tmp_path, log(metadata=given))))


FILES: dict[str, dict[str, Any]] = {
    "are outside of it": {"path": "file:/elsewhere/a.parquet"},
    "such as /x/a.parquet": {"path": "/x/a.parquet"},
    "such as s3://b/a": {"path": "s3://b/a"},
    "such as ../a.parquet": {"path": "../a.parquet"},
    "that runs write to": {"path": "runs/r/a.parquet"},
    "has no row count": {"stats": '{"minValues": {}}'},
    "no row count for": {"stats": None},
    "unsupported partition": {"partitionValues": {"p": "x"}},
    "deletionVectors": {"deletionVector": {"storageType": "u"}},
}


@pytest.mark.parametrize("words", FILES)
def test_a_file_that_could_not_be_kept_is_named(tmp_path: Path, words: str) -> None:
    assert words in str(refused(table(tmp_path, log(add=FILES[words]))))


@pytest.mark.parametrize("name", ["soft.parquet", "hard.parquet", "linked/a.parquet"])
def test_a_file_of_another_table_is_refused_under_a_second_name(tmp_path: Path, name: str) -> None:
    governed, location = tmp_path / "silver" / "people", tmp_path / "plain"
    governed.mkdir(parents=True)
    (governed / "a.parquet").write_bytes(b"x")
    table(location, log(add={"path": name}))
    (location / "soft.parquet").symlink_to(governed / "a.parquet")
    (location / "hard.parquet").hardlink_to(governed / "a.parquet")
    (location / "linked").symlink_to(governed)
    assert "has other names" in str(refused(str(location)))


def test_links_beside_the_files_of_a_table_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to(tmp_path)
    assert examine(table(tmp_path, log())).rows == 2


def test_partitions_that_have_no_one_spelling_are_refused(tmp_path: Path) -> None:
    fields = schema({}, {"name": "at", "type": "timestamp"})
    given = {"schemaString": fields, "partitionColumns": ["at"]}
    parts = {"partitionValues": {"at": "2026-01-01 00:00:00"}}
    error = refused(table(tmp_path, log(metadata=given, add=parts)))
    assert "column at is timestamp; a partition column is" in str(error)


def test_a_folder_in_which_runs_would_write_is_refused(tmp_path: Path) -> None:
    location = table(tmp_path, log())
    Path(location, "runs").mkdir()
    assert "folder 'runs'" in str(refused(location))


def drop_one(location: str) -> None:
    Path(location, "_delta_log", f"{1:020d}.json").unlink()


def tear(location: str) -> None:
    file = Path(location, "_delta_log", f"{2:020d}.json")
    file.write_bytes(file.read_bytes()[:-9])


def lose_the_checkpoint(location: str) -> None:
    forget_the_past(location)
    next(Path(location, "_delta_log").glob("*.checkpoint.parquet")).unlink()


def checkpoint_otherwise(location: str) -> None:
    forget_the_past(location)
    file = next(Path(location, "_delta_log").glob("*.checkpoint.parquet"))
    file.rename(file.with_name(f"{file.name[:20]}.checkpoint.6b4c-1.parquet"))


DAMAGE: dict[str, Callable[[str], None]] = {
    "commit 1 is missing": drop_one,
    "unreadable": tear,
    "commit 0 is missing": lose_the_checkpoint,
    "its log": checkpoint_otherwise,
}


@pytest.mark.parametrize("words", DAMAGE)
def test_a_log_that_does_not_tell_all_is_refused(tmp_path: Path, words: str) -> None:
    location = foreign_numbers(tmp_path, [1], [2], [3])
    DAMAGE[words](location)
    assert words in str(refused(location))


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3_000])
def test_a_place_that_cannot_be_read_is_no_table(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotAdoptable, match="File name too long"):
        examine(f"{tmp_path}/{name}")


def test_a_folder_without_a_log_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(NotAdoptable, match="it is not a Delta table"):
        examine(str(tmp_path))
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(NotAdoptable, match="it has no commit"):
        examine(str(tmp_path))
