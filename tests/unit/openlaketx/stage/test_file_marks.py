"""A staged file that changes after it was marked is noticed, whatever its size and time."""

from __future__ import annotations

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
    marks = FileMarks.of(str(tmp_path), [file.name], STORAGE, settle=True)
    marks.check("silver.t", STORAGE)
    change(file)
    later = FileMarks.of(str(tmp_path), [], STORAGE).since(marks)
    later.check("silver.t", STORAGE)
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
    early = FileMarks.of(str(tmp_path), [file.name], STORAGE, settle=True)
    rewrite(file)
    marks = FileMarks.of(str(tmp_path), [file.name], STORAGE).since(early)
    with pytest.raises(StagedFilesChanged):
        marks.check("silver.t", STORAGE)
