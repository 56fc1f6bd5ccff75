"""The files that a run reads, and the manifest that its version stores."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.evidence import SourcePosition
from lakeguard_sdk.model.load import NEW_ROWS_ONLY
from lakeguard_sdk.storage.storage import FileFacts, LocalStorage
from openlaketx.extract.files.file_order import by_name
from openlaketx.extract.files.manifest import Selection, select_files
from tests.support.fakes.source_history import SourceHistory

FULL, APPEND = LoadType.FULL, LoadType.APPEND
WHOLE = sorted(set(LoadType) - NEW_ROWS_ONLY)
ONCE = sorted(NEW_ROWS_ONLY - {LoadType.PARTITION})
REPEATABLE = sorted(NEW_ROWS_ONLY - {APPEND})


def write(lake: Path, name: str, text: str = "x") -> None:
    file = lake / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def select(
    lake: Path,
    load: LoadType = APPEND,
    *before: Selection,
    pattern: str = "in/*.csv",
) -> Selection:
    """After the versions that were made of the selections before."""
    return select_files(
        source="orders",
        dataset="bronze.orders",
        pattern=pattern,
        root=str(lake),
        load=load,
        known=SourceHistory(*(each.position for each in before)).known,
        storage=LocalStorage(),
    )


def names(selection: Selection) -> list[str]:
    return [file.path for file in selection.files]


def test_files_are_sorted_and_stated_relative_to_the_lake(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "c.txt"):
        write(tmp_path, f"in/{name}", name)
    chosen = select(tmp_path)
    assert names(chosen) == ["in/a.csv", "in/b.csv"]
    assert [file.size for file in chosen.files] == [5, 5]
    assert list(map(chosen.location, chosen.files)) == [
        f"{tmp_path}/in/a.csv",
        f"{tmp_path}/in/b.csv",
    ]
    assert chosen.position.files == chosen.files


def test_an_absolute_pattern_gives_absolute_paths(tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/a.csv")
    chosen = select(tmp_path / "lake", pattern=f"{tmp_path}/elsewhere/*.csv")
    assert names(chosen) == [f"{tmp_path}/elsewhere/a.csv"]
    assert list(map(chosen.location, chosen.files)) == names(chosen)


def test_markers_and_folders_are_not_read(tmp_path: Path) -> None:
    for name in ("in/_SUCCESS.csv", "in/.a.csv.crc", "in/a.csv", "in/folder.csv/x"):
        write(tmp_path, name)
    assert names(select(tmp_path)) == ["in/a.csv"]
    assert names(select(tmp_path, pattern="in/*")) == ["in/a.csv"]


def test_folders_are_walked_where_the_pattern_says_so(tmp_path: Path) -> None:
    for name in ("in/a.csv", "in/deep/er/b.csv"):
        write(tmp_path, name)
    assert names(select(tmp_path, pattern="in/**/*.csv")) == ["in/a.csv", "in/deep/er/b.csv"]


def test_landed_copies_are_read_only_where_they_are_meant(tmp_path: Path) -> None:
    for name in ("in/a.csv", "landing/orders/a.csv", "landings/b.csv"):
        write(tmp_path, name)
    assert names(select(tmp_path, pattern="**/*.csv")) == ["in/a.csv", "landings/b.csv"]
    assert names(select(tmp_path, pattern=f"{tmp_path}/*/*.csv")) == [
        f"{tmp_path}/in/a.csv",
        f"{tmp_path}/landings/b.csv",
    ]
    assert names(select(tmp_path, pattern="landing/**/*.csv")) == ["landing/orders/a.csv"]


@pytest.mark.parametrize("load", LoadType)
def test_no_file_at_all_is_an_error(tmp_path: Path, load: LoadType) -> None:
    with pytest.raises(SourceUnreadable, match=f"no file matches {tmp_path}/in/"):
        select(tmp_path, load)


@pytest.mark.parametrize("load", ONCE)
def test_only_what_the_base_version_has_not_read_is_read(tmp_path: Path, load: LoadType) -> None:
    write(tmp_path, "in/b.csv")
    first = select(tmp_path, load)
    write(tmp_path, "in/a.csv")
    second = select(tmp_path, load, first)
    assert names(second) == ["in/a.csv"]
    assert (second.position.since, second.position.files) == (1, second.files)


def test_partitions_are_read_whole_once_a_file_is_new(tmp_path: Path) -> None:
    """A partition may span several files and is replaced with all of them."""
    write(tmp_path, "in/b.csv")
    first = select(tmp_path, LoadType.PARTITION)
    assert select(tmp_path, LoadType.PARTITION, first).files == ()
    write(tmp_path, "in/a.csv")
    second = select(tmp_path, LoadType.PARTITION, first)
    assert names(second) == ["in/a.csv", "in/b.csv"]
    assert select(tmp_path, LoadType.PARTITION, first, second).files == ()
    write(tmp_path, "in/b.csv", "changed")
    assert names(select(tmp_path, LoadType.PARTITION, first, second)) == ["in/a.csv", "in/b.csv"]


def test_nothing_new_is_an_empty_selection(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv")
    first = select(tmp_path)
    assert select(tmp_path, APPEND, first).files == ()


@pytest.mark.parametrize("load", WHOLE)
def test_a_load_of_the_whole_reads_everything_again(tmp_path: Path, load: LoadType) -> None:
    write(tmp_path, "in/a.csv")
    first = select(tmp_path)
    write(tmp_path, "in/b.csv")
    again = select(tmp_path, load, first)
    assert names(again) == ["in/a.csv", "in/b.csv"]
    assert again.position.files == again.files


def test_a_file_that_went_away_stays_in_the_position(tmp_path: Path) -> None:
    for name in ("in/a.csv", "in/b.csv"):
        write(tmp_path, name)
    first = select(tmp_path)
    os.remove(tmp_path / "in" / "a.csv")
    second = select(tmp_path, APPEND, first)
    assert second.files == ()
    assert second.position == SourcePosition(since=1)


def test_a_copy_with_another_time_is_the_same_file(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "one")
    first = select(tmp_path)
    os.utime(tmp_path / "in" / "a.csv", (1, 1))
    assert select(tmp_path, APPEND, first).files == ()


def test_files_that_were_all_archived_are_nothing_new(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "one")
    first = select(tmp_path)
    os.remove(tmp_path / "in" / "a.csv")
    assert select(tmp_path, APPEND, first).files == ()
    with pytest.raises(SourceUnreadable, match="no file matches"):
        select(tmp_path, FULL, first)


@pytest.mark.parametrize("change", ["size", "time"])
def test_a_file_that_changed_after_it_was_read_is_refused(tmp_path: Path, change: str) -> None:
    write(tmp_path, "in/a.csv", "one")
    first = select(tmp_path)
    if change == "size":
        write(tmp_path, "in/a.csv", "longer")
        os.utime(tmp_path / "in" / "a.csv", ns=(0, first.files[0].modified_ms * 1_000_000))
    else:
        write(tmp_path, "in/a.csv", "two")
        os.utime(tmp_path / "in" / "a.csv", (1, 1))
    with pytest.raises(SourceUnreadable, match=r"in/a\.csv changed .* FULL"):
        select(tmp_path, APPEND, first)


@pytest.mark.parametrize("load", sorted(set(REPEATABLE) - {LoadType.PARTITION}))
def test_a_load_that_may_repeat_itself_reads_a_changed_file_again(
    tmp_path: Path, load: LoadType
) -> None:
    for name in ("in/a.csv", "in/b.csv"):
        write(tmp_path, name, "one")
    first = select(tmp_path, load)
    write(tmp_path, "in/a.csv", "longer")
    second = select(tmp_path, load, first)
    assert names(second) == ["in/a.csv"]
    assert [(file.path, file.size) for file in second.position.files] == [("in/a.csv", 6)]
    assert select(tmp_path, load, first, second).files == ()


@pytest.mark.parametrize("load", ONCE)
def test_a_new_file_of_the_time_and_size_of_others_is_read(tmp_path: Path, load: LoadType) -> None:
    before: list[Selection] = []
    for name in ("in/b.csv", "in/c.csv", "in/a.csv"):
        write(tmp_path, name, "one")
        os.utime(tmp_path / name, (1, 1))
        before.append(select(tmp_path, load, *before))
    assert list(map(names, before)) == [["in/b.csv"], ["in/c.csv"], ["in/a.csv"]]


class Restless(LocalStorage):
    """Storage that another process changes during listing."""

    def __init__(self, lake: Path) -> None:
        self.lake = lake

    def facts(self, location: str) -> FileFacts:
        (self.lake / "in" / "gone.csv").unlink(missing_ok=True)
        write(self.lake, "in/came.csv")
        return super().facts(location)


def test_what_comes_and_goes_during_listing_is_read_once(tmp_path: Path) -> None:
    for name in ("in/a.csv", "in/gone.csv"):
        write(tmp_path, name)
    first = select_files(
        source="orders",
        dataset="bronze.orders",
        pattern="in/*.csv",
        root=str(tmp_path),
        load=APPEND,
        known=None,
        storage=Restless(tmp_path),
    )
    second = select(tmp_path, APPEND, first)
    assert (names(first), names(second)) == (["in/a.csv"], ["in/came.csv"])


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, "in/a.csv", "one")
    chosen = select(tmp_path)
    chosen.confirm(LocalStorage())
    write(tmp_path, "in/a.csv", "another")
    with pytest.raises(SourceUnreadable, match="changed while"):
        chosen.confirm(LocalStorage())
    os.remove(tmp_path / "in" / "a.csv")
    with pytest.raises(SourceUnreadable, match="disappeared while"):
        chosen.confirm(LocalStorage())


def test_numbers_in_names_count_as_numbers() -> None:
    described = [
        "in/2.csv",
        "in/10.csv",
        "in/9.csv",
        "in/a.csv",
        "in/01.csv",
        "in/1.csv",
        "in/9b.csv",
        "in/²",
    ]
    assert sorted(described, key=by_name) == [
        "in/01.csv", "in/1.csv", "in/2.csv", "in/9.csv", "in/9b.csv", "in/10.csv", "in/a.csv",
        "in/²",
    ]  # fmt: skip
    dated = ["day=2024-10-1/x", "day=2024-9-30/x", "day=2024-10-01/part-00002", "x"]
    assert sorted(dated, key=by_name) == [dated[1], dated[2], dated[0], dated[3]]


@pytest.mark.parametrize(
    "pattern", ["silver/p/*.csv", "**/*.csv", "in/linked/*.csv", "in/file.csv"]
)
def test_files_of_governed_tables_are_refused(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, "silver/p/a.csv")
    write(tmp_path, "in/a.csv")
    (tmp_path / "in/linked").symlink_to(tmp_path / "silver/p")
    (tmp_path / "in/file.csv").symlink_to(tmp_path / "silver/p/a.csv")
    for load in (FULL, APPEND):
        with pytest.raises(SourceUnreadable, match=r"parents: \[silver.p\]"):
            select(tmp_path, load, pattern=pattern)


def test_received_files_are_refused_where_a_source_names_them(tmp_path: Path) -> None:
    write(tmp_path, "landing/orders/ingest_date=2026-01-01/execution_id=run_1/a.csv")
    with pytest.raises(SourceUnreadable, match="files that runs received"):
        select(tmp_path, pattern="landing/**/*.csv")
