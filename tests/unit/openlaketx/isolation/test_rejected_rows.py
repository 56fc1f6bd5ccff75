"""Rows that did not fit their type are counted in regular files of their folder only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.storage.run_folders import quarantine_place
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.isolation.remote_builder import rejected_rows
from tests.support.lakes.plans import csv, plan, schema


def linked_file(folder: Path, elsewhere: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "part-0.json").symlink_to(elsewhere / "rows.json")


def linked_folder(folder: Path, elsewhere: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.symlink_to(elsewhere)


def broken_link(folder: Path, elsewhere: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.symlink_to(elsewhere / "missing")


def folder_inside(folder: Path, elsewhere: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "more").symlink_to(elsewhere)


def test_lines_of_files_are_counted(tmp_path: Path) -> None:
    made = plan(tmp_path, csv("in/*.csv"), schema(a="long"))
    assert rejected_rows(made, str(tmp_path), LocalStorage()) == 0
    folder = Path(quarantine_place(str(tmp_path), made.dataset, made.ticket.run_id))
    folder.mkdir(parents=True)
    (folder / "part-0.json").write_text("{}\n{}\n")
    (folder / "_SUCCESS").touch()
    assert rejected_rows(made, str(tmp_path), LocalStorage()) == 2


@pytest.mark.parametrize("change", [linked_file, linked_folder, broken_link, folder_inside])
def test_links_fail_the_run(tmp_path: Path, change: Callable[[Path, Path], None]) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "rows.json").write_text("{}\n")
    made = plan(tmp_path, csv("in/*.csv"), schema(a="long"))
    change(Path(quarantine_place(str(tmp_path), made.dataset, made.ticket.run_id)), elsewhere)
    with pytest.raises(StagingFailed, match="neither a regular file nor a folder"):
        rejected_rows(made, str(tmp_path), LocalStorage())
