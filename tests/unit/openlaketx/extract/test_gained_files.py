"""Incremental reads of a parent, over real Delta logs."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction

from lakeguard_sdk.core.enums import CommitKind, LoadType, MoveKind
from lakeguard_sdk.errors import NewRowsUnknown, TableUnreadable
from lakeguard_sdk.model.delta_log import PUBLISH_APP, CommitAuthor
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from openlaketx.extract.pinned_inputs import files_to_read
from openlaketx.publish import commit_publish
from tests.unit.openlaketx.governed import DATASET, DATASET_ID, NUMBERS, Governed

BY_KEY = (LoadType.INCREMENTAL, LoadType.SCD2)
REFUSE = (LoadType.APPEND, LoadType.CDC)


@pytest.fixture
def table(tmp_path: Path) -> Governed:
    """Commit 1 contains 1, commit 2 also 2."""
    made = Governed.at(tmp_path)
    add(made, 1)
    add(made, 2)
    return made


def add(table: Governed, number: int) -> None:
    staged = table.stage(f"runs/run_{number}/part.parquet", [number])
    table.published(commit_publish(table.intent(staged)))


def compact(table: Governed, name: str, *numbers: int) -> None:
    """Merge the files of these numbers, as our compaction commits it."""
    staged = table.stage(f"runs/{name}/part.parquet", list(numbers))
    removes = tuple(f"runs/run_{number}/part.parquet" for number in numbers)
    intent = table.intent(staged, kind=MoveKind.COMPACTION, load=None, removes=removes)
    table.published(commit_publish(intent))


def restore(table: Governed, to: int) -> None:
    author = CommitAuthor(dataset_id=DATASET_ID, kind=CommitKind.RESTORE)
    table.seq += 1
    DeltaTable(table.location).restore(
        to,
        commit_properties=CommitProperties(
            custom_metadata=author.custom_metadata(),
            app_transactions=[Transaction(PUBLISH_APP, table.seq)],
        ),
    )
    table.base = DeltaTable(table.location).version()


def read(table: Governed, since: int, load: LoadType = LoadType.APPEND) -> list[int]:
    def at(commit: int) -> TableSnapshot:
        return TableSnapshot(location=table.location, table_id=table.table_id, commit=commit)

    pin = InputPin(
        input=InputVersion(dataset=DATASET, dataset_id=DATASET_ID, version=9),
        snapshot=at(table.base),
        table_schema=NUMBERS,
        since=at(since),
    )
    files = files_to_read(pin, "gold.t", load)
    return sorted(n for file in files for n in pq.read_table(file)["n"].to_pylist())


@pytest.mark.parametrize("load", [*BY_KEY, *REFUSE])
def test_only_what_was_added_is_read(table: Governed, load: LoadType) -> None:
    assert read(table, 1, load) == [2]
    assert read(table, 2, load) == []


@pytest.mark.parametrize("load", [*BY_KEY, *REFUSE])
def test_a_compaction_is_no_news(table: Governed, load: LoadType) -> None:
    compact(table, "merged", 1, 2)
    assert read(table, 2, load) == []
    assert read(table, 1, load) == [2], "what was gained is read, though it was merged since"
    add(table, 3)
    assert read(table, 2, load) == [3]
    assert read(table, 1, load) == [2, 3]
    assert read(table, 3, load) == [3], "from the compaction itself"


@pytest.mark.parametrize("load", [*BY_KEY, *REFUSE])
def test_what_was_gained_and_taken_back_is_not_read(table: Governed, load: LoadType) -> None:
    restore(table, 1)
    add(table, 3)
    assert read(table, 1, load) == [3]


@pytest.mark.parametrize("load", [*BY_KEY, *REFUSE])
def test_what_went_and_came_back_was_not_lost(table: Governed, load: LoadType) -> None:
    restore(table, 1)
    restore(table, 2)
    add(table, 3)
    assert read(table, 2, load) == [3]


def lose_rows(table: Governed) -> None:
    restore(table, 1)
    add(table, 3)


def merge_and_restore(table: Governed) -> None:
    compact(table, "merged", 1, 2)
    add(table, 3)
    restore(table, 3)


def merge_and_vacuum(table: Governed) -> None:
    add(table, 3)
    compact(table, "merged", 2, 3)
    (Path(table.location) / "runs/run_3/part.parquet").unlink()


def replace_all(table: Governed) -> None:
    staged = table.stage("runs/run_3/part.parquet", [3])
    table.published(commit_publish(table.intent(staged, load=LoadType.FULL)))


LOSSES = {
    "lost rows": (lose_rows, [1, 3]),
    "lost rows since": (merge_and_restore, [1, 2]),
    "is gone": (merge_and_vacuum, [1, 2, 3]),
}


@pytest.mark.parametrize("words", sorted(LOSSES))
@pytest.mark.parametrize("load", BY_KEY)
def test_a_load_by_key_reads_all_where_rows_went(
    table: Governed, load: LoadType, words: str
) -> None:
    lose, whole = LOSSES[words]
    lose(table)
    assert read(table, 2, load) == whole


@pytest.mark.parametrize("words", sorted(LOSSES))
@pytest.mark.parametrize("load", REFUSE)
def test_an_append_is_refused_where_rows_went(table: Governed, load: LoadType, words: str) -> None:
    LOSSES[words][0](table)
    with pytest.raises(NewRowsUnknown, match=rf"{words}.*load it FULL, or INCREMENTAL with keys"):
        read(table, 2, load)


@pytest.mark.parametrize("load", REFUSE)
def test_an_append_names_a_parent_that_replaces_its_rows(table: Governed, load: LoadType) -> None:
    replace_all(table)
    with pytest.raises(NewRowsUnknown, match="all were replaced, as load type FULL"):
        read(table, 2, load)


def test_a_gap_in_the_log_is_told(table: Governed) -> None:
    add(table, 3)
    (Path(table.location) / "_delta_log" / f"{2:020d}.json").unlink()
    with pytest.raises(TableUnreadable, match="cannot be read"):
        read(table, 1)
