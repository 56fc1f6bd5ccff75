"""A staged file that changes after it was marked is noticed, whatever its size and time."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeguard_sdk.errors import StagedFilesChanged
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.stage import FileMarks

STORAGE = LocalStorage()


def rewrite(file: Path) -> None:
    """Other bytes, the same size, the old modification time."""
    before = file.stat()
    with file.open("r+b") as content:
        content.write(b"B")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap_and_restore(file: Path) -> None:
    """Other bytes for a while, as while measures are taken."""
    content = file.read_bytes()
    rewrite(file)
    before = file.stat()
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(file.read_bytes())
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.replace(file)


def write_through_another_name(file: Path) -> None:
    other = file.with_name("other")
    other.hardlink_to(file)
    rewrite(other)
    other.unlink()


def link_elsewhere(file: Path) -> None:
    moved = file.with_name("moved")
    file.rename(moved)
    file.symlink_to(moved)


@pytest.mark.parametrize(
    "change",
    [rewrite, swap_and_restore, replace, write_through_another_name, link_elsewhere, Path.unlink],
)
def test_a_change_is_noticed(tmp_path: Path, change: Callable[[Path], None]) -> None:
    file = tmp_path / "part.parquet"
    file.write_bytes(b"A" * 100)
    marks = FileMarks.of(str(tmp_path), [file.name], STORAGE, shared=True)
    marks.check("silver.t", STORAGE)
    change(file)
    marks.of_files([], STORAGE).check("silver.t", STORAGE)
    with pytest.raises(StagedFilesChanged, match="it was changed after it was staged"):
        marks.check("silver.t", STORAGE)


def test_reading_and_syncing_changes_no_mark(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    file.write_bytes(b"A" * 100)
    marks = FileMarks.of(str(tmp_path), [file.name], STORAGE)
    STORAGE.sha256(str(file))
    STORAGE.make_durable(str(file))
    marks.check("silver.t", STORAGE)


def test_earlier_marks_win(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    file.write_bytes(b"A" * 100)
    early = FileMarks.of(str(tmp_path), [file.name], STORAGE, shared=True)
    rewrite(file)
    marks = early.of_files([file.name], STORAGE)
    with pytest.raises(StagedFilesChanged):
        marks.check("silver.t", STORAGE)


class Remembering(LocalStorage):
    """Calls ``while_syncing`` after each file."""

    def __init__(self, while_syncing: Callable[[], None] = lambda: None) -> None:
        self.synced: list[str] = []
        self.while_syncing = while_syncing

    def sync_content(self, location: str) -> None:
        super().sync_content(location)
        self.synced.append(Path(location).name)
        self.while_syncing()


def mapped(file: Path) -> mmap.mmap:
    """A file whose mapped page is dirty: a store to it is not a fault, and changes no time."""
    file.write_bytes(b"A" * 100)
    with file.open("r+b") as content:
        memory = mmap.mmap(content.fileno(), 0)
    memory[:1] = b"A"
    return memory


def test_a_store_through_an_earlier_mapping_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "part.parquet"
    with mapped(file) as memory:
        marks = FileMarks.of(str(tmp_path), [file.name], STORAGE, shared=True)
        marks.check("silver.t", STORAGE)
        memory[:1] = b"B"
        with pytest.raises(StagedFilesChanged):
            marks.check("silver.t", STORAGE)


def test_a_store_while_files_are_synced_is_noticed(tmp_path: Path) -> None:
    """It makes the page dirty again, so that later stores would not be noticed."""
    file = tmp_path / "part.parquet"
    with mapped(file) as memory:

        def store() -> None:
            memory[:1] = b"B"

        marks = FileMarks.of(str(tmp_path), [file.name], Remembering(store), shared=True)
        with pytest.raises(StagedFilesChanged):
            marks.check("silver.t", STORAGE)


def test_every_shared_file_is_synced_once(tmp_path: Path) -> None:
    names = [f"part-{number}.parquet" for number in range(5)]
    for name in names:
        (tmp_path / name).write_bytes(b"A")
    storage = Remembering()
    early = FileMarks.of(str(tmp_path), names[:3], storage, shared=True)
    assert sorted(storage.synced) == names[:3]
    marks = early.of_files(names, storage)
    assert sorted(storage.synced) == names
    assert marks.synced == frozenset(names)


def test_files_that_nobody_else_has_open_are_not_synced_here(tmp_path: Path) -> None:
    (tmp_path / "part.parquet").write_bytes(b"A")
    storage = Remembering()
    marks = FileMarks(str(tmp_path), {}).of_files(["part.parquet"], storage)
    assert (storage.synced, marks.synced) == ([], frozenset())
