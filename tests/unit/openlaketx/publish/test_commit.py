"""The committer does what the intent says, once, and proves it from the log."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from deltalake.exceptions import DeltaError

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BaseChanged, CommitMismatch
from lakeguard_sdk.model.delta_log import log_file, read_commit
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import schema_of
from openlaketx.publish import commit_publish
from tests.unit.openlaketx.governed import DATASET_ID, Governed


@pytest.fixture
def table(tmp_path: Path) -> Governed:
    return Governed.at(tmp_path)


class Remembering(LocalStorage):
    """Keeps the names of what was synced."""

    def __init__(self) -> None:
        self.synced: list[str] = []

    def make_durable(self, location: str) -> None:
        self.synced.append(location)
        super().make_durable(location)


def test_an_append_shows_the_staged_file_and_says_who_stands_behind_it(table: Governed) -> None:
    staged = table.stage("runs/run_1/part-0.parquet", [1, 2, 3])
    commit = commit_publish(table.intent(staged))
    assert commit == 1
    assert table.numbers() == Counter([1, 2, 3])
    reported = read_commit(LocalStorage(), table.location, commit)
    assert reported is not None
    assert (reported.seq, reported.adds, reported.removes) == (1, (staged.path,), ())
    assert reported.author is not None
    assert reported.author.kind == "publish"
    assert (reported.author.dataset_id, reported.author.run_id) == (DATASET_ID, "run_1")
    assert (reported.author.decision_id, reported.author.intent_id) == ("dec_1", "int_1")
    assert table.handle().history(1)[0]["userMetadata"]


def test_moves_follow_each_other_because_every_handle_is_fresh(table: Governed) -> None:
    for number in range(1, 13):
        staged = table.stage(f"runs/run_{number}/part-0.parquet", [number])
        table.published(commit_publish(table.intent(staged)))
    assert table.numbers() == Counter(range(1, 13))
    assert table.handle().version() == 12


def test_a_full_load_replaces_every_file_in_one_commit(table: Governed) -> None:
    first = table.stage("runs/run_1/part-0.parquet", [1, 2])
    table.published(commit_publish(table.intent(first)))
    second = table.stage("runs/run_2/part-0.parquet", [7])
    table.published(commit_publish(table.intent(second, load=LoadType.FULL)))
    assert table.numbers() == Counter([7])
    assert table.files(1) == (first.path,)


def test_a_full_load_brings_its_own_schema(table: Governed) -> None:
    table.published(commit_publish(table.intent(table.stage("runs/run_1/a.parquet", [1]))))
    only = TableSchema(columns=(Column(name="s", type="string"),))
    staged = table.stage("runs/run_2/a.parquet", [2])
    commit_publish(table.intent(staged, load=LoadType.FULL, table_schema=only))
    assert schema_of(table.handle()) == only


def test_a_full_load_of_no_row_empties_the_table(table: Governed) -> None:
    first = table.stage("runs/run_1/part-0.parquet", [1, 2])
    table.published(commit_publish(table.intent(first)))
    table.published(commit_publish(table.intent(load=LoadType.FULL)))
    assert table.numbers() == Counter()


def test_an_append_of_no_row_still_takes_its_number(table: Governed) -> None:
    table.published(commit_publish(table.intent()))
    staged = table.stage("runs/run_2/part-0.parquet", [1])
    commit_publish(table.intent(staged))
    assert table.numbers() == Counter([1])


@pytest.mark.parametrize(
    "path",
    [
        "runs/run 1/part 0.parquet",
        "runs/run_1/part%200.parquet",
        "runs/run_1/pärt-日本.parquet",
        "runs/run_1/part[0]{1}+&=#.parquet",
    ],
)
def test_paths_are_handed_over_as_they_are_on_disk(table: Governed, path: str) -> None:
    commit_publish(table.intent(table.stage(path, [1, 2])))
    assert table.files() == (path,)
    assert table.rows_by_scan() == [1, 2]


def test_the_commit_is_synced_after_it_was_read_back(table: Governed) -> None:
    storage = Remembering()
    commit = commit_publish(table.intent(table.stage("runs/run_1/a.parquet", [1])), storage)
    assert storage.synced == [log_file(table.location, commit)]


def blocked_checkpoint(folder: Path) -> Governed:
    """A table whose next commit writes a checkpoint, and cannot."""
    table = Governed.at(folder)
    for number in range(1, 9):
        staged = table.stage(f"runs/run_{number}/a.parquet", [number])
        table.published(commit_publish(table.intent(staged)))
    Path(table.location, "_delta_log", f"{9:020d}.checkpoint.parquet").mkdir()
    return table


def test_an_error_after_the_commit_landed_is_not_a_failure(tmp_path: Path) -> None:
    told_by_deltalake = blocked_checkpoint(tmp_path / "bare")
    with pytest.raises(DeltaError):
        told_by_deltalake.fence(9)
    table = blocked_checkpoint(tmp_path / "ours")
    assert commit_publish(table.intent(table.stage("runs/run_9/a.parquet", [9]))) == 9
    assert table.numbers() == Counter(range(1, 10))


def test_a_commit_that_was_never_written_is_said_so(tmp_path: Path) -> None:
    table = Governed.at(tmp_path, properties={"delta.appendOnly": "true"})
    first = table.stage("runs/run_1/a.parquet", [1])
    table.published(commit_publish(table.intent(first)))
    second = table.stage("runs/run_2/a.parquet", [2])
    with pytest.raises(CommitMismatch, match=r"commit 2 .* was not written"):
        commit_publish(table.intent(second, load=LoadType.FULL))
    assert table.numbers() == Counter([1])


def test_the_same_intent_again_is_refused_and_adds_nothing(table: Governed) -> None:
    intent = table.intent(table.stage("runs/run_1/a.parquet", [1]))
    commit_publish(intent)
    with pytest.raises(BaseChanged):
        commit_publish(intent)
    assert table.handle().version() == 1
