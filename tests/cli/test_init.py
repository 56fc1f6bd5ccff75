"""``lakeguard init``: a lake with or without an example, both valid, nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.shell import Shell


def test_the_example_is_valid(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--example").code == 0
    result = shell("validate", "--project", folder)
    assert result.code == 0
    assert result.out == "✓ valid  1 source · 3 datasets · 14 rules · 1 policy\n"


def test_a_bare_lake_has_settings_alone(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--json").data["files"] == [".gitignore", "lakeguard.toml"]
    result = shell("status", "--project", folder)
    assert (result.code, result.out.splitlines()[0]) == (0, "no datasets are registered")


def test_every_file_is_listed_and_there(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    data = shell("init", folder, "--json", "--example").data
    there = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert data["files"] == there
    assert ".gitignore" in there
    assert data["next"][0] == f"cd {folder}"


def test_an_empty_folder_may_be_filled(shell: Shell, tmp_path: Path) -> None:
    assert shell("init", tmp_path).code == 0


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_is_there_is_never_touched(shell: Shell, tmp_path: Path, what: str) -> None:
    place = tmp_path / "lake"
    if what == "folder":
        place.mkdir()
        (place / "mine.txt").write_text("mine")
    else:
        place.write_text("mine")
    result = shell("init", place)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("LG-1009")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] in (["mine.txt"], ["lake"])


def test_the_next_commands_exist(shell: Shell, tmp_path: Path) -> None:
    for folder, options in (("bare", ()), ("example", ("--example",))):
        for command in shell("init", tmp_path / folder, "--json", *options).data["next"][1:]:
            program, name, *_ = command.split()
            assert program == "lakeguard"
            assert shell(name, "--help").code == 0
