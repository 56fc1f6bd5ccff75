"""Reading commits of any engine, and telling ours from others'."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from lakeguard_sdk.core.enums import CommitKind, MoveKind
from lakeguard_sdk.model.delta_log import (
    PUBLISH_APP,
    CommitAuthor,
    carries_out,
    commits_since,
    parse_commit,
    read_commit,
)
from lakeguard_sdk.model.run import Intent
from lakeguard_sdk.storage.storage import LocalStorage, storage_for
from lakeguard_sdk.types.schema import TableSchema

AUTHOR = CommitAuthor(dataset_id="ds_1", kind=CommitKind.PUBLISH, run_id="run_1", intent_id="int_1")
ADD = {"add": {"path": "runs/r%201/part%25.parquet", "dataChange": True}}


def commit(*actions: dict[str, object]) -> bytes:
    return "\n".join(json.dumps(action) for action in actions).encode()


def ours(**more: object) -> bytes:
    info = {"commitInfo": {"operation": "WRITE", **AUTHOR.custom_metadata()}}
    return commit(info, ADD, {"txn": {"appId": PUBLISH_APP, "version": 3}})


def test_our_commit_tells_who_stands_behind_it() -> None:
    found = parse_commit(7, ours())
    assert (found.version, found.seq, found.author) == (7, 3, AUTHOR)
    assert found.adds == ("runs/r 1/part%.parquet",), "paths are decoded once"
    assert found.data_changing


def test_both_engines_see_the_same_words() -> None:
    metadata = AUTHOR.custom_metadata()
    shown = json.loads(metadata.pop("userMetadata"))
    assert shown == metadata


def test_the_kind_is_one_of_ours_and_a_word_on_disk() -> None:
    assert AUTHOR.custom_metadata()["lakeguard.kind"] == "publish"
    with pytest.raises(ValidationError):
        CommitAuthor.model_validate({"dataset_id": "ds_1", "kind": "publsh"})
    found = parse_commit(1, ours().replace(b'"publish"', b'"publsh"'))
    assert (found.seq, found.author) == (3, None), "a commit that only looks like ours"


@pytest.mark.parametrize(
    ("actions", "changing"),
    [
        ([{"add": {"path": "a", "dataChange": False}}], True),
        ([{"add": {"path": "a"}}], True),
        ([{"remove": {"path": "a", "dataChange": True}}], True),
        ([{"txn": {"appId": "other", "version": 1}}], False),
        ([{"metaData": {"id": "x"}}], True),
        ([{"protocol": {"minReaderVersion": 3}}], True),
    ],
)
def test_what_counts_as_a_change(actions: list[dict[str, object]], changing: bool) -> None:
    found = parse_commit(1, commit({"commitInfo": {"operation": "X"}}, *actions))
    assert found.data_changing is changing
    assert found.author is None


def test_a_fence_has_the_number_and_does_not_carry_the_intent_out() -> None:
    intent = Intent(
        intent_id="int_1",
        kind=MoveKind.PUBLISH,
        dataset="bronze.numbers",
        dataset_id="ds_1",
        run_id="run_1",
        decision_id="",
        seq=3,
        location="x",
        table_id="t",
        base_commit=0,
        table_schema=TableSchema(columns=()),
    )
    found = parse_commit(1, ours())
    assert carries_out(found, intent, CommitKind.PUBLISH)
    assert not carries_out(found, intent, CommitKind.FENCE)
    for change in ({"seq": 4}, {"intent_id": "int_2"}, {"run_id": "run_2"}):
        assert not carries_out(found, intent.model_copy(update=change), "publish")


@pytest.mark.parametrize("data", [b"", b"\n", b'{"add": {"pa', b"\x00\x00"])
def test_a_torn_commit_is_an_error_and_not_an_empty_version(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's and ours
        parse_commit(1, data)


def test_commits_are_read_in_order_until_the_log_ends(tmp_path: Path) -> None:
    log = tmp_path / "_delta_log"
    log.mkdir()
    for version in (0, 1, 2, 4):
        (log / f"{version:020d}.json").write_bytes(ours())
    location = str(tmp_path)
    assert [c.version for c in commits_since(LocalStorage(), location, 0)] == [1, 2]
    assert read_commit(LocalStorage(), location, 3) is None


def test_a_location_nobody_serves_is_refused() -> None:
    with pytest.raises(ValueError, match="ftp"):
        storage_for("ftp://host/x")
