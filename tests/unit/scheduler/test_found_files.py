"""Which files a glob finds: as the standard library does, but for what is not to be taken."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest

from lakeguard.scheduler.triggers.files import matching_files

FILES = (
    "a.csv",
    "b.txt",
    "landing/a.csv",
    "landing/[b].csv",
    "landing/2026/01/c.csv",
    "landing/2026/02/d.csv",
    "landing/2026/d.csv",
    "other/2026/e.csv",
)
LEFT_ALONE = (
    "landing/_SUCCESS",
    "landing/.a.csv.swp",
    "landing/_temporary/0/part.csv",
    "landing/2026/.staging/part.csv",
    "_inbox/x.csv",
)
PATTERNS = (
    "*.csv",
    "a.csv",
    "nothing.csv",
    "landing/*",
    "landing/*.csv",
    "landing/[[]b].csv",
    "landing/?.csv",
    "landing/**",
    "landing/**/*.csv",
    "landing/**/2026/**/*.csv",
    "landing/**/**/d.csv",
    "**/d.csv",
    "**",
    "*/2026/*.csv",
    "landing/2026/0[1-9]/*",
    "landing/a.csv/*",
    "nowhere/*.csv",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in (*FILES, *LEFT_ALONE):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return tmp_path


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_glob_means_what_it_means_elsewhere(pattern: str, root: Path) -> None:
    everywhere = glob.glob(pattern, root_dir=root, recursive=True)
    assert matching_files(str(root), pattern) == sorted(set(everywhere) & set(FILES))


def test_the_patterns_find_something_and_not_everything(root: Path) -> None:
    found = [matching_files(str(root), pattern) for pattern in PATTERNS]
    assert sum(map(bool, found)) == len(PATTERNS) - 3
    assert found[PATTERNS.index("**")] == sorted(FILES)


def test_a_folder_that_the_glob_names_is_looked_into(root: Path) -> None:
    assert matching_files(str(root), "_inbox/*.csv") == ["_inbox/x.csv"]
    assert matching_files(str(root), "_in*/*.csv") == ["_inbox/x.csv"]
    assert matching_files(str(root), "landing/_SUCCESS") == []
    assert matching_files(str(root), "landing/_*") == []


def test_links_are_not_followed(root: Path) -> None:
    (root / "landing" / "linked.csv").symlink_to(root / "a.csv")
    (root / "landing" / "folder").symlink_to(root / "other")
    (root / "link").symlink_to(root / "other")
    for pattern in ("landing/l*.csv", "landing/linked.csv", "landing/folder/**", "link/2026/e.csv"):
        assert matching_files(str(root), pattern) == []


def test_a_name_that_is_no_text_stops_no_other(root: Path) -> None:
    Path(os.fsdecode(bytes(root / "landing") + b"/\xff.csv")).write_text("x")
    assert matching_files(str(root), "landing/*.csv") == ["landing/[b].csv", "landing/a.csv"]


def test_each_folder_is_listed_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: listed.append(folder) or scandir(folder))
    matching_files(str(root), "landing/**/2026/**/*.csv")
    assert len(listed) == len(set(listed)) == 4
